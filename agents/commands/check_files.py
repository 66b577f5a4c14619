"""``othello-lab agents check file COMMAND``: hold a program to the file protocol."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from omegaconf import OmegaConf
from rich.console import Console

from othello_lab.agents.commands.check_engine import BROKEN, HOLDS, print_engine_finding
from othello_lab.agents.config import ConfigError, build
from othello_lab.agents.external.check_files import FileCheck
from othello_lab.agents.external.checking import FAILED, EngineFinding
from othello_lab.core.system.escaping import plain

FILE = "file"
"""The target that means this check."""


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, then the verdict; raises ConfigError or ValueError.

    Returns the exit code.
    """
    if not options.settings:
        raise ConfigError(f'{FILE}: a command is needed, as in {FILE} "java Bert"')
    command, *words = options.settings
    typed: Any = OmegaConf.to_container(OmegaConf.from_dotlist(words))
    target = f"{FileCheck.__module__}.{FileCheck.__name__}"
    check: FileCheck = build(typed | {"_target_": target, "command": command}, FILE, FileCheck)
    failed = []
    for told in check.run():
        if isinstance(told, EngineFinding):
            print_engine_finding(told, False, console)
            if told.outcome == FAILED:
                failed.append(told.name)
        elif not failed:
            console.print(
                plain(
                    f"{command} keeps to the file protocol; its slowest move took {told:.2f} s of "
                    f"{check.limit:g}"
                ),
                soft_wrap=True,
            )
    if failed:
        console.print(plain(f"{command} fails {len(failed)}: {', '.join(failed)}"), soft_wrap=True)
    return BROKEN if failed else HOLDS
