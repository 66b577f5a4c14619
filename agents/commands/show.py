"""``othello-lab agents show``: descriptions of agents, levels and evaluations, with their Elo."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, replace
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from othello_lab.agents.commands.shared import add_config_dir
from othello_lab.agents.composing import OPEN, choices, compose, load, unknown
from othello_lab.agents.config import build, fill_open
from othello_lab.agents.evaluation import Composite
from othello_lab.agents.evaluation.catalogue import FEATURES
from othello_lab.agents.ladder import Rung, ladder
from othello_lab.agents.learned.weights import ABOUT, SHIPPED
from othello_lab.agents.loading import resolve
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import Meanings, as_written, documented, paragraphs, summary

_GROUPS = {
    "agent": "An agent: `agent@first={}` in a duel, `white={}` at the board.",
    "level": "A level for people: `white={}` at the board.",
    "evaluation": "An evaluation: `evaluation={}`.",
}
_RAISES = re.compile(r"\s*\bRaises \w+Error .*$")
_ELSEWHERE = ("evaluation", "agent", "compiled")  # settings that have parts of their own, or none


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "show",
        help="what an agent, level or evaluation is, and its Elo",
        description="Describe an agent, a level or an evaluation: its class, its terms with their "
        "ranges, its settings, its source, and its Elo. Without NAME print the ladder: all levels "
        "and all agents of line-ups with their Elo.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="see agents list; or LINEUP.NAME, as on the ladder"
    )
    add_config_dir(parser, "show")
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> None:
    """Print the description; raises ConfigError."""
    text = description(options.name, options.config_dir) if options.name else ladder_text()
    console.print(Markdown(visible(text, keep="\n")))


def described_names(folders: Sequence[str] = ()) -> list[str]:
    """Return the names in ``conf/`` that can be described."""
    return sorted({name for group in _GROUPS for name in choices(group, folders)})


def description(name: str, folders: Sequence[str] = ()) -> str:
    """Return a page on an agent, level or evaluation of ``conf/``, or LINEUP.NAME, as Markdown.

    Raises ConfigError.
    """
    parts = [f"# {name}"]
    groups = [group for group in _GROUPS if name in choices(group, folders)]
    line_up, _, player = name.partition(".")
    if groups:
        parts += [f"{choices(group, folders)[name]}." for group in groups[:1]]
        parts += [_GROUPS[group].format(name, name) for group in groups]
        settings = load(groups[0], name, folders)
    elif player and line_up in choices("agents", folders):
        config = compose("run", [f"agents={line_up}"], folders)
        agents = _plain(config.agents)
        if player not in agents:
            raise unknown(f"agent of {line_up}", player, agents)
        filled = {key: _plain(config[key]) for key in ("depth", "evaluation")}
        settings = fill_open({player: agents[player]}, **filled)[0][player]
        parts.append(f"An agent of the line-up `agents={line_up}`.")
    else:
        raise unknown("agent, level or evaluation", name, described_names(folders))
    if groups[:1] == ["evaluation"]:
        parts += _evaluation(settings)
    else:
        parts += _agent(settings, folders)
    parts += _place(name)
    return "\n\n".join(parts) + "\n"


def _plain(node: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(node) if OmegaConf.is_config(node) else node


def _agent(settings: Mapping[str, Any], folders: Sequence[str]) -> Iterator[str]:
    """Yield the parts on an agent, and on the agent inside it."""
    kind = resolve(settings["_target_"])
    yield f"## {kind.__name__}"
    yield from _class(kind, settings)
    if isinstance(inner := settings.get("agent"), Mapping):
        yield from _agent(inner, folders)
    evaluation = settings.get("evaluation")
    if isinstance(evaluation, Mapping):
        name = next((n for n in choices("evaluation") if load("evaluation", n) == evaluation), "")
        yield f"## Evaluation {name}".rstrip()
        if name:
            yield f"{choices('evaluation')[name]}."
        yield from _evaluation(evaluation)
    elif evaluation == OPEN:
        yield "Its evaluation is open: `evaluation=NAME`, see `othello-lab agents list`."


def _evaluation(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield formula, range, source and reason of an evaluation, its terms and its training."""
    kind = resolve(settings["_target_"])
    yield from _class(kind, settings)
    if kind is Composite:
        yield from _terms(build(settings, "evaluation", Composite))
    weights = settings.get("weights")
    if isinstance(weights, str) and (path := SHIPPED / f"{weights}{ABOUT}").is_file():
        about = read_yaml(path)
        yield f"Learned by `{about['command']}` on {about['made'][:10]}."


