"""Text from outside the lab, made fit to be stored."""

from __future__ import annotations


def storable(text: str) -> str:
    r"""A text that any file and database can hold: halves of characters, as names of files in other
    encodings have them, are written as escapes.

    >>> print(storable("caf\udce9"))
    caf\udce9
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
