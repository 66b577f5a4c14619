"""The end of a study: findings and tables on the terminal, CSVs, figures and a report."""

from __future__ import annotations

from pathlib import Path

import yaml
from rich.console import Console

from othello_lab.core.system.escaping import plain
from othello_lab.experiments.record.folder import write_table
from othello_lab.experiments.record.provenance import machine_in_words
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.markdown import drawn_figures, write_report
from othello_lab.experiments.report.page import Drawing
from othello_lab.experiments.report.tables import described, result_table
from othello_lab.experiments.report.terminal import print_files
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.experiments.studies.study_plan import StudyPlan


def tell(
    plan: StudyPlan, record: Record, conclusion: Conclusion, folder: Path, console: Console
) -> None:
    """Print the conclusion, and write tables, figures and report."""
    settings = plan.plan.settings
    tables = [result_table(table, end=False) for table in conclusion.tables]
    for screen in tables if conclusion.screen is None else [conclusion.screen]:
        console.print(screen)
    for finding in conclusion.findings:
        console.print(plain(finding))
    for name, frame in conclusion.frames.items():
        write_table(frame, folder / f"{name}.csv")
        if "parquet" in settings.export:
            write_table(frame, folder / f"{name}.parquet")
    figures = drawn_figures(conclusion.figures, settings.figures, folder, console)
    _write(plan, record, conclusion, figures, folder)
    names = {"report": "report.html", "record": record.path.name}
    if conclusion.frames:
        names["tables"] = ", ".join(f"{name}.csv" for name in conclusion.frames)
    print_files(names, folder, console)


def _write(
    plan: StudyPlan,
    record: Record,
    conclusion: Conclusion,
    figures: list[Drawing],
    folder: Path,
) -> None:
    head, done = record.head(), record.pieces()
    settings = plan.plan.settings
    failed = [(number, why) for number, why in done.items() if why]
    details = {
        plan.kind.word: plan.name,
        **({"pieces": f"{len(done):,}"} if head["pieces"] else {}),
        **({"failed": f"{len(failed):,}"} if failed else {}),
        "ruleset": plan.plan.rules.name,
        "seed": settings.seed,
        "started": head["started"].replace("T", " "),
        "workers": plan.plan.executor.text,
        "machine": machine_in_words(head["machine"]),
        "versions": ", ".join(f"{key} {value}" for key, value in head["versions"].items()),
        **conclusion.details,
    }
    write_report(
        "study",
        folder,
        title=settings.name,
        kind=plan.kind.word.capitalize(),
        name=plan.name,
        findings=conclusion.findings,
        tables=conclusion.tables,
        figures=figures,
        notes=conclusion.notes,
        agents=described(settings.agents if conclusion.agents is None else conclusion.agents),
        failed=[(plan.kind.piece, *failure) for failure in failed],
        command=head["command"],
        details=details,
        settings=yaml.safe_dump(plan.as_data, sort_keys=False, allow_unicode=True),
    )
