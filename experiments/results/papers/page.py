"""The page: a paper on each player, in Markdown, with a figure for each line-up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import ConfigError, choices, one_line
from othello_lab.core.system.settings import summary
from othello_lab.experiments.record.folder import write_safely
from othello_lab.experiments.report.markdown import Markdown, escaped, rendered
from othello_lab.experiments.report.tables import COLUMNS, RATING
from othello_lab.experiments.results.papers.descriptions import (
    AgentDescription,
    EvaluationDescription,
    EvaluationDescriptions,
    Technique,
    first_sentence,
    how_it_searches,
    portraits,
    time_rule,
)
from othello_lab.experiments.results.papers.evidence import (
    ErrorsEvidence,
    Evidence,
    RunEvidence,
    named,
)
from othello_lab.experiments.results.papers.evidence_builder import PageContent
from othello_lab.experiments.results.papers.remarks import Remark, mean_of, said_of
from othello_lab.experiments.studies.record import STUDY

_Test = TypeVar("_Test", bound=Evidence)
_TESTED = ("games", RATING, "score %", "discs", "nodes/move", "time/move", "95 % within")
"""Columns of standings that a paper has of each run."""
_DOTS = 110  # an inch: pages have many pictures
EVALUATION, SEARCH, LINE_UP = "Evaluation", "Search", "Line-up"
"""What headings begin with that are not players' names, which they may be, too."""
_OVERVIEW = (RATING, "score %", "nodes/move", "time/move")


def anchor(title: str) -> str:
    """Return the name of a heading in a link."""
    return re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-")


def linked(name: str, title: str) -> Markdown:
    """A link to a heading of this page."""
    return Markdown(f"[{name}](#{anchor(title)})")


def judged_by(judgement: EvaluationDescription | None) -> Markdown:
    """An evaluation in a sentence."""
    if judgement is None:
        return Markdown("None; its search does without.")
    about = f": {judgement.about}" if judgement.about else ""
    return Markdown(f"{linked(judgement.name, f'{EVALUATION} {judgement.name}')}{about}.")


def found_by(kind: type[Agent]) -> Markdown:
    """Return a sentence on a class's way of finding moves."""
    told = first_sentence(summary(kind)) or "its class does not say how it chooses"
    return Markdown(f"{linked(kind.__name__, f'{SEARCH} {kind.__name__}')}: {told}.")


@dataclass(frozen=True, eq=False)
class SharedSettings:
    """Settings that all players of a line-up have; None, or nothing, if they differ. judged: True
    if their evaluations are alike, or they have none."""

    judged: bool = False
    judgement: EvaluationDescription | None = None
    kind: type[Agent] | None = None
    techniques: Sequence[Technique] = ()

    @classmethod
    def of(cls, line_up: Sequence[AgentDescription]) -> SharedSettings:
        """Return the settings that several players share; none for one player."""
        if len(line_up) < 2:
            return cls()
        first = line_up[0]
        judged = {each.judgement.name if each.judgement else "" for each in line_up}
        return cls(
            len(judged) == 1,
            first.judgement if len(judged) == 1 else None,
            first.kind if len({each.kind for each in line_up}) == 1 else None,
            [t for t in first.techniques if all(t in each.techniques for each in line_up)],
        )


@dataclass(frozen=True, eq=False)
class Paper:
    """The paper on one player. evidence: the tests it took part in, each with its name there.
    shared: settings that all of its line-up have, described once."""

    portrait: AgentDescription
    heading: str
    evidence: Sequence[tuple[Evidence, str]]
    shared: SharedSettings

    @cached_property
    def said(self) -> list[Remark]:
        return [said for each, name in self.evidence for said in said_of(name, each)]

    def sentences(self, good: bool | None) -> list[Markdown]:
        """Return strengths (True), weaknesses (False), or other remarks (None)."""
        return [_plain(said.text) for said in self.said if said.good is good]

    @property
    def evaluation(self) -> Markdown | None:
        """Its static evaluation in a sentence, unless all of its line-up have the same."""
        return None if self.shared.judged else judged_by(self.portrait.judgement)

    @property
    def search(self) -> Markdown | None:
        """Its way of finding a move, in a sentence, unless all of its line-up do the same."""
        limits = self.portrait.limits
        within = [f"It keeps within {limits} a move."] if limits else []
        told = [] if self.shared.kind is not None else [found_by(self.portrait.kind)]
        return Markdown(" ".join([*told, *within])) if told or within else None

    @property
    def techniques(self) -> dict[str, list[Markdown]]:
        """Techniques of this player that not every player of its line-up uses, grouped by
        purpose."""
        return _by_purpose([t for t in self.portrait.techniques if t not in self.shared.techniques])

    @property
    def tests(self) -> tuple[list[str], list[list[str]]] | None:
        """The table of its runs."""
        rows = []
        for run, name in self.evidence:
            if isinstance(run, RunEvidence):
                row = next(r for r in run.standings.itertuples() if r.agent == name)
                place = f"{run.places[name]} of {len(run.standings)}"
                place = place if name in run.comparable else "-"
                cells = [COLUMNS[column](row) for column in _TESTED]
                rows.append([run.name, place, *cells])
        return (["run", "place", *_TESTED], rows) if rows else None

    @property
    def scores(self) -> list[Markdown]:
        """Its score against each opponent, a line a run."""
        told = []
        for run, name in self.evidence:
            if isinstance(run, RunEvidence) and (met := run.against(name)):
                parts = (f"{each['opponent']} {100 * each['score']:.1f}" for each in met)
                told.append(_plain(f"Score in {run.name}, in %, against {', '.join(parts)}."))
        return told


