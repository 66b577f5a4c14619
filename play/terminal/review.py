"""``othello-lab play review``: the discs that each move of a game lost, and the better moves."""

from __future__ import annotations

from pathlib import Path

from rich.progress import track

from othello_lab.agents.agent import Limits
from othello_lab.core.notation import square_name
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.game import outcome
from othello_lab.play.recorded import open_game
from othello_lab.play.review import MoveReview, Reviewer, accuracy_text, comment, scale_text
from othello_lab.play.terminal.screen import Screen

_HANG = 60.0


def review(path: Path, number: int | None, rules: Ruleset, page: Path | None) -> None:
    """Review a game of a file in any notation, or of a run, and print what each move lost.

    number: of the game, as for ``replay``. rules: of a file that does not tell them. page: a file
    for the review as a page. Ctrl-C ends it and shows the moves reviewed so far. Raises
    ConfigError.
    """
    screen = Screen()
    shown = open_game(path, number, rules, screen.say)
    game = shown.game
    if not game.turns:
        raise ConfigError(f"{path}: the game has no moves")
    reviews: dict[int, MoveReview] = {}
    numbers = range(len(game.turns), 0, -1)
    with AgentProcesses(game.start.ruleset, Limits(), _HANG, screen.say) as thinkers:
        reviewer = Reviewer(thinkers, game.start.ruleset.side)
        moves = track(numbers, "reviewing", console=screen.console, transient=True)
        try:
            for number in moves:
                reviews |= {known.number: known for known in reviewer.review(game, [number])}
        except KeyboardInterrupt:
            screen.say("Stopped; the moves before are not reviewed.")
    for number in sorted(reviews):
        _say(screen, reviews[number])
    screen.say()
    screen.say(outcome(game), "bold")
    for line in [*accuracy_text([*reviews.values()], shown.players), scale_text()]:
        screen.say(line)
    if page is not None:
        from othello_lab.play.review_page import write_page

        write_page(page, shown, [reviews[number] for number in sorted(reviews)])
        screen.say(f"The review as a page is in {page}.")


def _say(screen: Screen, review: MoveReview) -> None:
    name = review.color.value.capitalize()
    kind = "exact" if review.exact else "estimate"
    value = f"{review.to_black:+.0f}" if review.exact else f"{review.to_black:+.1f}"
    lost = f"{-review.loss:+.0f}" if review.loss >= 1 else ""
    style = {"blunder": "bold red", "mistake": "red", "inaccuracy": "yellow"}.get(review.mark, "")
    move = f"{review.number:3}. {name} {square_name(review.move)}"
    screen.say(f"{move:<16}{lost:>5}   Black {value:<6} {kind}", style)
    if text := comment(review):
        screen.say(f"      {text}")
