"""Games of one's own: each has its address; series, clocks and own agents."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")

from served import HUMAN, OWN, PEOPLE, Page, Server, served

from othello_lab.core.rules import Color
from othello_lab.play.web.clock import PersonClock


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a folder with own agents."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "mine.py").write_text(OWN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with served(folder, "white=human", "limits.hang=1", "web.messages=100000") as server:
            yield server


def begin(page: Page, **fields: object) -> str:
    """Begin a game; returns its number."""
    said = page.tell("new", rules="standard", **{**PEOPLE, **fields})
    assert said is None, said
    return page.visit


def test_a_game_keeps_its_address_when_another_begins(house: Server, page: Page) -> None:
    first = page.visit
    page.move("f5")
    page.send({"type": "new", "rules": "standard", **PEOPLE})
    second = page.hear_type("moved")["visit"]
    page.wait_for(lambda state: not state["moves"])
    assert second != first
    page.move("d3")
    with house.page(first) as other:
        assert other.visit == first
        assert other.moves == ["f5"]
        assert page.moves == ["d3"]
        listed = page.ask("mine", visits=[second, first, "x" * 22])["ok"]["games"]
    assert [game["visit"] for game in listed] == [second, first]
    assert [game["moves"] for game in listed] == [1, 1]
    assert listed[0]["seconds"] == pytest.approx(time.time(), abs=600)


def test_a_game_without_moves_is_not_kept_for_later(page: Page) -> None:
    page.send({"type": "new", "ref": 9, "rules": "standard", **PEOPLE})
    assert page.hear_type("moved", "done")["type"] == "done"
    assert page.ask("mine", visits=[page.visit])["ok"]["games"] == []
    assert "a list of at most 100" in page.ask("mine", visits=["no number"])["trouble"]


def test_a_series_goes_on_with_changed_colours_until_it_is_won(page: Page) -> None:
    begin(page, series=2, white={"name": "greedy", "settings": {}})
    scores = ["human 0, greedy 1 games", "human 0, greedy 2 games"]
    for number, score in enumerate(scores):
        human = "black" if number == 0 else "white"
        page.wait_for(lambda state, human=human: state["players"][human]["human"])
        assert page.tell("next")
        page.wait_for(lambda state: not state["thinking"] and state["waits"])
        assert page.tell("resign") is None
        assert score in page.state["series"]["text"]
        if number == 0:
            assert not page.state["series"]["won"]
            assert page.tell("next") is None
    assert page.state["series"]["won"]
    assert "greedy wins the series" in page.state["series"]["text"]
    assert page.tell("next")
    begin(page)
    assert page.state["series"] is None
    assert page.tell("next")


def test_a_series_outlives_the_page(house: Server, page: Page) -> None:
    begin(page, series=3)
    page.tell("resign")
    page.send({"type": "next"})
    page.wait_for(lambda state: not state["over"])
    with house.page(page.visit) as other:
        assert "human 1 0, human 2 1 games" in other.state["series"]["text"]


def test_whose_time_is_up_loses_and_an_undo_goes_on_without_a_clock(page: Page) -> None:
    begin(page, clock={"per": "move", "seconds": 1})
    assert page.state["clock"]["running"] == "black"
    page.move("f5")
    page.wait_for(lambda state: state["over"])
    assert page.state["outcome"].startswith("White's time is up")
    assert page.state["winner"] == "black"
    assert page.ask("texts")["ok"]["ggf"].count("RE[+64:t]") == 1
    text = page.ask("texts")["ok"]["text"]
    assert page.tell("undo") is None
    assert page.state["clock"] is None and not page.state["over"]
    begin(page, text=text)
    assert page.state["outcome"].startswith("White's time is up")


def test_a_clock_counts_moves_or_the_game() -> None:
    for per, left in (("move", 10.0), ("game", 6.0)):
        clock = PersonClock(per, 10)
        clock.run(Color.BLACK, 100.0)
        assert clock.left(Color.BLACK, 103.0) == 7
        assert clock.left(Color.WHITE, 103.0) == 10
        clock.moved(Color.BLACK, 104.0)
        assert clock.left(Color.BLACK, 200.0) == left
        assert PersonClock.read(clock.data).data == clock.data
        assert clock.anew().left(Color.BLACK, 0.0) == 10
    assert PersonClock("move", 1).left(Color.BLACK, 5.0) == 1


@pytest.mark.integration
def test_an_own_agent_plays_by_its_path_and_may_resign(page: Page) -> None:
    begin(page, white={"name": "own", "path": "mine.py:Mine"})
    assert page.state["players"]["white"]["name"] == "Mine"
    page.move("f5")
    page.wait_for(lambda state: len(state["moves"]) == 2)
    begin(page, white={"name": "own", "path": "mine.py:Resigns"})
    page.move("f5")
    page.wait_for(lambda state: state["over"])
    assert page.state["outcome"].startswith("White resigns: Black wins by 64")
    begin(page, white={"name": "own", "path": "./mine.py:discs"})
    assert page.state["players"]["white"]["name"] == "discs"
    page.move("f5")
    page.wait_for(lambda state: len(state["moves"]) == 2)


@pytest.mark.integration
def test_an_own_agent_that_fails_is_told_and_can_be_replaced(page: Page, house: Server) -> None:
    for name, words in (
        ("Raises", "a bug in a student's agent"),
        ("Illegal", "an illegal move: "),
        ("Dies", "exit code 7"),
        ("Hangs", "no answer for 1 s"),
    ):
        begin(page, white={"name": "own", "path": f"mine.py:{name}"})
        page.move("f5")
        for _ in range(2):
            page.wait_for(lambda state: state["halted"])
            assert f"White ({name})" in page.state["trouble"] and words in page.state["trouble"]
            assert page.tell("go") is None
        assert page.tell("players", white=HUMAN) is None
        assert page.move("f4") is None
        assert len(page.moves) == 2


@pytest.mark.integration
def test_only_files_of_the_servers_folder_are_loaded(page: Page, tmp_path: Path) -> None:
    def refused(page: Page, path: str) -> str:
        white = {"name": "own", "path": path}
        return str(page.tell("new", rules="standard", black=HUMAN, white=white))

    for path, words in {"mine.py:None": "mine.py", "nothing.py:X": "nothing.py"}.items():
        assert words in refused(page, path)
    for path in ("../mine.py:Mine", "/etc/passwd", "python3 mine.py", "os:system"):
        assert "server's folder" in refused(page, path)
    assert "several" in refused(page, "mine.py")
    assert page.state["players"]["white"]["human"]
    with served(tmp_path, "web.host=0.0.0.0", "white=human") as server, server.page() as other:
        assert "this machine alone" in refused(other, "mine.py:Mine")
