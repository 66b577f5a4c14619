"""Text that the lab did not write itself (names of agents, files, output), made fit to be shown: it
is read as it is, and does nothing else. And numbers of things in words.

Every medium has one place for that: :func:`plain` for the terminal,
``experiments.report.figures.drawing.drawn`` for figures, ``experiments.report.markdown.escaped``
for reports. All of them begin with :func:`visible`.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence
from functools import cache

from rich.text import Text


def visible(text: object, keep: str = "") -> str:
    r"""A text in which characters that are not seen, but do something, are written as escapes:
    control characters (ESC, line ends), marks of direction, halves of characters.

    keep: characters to leave alone, such as the line ends of a text of several lines.

    >>> print(visible("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(letter if letter in keep else _seen(letter) for letter in text)


@cache
def _seen(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode()


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "opening"), counted(1200, "opening")
    ('1 opening', '1,200 openings')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


NARROW = "narrow"
"""Says what to do with characters that an output cannot show (``errors`` of a text file): the lab's
own signs are written in plainer ones, all others as escapes."""
_PLAINER = {"\N{NO-BREAK SPACE}": " ", "µ": "u", "\N{MINUS SIGN}": "-", "±": "~", "…": "."}


def _narrow(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    plainer = (_PLAINER.get(letter) or letter.encode("unicode_escape").decode() for letter in lost)
    return "".join(plainer), error.end


codecs.register_error(NARROW, _narrow)


def plain(text: object, style: str = "", keep: str = "") -> Text:
    """A text for rich's consoles and tables: no markup is read in it, no emoji, no control code but
    those to keep."""
    return Text(visible(text, keep), style)
