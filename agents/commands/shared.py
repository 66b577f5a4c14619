"""Helpers that several commands of ``othello-lab agents`` share."""

from __future__ import annotations

import inspect
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from othello_lab.agents.checking import FAILED, NOT_ASKED, OK, Finding, ProgramFinding
from othello_lab.agents.composing import FILLED_BY_RUN, NEEDS_A_TARGET, OPEN, choices, load
from othello_lab.agents.config import build, evaluation_settings, load_evaluation
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.loading import resolve, without_name
from othello_lab.agents.recognition import DOUBTFUL, EVALUATION, EVALUATION_CLASS, STRATEGY
from othello_lab.agents.sides import described, settings_of_function
from othello_lab.core.system.cli import seconds
from othello_lab.core.system.escaping import plain, visible
from othello_lab.core.system.settings import ConfigError

HOLDS, BROKEN = 0, 1
"""Exit codes of checks."""
_STYLES = {OK: "green", FAILED: "bold red", NOT_ASKED: "dim"}


def print_finding(finding: Finding, console: Console, text_of: Callable[[Any], str] = str) -> None:
    """Print the finding of a check. text_of: returns its lines."""
    text = plain(text_of(finding), keep="\n")
    text.highlight_words([finding.outcome], _STYLES[finding.outcome])
    # On a terminal words wrap, numbers do not break.
    console.print(text, soft_wrap=text_of is not str or not console.is_terminal)


def report(
    findings: Iterable[Finding],
    console: Console,
    name: str,
    right: str,
    wrong: str = "fails {}: {}",
    text_of: Callable[[Any], str] = ProgramFinding.text,
    failed_last: bool = True,
) -> int:
    """Print each finding at once, then the verdict, and return the exit code.

    name: of what was checked. right, wrong: the verdicts; ``{}`` are the last finding's remark, and
    the number and the names of the failed checks. text_of: returns the lines of a finding.
    failed_last: True to print the failed ones last.
    """
    failed, remark = [], ""
    try:
        for finding in findings:
            remark = finding.detail
            if finding.outcome == FAILED:
                failed.append(finding)
            if finding.outcome != FAILED or not failed_last:
                print_finding(finding, console, text_of)
    finally:
        for finding in failed if failed_last else ():
            print_finding(finding, console, text_of)
    names = ", ".join(finding.name for finding in failed)
    verdict = wrong.format(len(failed), names) if failed else right.format(remark)
    console.print(plain(f"{name} {verdict}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def build_settings(kind: type, words: Sequence[str], where: str, **given: Any) -> Any:
    """Build a dataclass of settings from the words typed as key=value; raises ConfigError.

    where: its name in messages. given: further settings.
    """
    from omegaconf import OmegaConf

    typed: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(words)))
    target = f"{kind.__module__}.{kind.__name__}"
    return build(typed | given | {"_target_": target}, where, kind)


def announce(line: str) -> None:
    """Print a line about compiling on the error stream, so that results stay clean."""
    print(visible(line), file=sys.stderr)


def add_config_dir(parser: ArgumentParser, use: str) -> None:
    """Declare the option ``--config-dir``; its value is a list of no or one folder."""
    words = f"also {use} the YAMLs in DIR, a folder of your own"
    parser.add_argument("--config-dir", nargs=1, default=[], metavar="DIR", help=words)


def add_seconds(parser: Any, option: str, default: float, use: str) -> None:
    """Declare an option whose value is a number of seconds."""
    about = f"{use} (default {default:g})"
    parser.add_argument(option, type=seconds, default=default, metavar="SECONDS", help=about)


def empty_table(*headings: str, left: Collection[str] = ()) -> Table:
    """Return a table for the terminal, without rows.

    left: headings of columns of text; the other columns hold numbers.
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(plain(heading), justify="left" if heading in left else "right")
    return table


def chosen_evaluations(name: str, side: int, folders: Sequence[str]) -> dict[str, Evaluation]:
    """Return the evaluation of this name, or with ``all`` each one for a board of this size.

    folders: further folders of YAMLs. Raises ConfigError.
    """
    if name == "all":
        names = [known for known in choices("evaluation", folders) if known != NEEDS_A_TARGET]
        evaluations = {known: load_evaluation(known, folders) for known in names}
        return {known: made for known, made in evaluations.items() if side in made.sides}
    evaluation = load_evaluation(name, folders)
    if side not in evaluation.sides:
        raise ConfigError(f"evaluation {name} is not made for a board of {side}x{side}")
    return {name: evaluation}


def parameters_of(target: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class; none if the class cannot be found.

    Building it will report the error.
    """
    try:
        return inspect.signature(resolve(target)).parameters
    except Exception:
        return {}


def typed_agent(target: str, words: Sequence[str], folders: Sequence[str]) -> dict[str, Any]:
    """Return the settings of the agent ``target``, with the words typed as key=value.

    A required depth or evaluation without a value is ``???``. Raises ConfigError.
    """
    from omegaconf import OmegaConf

    for word in words:
        if "=" not in word or word.startswith("="):
            raise ConfigError(f"cannot read '{word}': settings are written key=value")
    if target.endswith(".py"):
        raise ConfigError(without_name(target, "agent"))
    told: dict[str, Any] = {}
    with suppress(ConfigError):  # building the agent will report the error
        told = described(target) if ".py:" in target else {}
    kind = told.get("kind")
    if kind in (STRATEGY, DOUBTFUL, EVALUATION) and words and not words[0].startswith("reprod"):
        raise ConfigError(f"{words[0]}: a function has no settings")
    if kind in (EVALUATION, EVALUATION_CLASS):
        raise ConfigError(f"{target} is an evaluation; an agent is needed")
    settings = settings_of_function(told) or (
        {"_target_": target} if "." in target else load("agent", target, folders)
    )
    for name in [word for word in words if re.match(r"evaluation=[^{]", word)]:
        settings["evaluation"] = evaluation_settings(name.partition("=")[2])
        words = [word for word in words if word != name]
    typed: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(words)))
    parameters = parameters_of(settings.get("_target_", ""))
    for key in FILLED_BY_RUN:
        if key in parameters and parameters[key].default is inspect.Parameter.empty:
            settings.setdefault(key, OPEN)
    merged: Any = OmegaConf.to_container(OmegaConf.merge(settings, typed))
    return {str(key): value for key, value in merged.items()}