def _terms(composite: Composite) -> Iterator[str]:
    """Yield a list of the terms: range, weights by stage, meaning."""
    stages = ", ".join(f"{low} to {high}" for low, high in composite.ranges)
    yield f"Terms, each with its range and its weight at {stages} empty squares:"
    lines = []
    for name, feature in composite.features.items():
        largest = FEATURES.declared[name][1].largest
        weights = ", ".join(f"{stage.get(name, 0):g}" for stage in composite.stages)
        about = _first_sentence(summary(type(feature)))
        lines.append(f"- `{name}`, {-largest} to {largest}, weight {weights}. {about}.")
    yield "\n".join(lines)


def _first_sentence(text: str) -> str:
    return next(iter(paragraphs(text)), "").partition(". ")[0].rstrip(".")


def _class(kind: type, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a class's description, a list of the settings that differ from their defaults, and the
    others in a line."""
    yield from filter(None, (_RAISES.sub("", part) for part in paragraphs(summary(kind))))
    yield f"Class `{kind.__module__}.{kind.__qualname__}`."
    lines, usual = [], []
    for name, setting in documented(kind).items():
        value = values.get(name, setting.default)
        if name in _ELSEWHERE or kind is Composite:  # its weights are terms
            continue
        if value == setting.default:
            usual.append(f"`{name}={as_written(value)}`")
            continue
        about = _first_sentence(setting.text)
        if (meanings := setting.note(Meanings)) is not None:
            about = "; then ".join(meanings(value).values())
        written = "to be given" if value in (OPEN, MISSING) else f"`{as_written(value):.60}`"
        lines.append(f"- `{name}`: {written}. {about}.")
    if lines:
        yield "\n".join(lines)
    if usual:
        yield f"Settings at their defaults: {', '.join(usual)}."


# ---------------------------------------------------------------------- the ladder


def _place(name: str) -> Iterator[str]:
    """Yield the rows of the ladder that play an agent, level or evaluation. Agents with equal
    settings share a row."""
    rungs = ladder()
    rows: dict[Rung, list[str]] = {}
    for rung in reversed(rungs):
        if name in (rung.name, rung.agent, rung.evaluation):
            rows.setdefault(replace(rung, name=""), []).append(f"`{rung.name}`")
    yield "## On the ladder"
    yield (
        "\n".join(
            f"- {', '.join(names)}: {rung.elo} {rung.interval}{_between(rung, rungs)}"
            for rung, names in rows.items()
        )
        or "No line-up plays it without a limit; `othello-lab match NAME LEVEL` measures it."
    )


def _between(rung: Rung, rungs: Sequence[Rung]) -> str:
    """Return the levels above and below an agent, in words."""
    levels = [each for each in rungs if not each.agent]
    below = [f"above {each.name} ({each.elo})" for each in levels if each.elo <= rung.elo][-1:]
    above = [f"below {each.name} ({each.elo})" for each in levels if each.elo > rung.elo][:1]
    return f", {', '.join(below + above)}" if rung.agent else " (level)"


def ladder_text() -> str:
    """Return the ladder, the strongest first, as Markdown."""
    lines = [
        "The Elo of the ten levels (bold) and of the agents of all line-ups; random moves have 0. "
        "100 points more mean a score of 64 %. `othello-lab play levels --measure` plays for it.",
        "",
        "| Elo | 95 % | agent | its agent and evaluation in `conf/`, or its way to play |",
        "|---:|---|---|---|",
    ]
    for rung in reversed(ladder()):
        about = rung.about or " ".join(f"`{n}`" for n in (rung.agent, rung.evaluation) if n)
        name = f"`{rung.name}`" if rung.agent else f"**{rung.name}**"
        lines.append(f"| {rung.elo} | {rung.interval} | {name} | {about} |")
    return "\n".join(lines) + "\n"
