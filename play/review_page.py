"""The review of a game as a page: its accuracy, its course, its worst moves, and every move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from othello_lab.core.notation import square_name
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import visible
from othello_lab.experiments.report.games import browser_data, browser_plies
from othello_lab.experiments.report.markdown import write_report
from othello_lab.play.game import outcome
from othello_lab.play.game_files import ReadGame
from othello_lab.play.review import MARKS, MoveReview, accuracy_text, comment, scale_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from othello_lab.experiments.report.figures.drawing import ReportFigure

_DRAWN = 6  # worst moves that are drawn on a board


def write_page(path: Path, shown: ReadGame, moves: Sequence[MoveReview]) -> None:
    """Write the review as a page, and as Markdown beside it.

    path: of the page; its folder is made. moves: the reviews, in the order of the game.
    """
    from othello_lab.experiments.report.figures.drawing import draw_figures

    path.parent.mkdir(parents=True, exist_ok=True)
    seats = [shown.players[color] for color in (Color.BLACK, Color.WHITE)]
    write_report(
        "review",
        path.parent,
        f"{seats[0]} against {seats[1]}, reviewed",
        file=path.stem,
        figures=draw_figures(_figures(shown, moves), path.parent),
        games_data=_game(shown, moves),
        lead=[outcome(shown.game), *accuracy_text(moves, shown.players)],
        scale=scale_text(),
        rows=[_row(review) for review in moves],
    )


def _row(review: MoveReview) -> list[str]:
    value = f"{review.to_black:+.0f}" if review.exact else f"{review.to_black:+.1f}"
    lost = f"{review.loss:.0f}" if review.loss >= 1 else ""
    kind = "exact" if review.exact else "estimate"
    color = review.color.value.capitalize()
    return [f"{review.number}", color, square_name(review.move), lost, value, kind, comment(review)]


def _game(shown: ReadGame, moves: Sequence[MoveReview]) -> dict[str, Any]:
    """Return the game to be stepped through, with the discs to the mover as its values."""
    game = shown.game
    board, to_move = game.start.to_obf().split()
    values = {review.number: [round(review.value, 1)] for review in moves}
    difference = game.position.disc_difference
    black = difference if game.position.to_move is Color.BLACK else -difference
    result = "draw" if black == 0 else "black" if black > 0 else "white"
    data = {
        "number": 1,
        "black": 0,
        "white": 1,
        "result": result if game.is_over else "",
        "discs": black,
        "reason": "finished",
        "detail": "" if game.is_over else outcome(game),
        "board": board,
        "turn": to_move,
        "plies": list(browser_plies(game.start, [turn.move for turn in game.turns], values)),
    }
    names = [visible(shown.players[color]) for color in (Color.BLACK, Color.WHITE)]
    return browser_data(game.start.ruleset, names, [{"agents": [0, 1], "pairs": [[data]]}])


# ---------------------------------------------------------------------- figures


def _figures(shown: ReadGame, moves: Sequence[MoveReview]) -> Iterator[ReportFigure]:
    from othello_lab.experiments.report.figures.drawing import ReportFigure

    if moves:
        yield ReportFigure(
            name="course",
            title="The course of the game",
            caption="Black's lead in discs after each move, by the review. A dot is a move that "
            "lost at least an inaccuracy's discs; the deeper the step at it, the more it lost.",
            chart=course_chart(moves),
        )
    worst = sorted(moves, key=lambda review: -review.loss)
    if worst := [review for review in worst if review.mark][:_DRAWN]:
        yield ReportFigure(
            name="worst",
            title="The moves that lost most",
            caption="The positions before the moves that lost most, the worst first. On each "
            "square stand the discs by which the mover wins, or loses, after a move there: the "
            "move of the game and the better one.",
            chart=_worst_boards(shown, worst),
        )


def course_chart(moves: Sequence[MoveReview]) -> Figure:
    """Black's lead by move as a line, with a dot on each marked move."""
    from matplotlib.ticker import MaxNLocator

    from othello_lab.experiments.report.figures.drawing import blank
    from othello_lab.experiments.report.figures.palette import BLUE, GREY, ORANGE

    with blank(width=7, height=2.8) as figure:
        axes = figure.subplots()
        axes.axhline(0, color=GREY, linewidth=1)
        axes.plot([m.number for m in moves], [m.to_black for m in moves], color=BLUE, linewidth=1.8)
        marked = [review for review in moves if review.mark]
        axes.plot(
            [review.number for review in marked],
            [review.to_black for review in marked],
            "o",
            color=ORANGE,
            markersize=5,
            label=", ".join(reversed(MARKS)),
        )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("move")
        axes.set_ylabel("Black's lead in discs")
        if marked:
            axes.legend(loc="best")
    return figure


def _worst_boards(shown: ReadGame, worst: Sequence[MoveReview]) -> Figure:
    from othello_lab.experiments.report.figures.board import boards, draw_board, turn_text
    from othello_lab.experiments.report.figures.drawing import signed, wrapped

    figure, places = boards(len(worst), 4.1)
    for axes, review in zip(places, worst, strict=True):
        before = shown.game.turns[review.number - 1].before
        labels = {review.move: signed(review.value), review.best: signed(review.best_value)}
        played = f"{review.number}. {square_name(review.move)}: {comment(review)}"
        draw_board(axes, before, labels, "\n".join([turn_text(before), wrapped(played, 44)]))
    return figure
