"""A single run as a kind of job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import labelled
from othello_lab.experiments.jobs import kinds, run
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.record.reading import not_begun, reading
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report import watch
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.plan_from_record import recorded_plan
from othello_lab.experiments.report.report import tell, write


class RunKind(kinds.JobKind):
    """A single run."""

    word = "run"

    def summary(self, folder: Path) -> kinds.JobSummary:
        if not_begun(folder):
            state = "starting" if kinds.state_of(folder, False) == "being played" else "not begun"
            return kinds.JobSummary(str(folder), "run", folder.parent.name, "", state=state)
        with reading(folder) as record:
            head = record.head()
            results = record.results()
            leader, score = _leader(record, results) if results else ("", None)
            agents, games = len(record.agents()), sum(count for *_, count in results)
            facts: dict[str, Any] = {"leader": leader, "score": score}
            return kinds.summary_of(folder, head, agents=agents, games=games, **facts)

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        with facts_of(folder) as facts:
            said = findings(facts)
            head = facts.record.head()
            if as_json:
                results = {
                    "seed": head["seed"],
                    "ruleset": head["ruleset"],
                    "games": facts.record.count_games(),
                    "openings": facts.openings,
                    "findings": said.sentences,
                    "standings": rows_of(facts.standings),
                    "matches": rows_of(facts.matches),
                }
                print_json(kinds.job_data(folder, head, results))
                return
            state = kinds.state_of(folder, bool(head["complete"]))
            games = counted(facts.record.count_games(), "game")
            when = str(head["started"]).replace("T", " ")
            console.print(plain(f"{head['name']}, {when}: {games}, {state}"))
            if said_of := labelled(head["config"]):
                console.print(plain(said_of))
            tell(facts, said, console)

    def resume(self, folder: Path, command: str, console: Console, options: ResumeOptions) -> int:
        return run.resume(folder, command, console, **vars(options)).exit_code

    extend = resume

    def write_report(self, folder: Path, console: Console, figures: Any) -> None:
        with facts_of(folder) as facts:
            if figures is not None:
                facts.plan.settings.figures = figures
            write(facts, findings(facts), folder, console)

    def latex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.report.citing import latex_tables

        with facts_of(folder) as facts:
            return latex_tables(facts)

    def bibtex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.report.citing import bibtex

        with reading(folder) as record:
            return bibtex(record.head())

    def look(self, folder: Path, console: Console) -> tuple[RenderableType, bool]:
        return watch.look(folder, console)


@contextmanager
def facts_of(folder: Path) -> Iterator[RunFacts]:
    """Yield the facts of the run in a folder, from its record; ConfigError if it has no game."""
    kinds.check_single(folder)
    with reading(folder) as record:
        plan = recorded_plan(record)
        if not record.count_games():
            raise ConfigError(f"{folder}: no game of this run has ended yet")
        yield RunFacts(record, plan)


def _leader(record: Record, results: Sequence[tuple[int, int, str, int]]) -> tuple[str, float]:
    """Return the agent with the most points for its games, and its share in per cent."""
    points, games = Counter[int](), Counter[int]()
    for black, white, result, count in results:
        for agent, color in ((black, "black"), (white, "white")):
            games[agent] += count
            points[agent] += 2 * count * (result == color) + count * (result == "draw")
    scores = {agent: 50 * points[agent] / games[agent] for agent in sorted(games)}
    best = max(scores, key=lambda agent: scores[agent])
    if sum(score == scores[best] for score in scores.values()) > 1:
        return "(shared)", scores[best]
    return str(record.agents()["name"][best]), scores[best]
