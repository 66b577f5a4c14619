"""How the lab refuses: in one line that names the bad part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest


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


def refuses(
    main: Callable[[Sequence[str]], int],
    words: Sequence[str],
    capsys: pytest.CaptureFixture[str],
    *named: str,
) -> None:
    """Check that a command ends with exit code 2 and one line with these words in this order."""
    capsys.readouterr()
    try:
        code: object = main(words)
    except SystemExit as end:
        code = end.code
    out, err = map(unannounced, capsys.readouterr())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert re.search(".*".join(map(re.escape, named)), err), (err, named)
