"""Code from outside the lab that a sweep's folder names: in its own file, and in the records of
combinations that are to be gone on with."""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.experiments.config import built_from, settings_of, typed
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.sweep.composing import is_hydras
from othello_lab.experiments.sweep.folder import State, Sweep


def foreign_in(asked: Sweep) -> list[str]:
    """Return the code from outside the lab that a sweep would run, a line each; see
    :func:`experiments.playing.trust.foreign_code`. Raises ConfigError."""
    return list(dict.fromkeys(_foreign_in(asked)))


def _foreign_in(asked: Sweep) -> Iterator[str]:
    for folder in asked.extra_folders:
        yield f"--config-dir={folder}: its YAMLs may name any code"
    strange = [word for settings in asked.known for word in settings if _is_strange(word)]
    for word in strange:
        yield f"{word}: may name any code"
    if not strange:
        for settings in asked.known:
            yield from foreign_code(built_from(settings_of(settings, asked.extra_folders)), {})
    for each in asked.combinations():
        if each.state is State.STOPPED:
            with reading(each.folder) as record:
                head = record.run()
            yield from foreign_code(built_from(typed(head["config"])), head["versions"])


def _is_strange(word: str) -> bool:
    """Return True if a setting could bring in code that composing without it does not show."""
    key, _, value = word.lstrip("+~").partition("=")
    chooses_file = "." not in key.partition("@")[0]
    return is_hydras(word) or (chooses_file and ".." in value)