@dataclass(frozen=True, eq=False)
class LineUpSection:
    """A line-up. papers: of players that no earlier one has. shared: settings that all of them
    have. run, errors: the tests with the most of these players together."""

    name: str
    about: str
    papers: Sequence[Paper]
    shared: SharedSettings
    figure: str = ""
    caption: str = ""
    run: RunEvidence | None = None
    errors: ErrorsEvidence | None = None

    @property
    def evaluation(self) -> Markdown | None:
        """The evaluation that all of them have, in a sentence."""
        return judged_by(self.shared.judgement) if self.shared.judged else None

    @property
    def search(self) -> Markdown | None:
        """The way in which all of them find a move, in a sentence."""
        return found_by(self.shared.kind) if self.shared.kind else None

    @property
    def techniques(self) -> dict[str, list[Markdown]]:
        """Techniques that all of them use."""
        return _by_purpose(self.shared.techniques)

    @property
    def overview(self) -> tuple[list[str], list[list[object]]]:
        """The table of its players, the best first: their evaluations, and their test results in
        short."""
        heads = ["player", "evaluation", "search"]
        heads += _OVERVIEW if self.run else ()
        heads += ["discs lost near the end"] if self.errors else []
        papers = list(self.papers)
        if (run := self.run) is not None:
            order = run.standings["agent"].tolist()
            papers.sort(key=lambda paper: order.index(paper.portrait.named_in(run.agents)))
        return heads, [self._row(paper) for paper in papers]

    def _row(self, paper: Paper) -> list[object]:
        portrait = paper.portrait
        judged = portrait.judgement
        row: list[object] = [
            linked(portrait.name, paper.heading),
            linked(judged.name, f"{EVALUATION} {judged.name}") if judged else "none",
            linked(portrait.kind.__name__, f"{SEARCH} {portrait.kind.__name__}"),
        ]
        if self.run:
            name = portrait.named_in(self.run.agents)
            found = [r for r in self.run.standings.itertuples() if r.agent == name]
            row += [COLUMNS[column](found[0]) if found else "-" for column in _OVERVIEW]
        if self.errors:
            name = portrait.named_in(self.errors.agents)
            lost = self.errors.whole[self.errors.whole["agent"] == name]
            row.append(mean_of(lost.iloc[0], "loss") if len(lost) else "-")
        return row


def _by_purpose(techniques: Sequence[Technique]) -> dict[str, list[Markdown]]:
    found: dict[str, list[Markdown]] = {}
    for each in techniques:
        heading = each.purpose.value.capitalize() if each.purpose else "Besides"
        found.setdefault(heading, []).append(Markdown(f"`{each.setting}`: {each.does}."))
    return found


def _plain(text: str) -> Markdown:
    """Return a sentence of the lab with names of agents in it, with Markdown's signs escaped."""
    return Markdown(escaped(text))


# ---------------------------------------------------------------------- making it


@dataclass(frozen=True)
class LineUp:
    """A line-up of a page. about: its first comment. players: none of earlier line-ups."""

    name: str
    about: str
    players: Sequence[AgentDescription]


def line_ups_of(
    page: PageContent, extra: Sequence[str], folders: Sequence[str] = ()
) -> list[LineUp]:
    """All line-ups of a page; ConfigError. extra: settings of runs that come after its own."""
    judgements, about = EvaluationDescriptions(folders), choices("agents", folders)
    extra = [word for word in extra if not word.startswith(f"{STUDY.group}.")]
    told: list[AgentDescription] = []
    made = []
    for name in page.lineups:
        line_up = portraits([*page.overrides(name), *extra], judgements, folders)
        made.append(LineUp(name, about[name], [p for p in line_up if not p.is_in(told)]))
        told += made[-1].players
    return made


