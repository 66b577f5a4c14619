"""How the lab refuses: in one line that names the bad part."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest

from othello_lab.__main__ import main


def unannounced(text: str) -> str:
    """Return what was printed without the lines of the compiler: whoever comes first has to wait
    for it."""
    lines = text.splitlines(keepends=True)
    return "".join(
        line
        for line in lines
        if not line.startswith("compiled ") and "for this machine" not in line
    )


@contextmanager
def refused(*words: str, error: type[Exception] = ValueError) -> Iterator[None]:
    """Expect an error of one line that has all these words."""
    with pytest.raises(error) as refusal:
        yield
    message = str(refusal.value)
    assert "\n" not in message and "object at 0x" not in message
    assert all(word in message for word in words), (message, words)


def ended(
    words: Sequence[object], main: Callable[[Sequence[str]], int] = main
) -> tuple[object, str, str]:
    """Run a command in this process; return its exit code, and what it prints and complains of."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = main([str(word) for word in words])
        except SystemExit as end:  # by the parser of a command
            code = end.code
    return code, unannounced(out.getvalue()), unannounced(err.getvalue())


def refuses(words: Sequence[str], *named: str, main: Callable[[Sequence[str]], int] = main) -> None:
    """Check that a command ends with exit code 2 and one line with these words in this order."""
    code, out, err = ended(words, main)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert re.search(".*".join(map(re.escape, named)), err), (err, named)
