"""The pages: a paper on each player, in Markdown, and an index with a figure for each line-up."""

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
INDEX, EVALUATIONS, SEARCHES = "index.md", "evaluations.md", "searches.md"
"""The pages of the folder that are not on one player."""
_OVERVIEW = (RATING, "score %", "nodes/move", "time/move")


def file_of(heading: str) -> str:
    """Return the name of a player's page, for a link and as a file."""
    name = re.sub(r"[^\w\- ]", "", heading.casefold()).strip().replace(" ", "-")
    return f"{name}.md"


def linked(name: str, page: str, heading: str = "") -> Markdown:
    """A link to a page of the folder, or to a heading of it."""
    return Markdown(f"[{name}]({page}{'#' if heading else ''}{heading.casefold()})")


def judged_by(judgement: EvaluationDescription | None) -> Markdown:
    """An evaluation in a sentence."""
    if judgement is None:
        return Markdown("None; its search does without.")
    about = f": {judgement.about}" if judgement.about else ""
    return Markdown(f"{linked(judgement.name, EVALUATIONS, judgement.name)}{about}.")


def found_by(kind: type[Agent]) -> Markdown:
    """Return a sentence on a class's way of finding moves."""
    told = first_sentence(summary(kind)) or "its class does not say how it chooses"
    return Markdown(f"{linked(kind.__name__, SEARCHES, kind.__name__)}: {told}.")


@dataclass(frozen=True, eq=False)
class Paper:
    """The paper on one player. evidence: the tests it took part in, each with its name there."""

    portrait: AgentDescription
    heading: str
    evidence: Sequence[tuple[Evidence, str]]

    @cached_property
    def said(self) -> list[Remark]:
        return [said for each, name in self.evidence for said in said_of(name, each)]

    def sentences(self, good: bool | None) -> list[Markdown]:
        """Return strengths (True), weaknesses (False), or other remarks (None)."""
        return [_plain(said.text) for said in self.said if said.good is good]

    @property
    def evaluation(self) -> Markdown:
        """Its static evaluation in a sentence."""
        return judged_by(self.portrait.judgement)

    @property
    def search(self) -> Markdown:
        """Its way of finding a move, in a sentence."""
        limits = self.portrait.limits
        within = [f"It keeps within {limits} a move."] if limits else []
        return Markdown(" ".join([found_by(self.portrait.kind), *within]))

    @property
    def techniques(self) -> dict[str, list[Markdown]]:
        """Its techniques, grouped by purpose."""
        found: dict[str, list[Markdown]] = {}
        for each in self.portrait.techniques:
            heading = each.purpose.value.capitalize() if each.purpose else "Besides"
            found.setdefault(heading, []).append(Markdown(f"`{each.setting}`: {each.does}."))
        return found

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
    """A line-up. papers: of players that no earlier one has. run, errors: the tests with the most
    of these players together."""

    name: str
    about: str
    papers: Sequence[Paper]
    figure: str = ""
    caption: str = ""
    run: RunEvidence | None = None
    errors: ErrorsEvidence | None = None

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
            linked(portrait.name, file_of(paper.heading)),
            linked(judged.name, EVALUATIONS, judged.name) if judged else "none",
            linked(portrait.kind.__name__, SEARCHES, portrait.kind.__name__),
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
    files = {INDEX, EVALUATIONS, SEARCHES}
    made = []
    for name, about, new in ((each.name, each.about, each.players) for each in line_ups):
        papers = []
        for portrait in new:
            heading = portrait.name
            if file_of(heading) in files:
                heading = f"{heading} ({name})"
            files.add(file_of(heading))
            papers.append(Paper(portrait, heading, _evidence_of(portrait, evidence)))
        of_all: dict[str, Any] = {
            "run": _closest(new, named(evidence, RunEvidence)),
            "errors": _closest(new, named(evidence, ErrorsEvidence)),
        }
        made.append(LineUpSection(name, about, papers, **of_all))
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


def write_pages(
    folder: Path,
    sections: Sequence[LineUpSection],
    evidence: Sequence[Evidence],
    command: str,
    date: str,
    figures: bool,
) -> None:
    """Write an index, a page on each player, one on evaluations and one on searches, with figures;
    ConfigError if that is impossible."""
    shown = list(sections)
    pages = {
        EVALUATIONS: rendered("evaluations", judgements=judgements_of(sections)),
        SEARCHES: rendered(
            "searches", searches=searches_of(sections), time_rule=Markdown(time_rule())
        ),
    }
    for section in sections:
        for paper in section.papers:
            pages[file_of(paper.heading)] = rendered("player", paper=paper, section=section)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if figures:
            from othello_lab.experiments.report.figures.drawing import save_png

            for number, name, caption, chart in figures_of(sections):
                save_png(chart, folder / f"{name}.png", _DOTS)
                shown[number] = replace(shown[number], figure=name, caption=caption)
        pages[INDEX] = rendered(
            "players",
            sections=shown,
            tests=[_told(each) for each in evidence],
            makings=sorted({_makings(each) for each in evidence}),
            command=command,
            date=date,
        )
        for name, text in pages.items():
            write_safely(folder / name, text)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {one_line(error)}") from error


def _told(each: Evidence) -> list[str]:
    return [each.name, each.kind, each.started.replace("T", " "), each.what, each.command]


def _makings(each: Evidence) -> str:
    """Return the versions and the machine of a test."""
    machine = f"{each.machine.get('processor')}, {each.machine.get('cores')} cores"
    versions = {name: text for name, text in each.versions.items() if name != "studies"}
    return f"{machine}; {', '.join(f'{name} {text}' for name, text in versions.items())}"