def sections_of(line_ups: Sequence[LineUp], evidence: Sequence[Evidence]) -> list[LineUpSection]:
    """Return the line-ups with the test results of their players."""
    anchors: set[str] = set()
    made = []
    for name, about, new in ((each.name, each.about, each.players) for each in line_ups):
        shared = SharedSettings.of(new)
        papers = []
        for portrait in new:
            heading = portrait.name
            if anchor(heading) in anchors:
                heading = f"{heading} ({name})"
            anchors.add(anchor(heading))
            papers.append(Paper(portrait, heading, _evidence_of(portrait, evidence), shared))
        of_all: dict[str, Any] = {
            "run": _closest(new, named(evidence, RunEvidence)),
            "errors": _closest(new, named(evidence, ErrorsEvidence)),
        }
        made.append(LineUpSection(name, about, papers, shared, **of_all))
    return made


def _evidence_of(
    portrait: AgentDescription, evidence: Sequence[Evidence]
) -> list[tuple[Evidence, str]]:
    return [(e, name) for e in evidence if (name := portrait.named_in(e.agents)) is not None]


def _closest(line_up: Sequence[AgentDescription], evidence: Iterable[_Test]) -> _Test | None:
    """The test that all of these players took part in with the fewest others; the latest of these.
    None for none."""
    whole = [e for e in evidence if line_up and all(p.named_in(e.agents) for p in line_up)]
    return min(reversed(whole), key=lambda each: len(each.agents), default=None)


def figures_of(sections: Sequence[LineUpSection]) -> Iterator[tuple[int, str, str, Any]]:
    """For each line-up with a study of errors its number, the name of the figure, a caption, and
    the figure."""
    from othello_lab.experiments.results.papers.figures import loss_chart

    for number, section in enumerate(sections):
        study = section.errors
        if study is None or study.bands["band"].nunique() < 2 or len(study.comparable) < 2:
            continue
        caption = (
            "Discs lost a move against perfect play, by how many squares were empty; the player "
            f"that loses least in all first. {study.what}."
        )
        yield number, f"players_{section.name}", caption, loss_chart(study.bands)


def judgements_of(sections: Sequence[LineUpSection]) -> list[EvaluationDescription]:
    """The evaluations of all players, each once."""
    found: dict[str, EvaluationDescription] = {}
    for section in sections:
        for paper in section.papers:
            if (judgement := paper.portrait.judgement) is not None:
                found.setdefault(judgement.name, judgement)
    return list(found.values())


def searches_of(sections: Sequence[LineUpSection]) -> dict[str, list[Markdown]]:
    """Return the ways of choosing a move of all players' classes, each once."""
    kinds = {paper.portrait.kind: None for section in sections for paper in section.papers}
    return {kind.__name__: list(map(Markdown, how_it_searches(kind))) for kind in kinds}


def write_page(
    path: Path,
    sections: Sequence[LineUpSection],
    evidence: Sequence[Evidence],
    command: str,
    date: str,
    figures: bool,
) -> None:
    """Write the page, and its figures in the same folder; ConfigError if that is impossible."""
    shown = list(sections)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if figures:
            from othello_lab.experiments.report.figures.drawing import save_png

            for number, name, caption, chart in figures_of(sections):
                save_png(chart, path.parent / f"{name}.png", _DOTS)
                shown[number] = _with_figure(shown[number], name, caption)
        text = rendered(
            "players",
            sections=shown,
            judgements=judgements_of(sections),
            searches=searches_of(sections),
            time_rule=Markdown(time_rule()),
            tests=[_told(each) for each in evidence],
            makings=sorted({_makings(each) for each in evidence}),
            command=command,
            date=date,
            linked=linked,
            headings={"evaluation": EVALUATION, "search": SEARCH, "line_up": LINE_UP},
        )
        write_safely(path, text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {one_line(error)}") from error


def _with_figure(section: LineUpSection, name: str, caption: str) -> LineUpSection:
    return replace(section, figure=name, caption=caption)


def _told(each: Evidence) -> list[str]:
    return [each.name, each.kind, each.started.replace("T", " "), each.what, each.command]


def _makings(each: Evidence) -> str:
    """Return the versions and the machine of a test."""
    machine = f"{each.machine.get('processor')}, {each.machine.get('cores')} cores"
    versions = {name: text for name, text in each.versions.items() if name != "studies"}
    return f"{machine}; {', '.join(f'{name} {text}' for name, text in versions.items())}"
