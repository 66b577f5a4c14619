"""Input and output of a session: a terminal, or a pipe."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from othello_lab.core.system.escaping import visible
from othello_lab.play.config import ASCII, AUTO

WIDTH = 80
"""Columns where the output is no terminal that would tell its own."""
_LONGEST = 1000  # characters of a line of input that are looked at


class Screen:
    """Prints, and asks. With a terminal at both ends there is line editing with history, and long
    texts come page by page; in a pipe the lines that are read are repeated in the output."""

    def __init__(self, board: str = AUTO) -> None:
        self.console = Console(highlight=False, markup=False, emoji=False)
        if not self.console.is_terminal:
            self.console = Console(highlight=False, markup=False, emoji=False, width=WIDTH)
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
        self.unicode = "utf" in encoding if board == AUTO else board != ASCII
        self.colours = self.console.is_terminal and not self.console.no_color
        if self.interactive:
            import readline  # which input() then uses

            readline.set_history_length(1000)
        elif hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")

    def say(self, text: str = "", style: str = "") -> None:
        """Print a line, wrapped where it is too long, but within no word: a path stays whole."""
        lines = textwrap.wrap(
            visible(text), self.console.width, break_long_words=False, break_on_hyphens=False
        )
        self.show(Text(line, style) for line in lines or [""])

    def show(self, lines: Iterable[Text]) -> None:
        """Print lines as they are."""
        for line in lines:
            self.console.print(line, soft_wrap=True)

    def ask(self, prompt: str) -> str:
        """The next line of input, without blanks around it; EOFError where there is none."""
        if self.interactive:
            return input(prompt)[:_LONGEST].strip()
        sys.stdout.flush()
        line = sys.stdin.readline(_LONGEST)
        if not line:
            raise EOFError
        self.say(f"{prompt}{line.strip()}")
        return line.strip()

    def page(self, lines: Iterable[str]) -> None:
        """Print many lines; in a terminal page by page."""
        height = max(3, self.console.size.height - 2)
        for number, line in enumerate(lines, start=1):
            self.console.print(Text(line), soft_wrap=True)
            if self.interactive and number % height == 0:
                try:
                    answer = input("-- Enter: more, q: no more -- ")
                except EOFError:
                    return
                if answer.strip().lower().startswith("q"):
                    return
