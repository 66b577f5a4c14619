"""A figure of a report as one object, and how a list of them is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pandas as pd
from matplotlib.figure import Figure

from experiments.report.figures.style import save

Facts = TypeVar("Facts")


class ReportFigure(ABC, Generic[Facts]):
    """What a figure shows, when there is one, how it is drawn and what is said of it.

    A new figure is a subclass of this in a file of its own, and its name in the list of
    :mod:`experiments.report.figures` (or of the sweep's figures).

    facts: of the run or sweep. name: of its files, without ending. title: its heading.
    csv: a file that its data are written to; none if empty.
    """

    name: str
    title: str
    csv: str = ""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @classmethod
    def all_of(cls, facts: Facts) -> Iterable[ReportFigure[Facts]]:
        """The figures of this kind that a report may have; one, unless this is overridden."""
        return (cls(facts),)

    @abstractmethod
    def data(self) -> pd.DataFrame | None:
        """What is drawn; None where there is no such figure."""

    @abstractmethod
    def chart(self, data: pd.DataFrame) -> Figure:
        """The data drawn."""

    @abstractmethod
    def caption(self, data: pd.DataFrame) -> str:
        """How to read it."""


@dataclass(frozen=True)
class DrawnFigure:
    """A figure that was drawn: the name of its files without ending, title and caption."""

    name: str
    title: str
    caption: str


def draw_figures(
    kinds: Iterable[type[ReportFigure[Any]]], facts: object, folder: Path
) -> list[DrawnFigure]:
    """Write the files of all figures of these kinds that there are to ``folder``."""
    drawn = []
    for figure in (figure for kind in kinds for figure in kind.all_of(facts)):
        data = figure.data()
        if data is None:
            continue
        if figure.csv:
            data.to_csv(folder / figure.csv, index=False)
        save(figure.chart(data), folder, figure.name)
        drawn.append(DrawnFigure(figure.name, figure.title, figure.caption(data)))
    return drawn
