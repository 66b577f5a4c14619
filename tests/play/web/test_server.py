"""The server, asked as a page asks it: who is let in, what it answers, and what it refuses."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")

from served import HUMAN, PEOPLE, Page, Server, served
from websockets.exceptions import ConnectionClosed, InvalidStatus

from othello_lab.__main__ import room_main
from othello_lab.core.system.processes import available_cores
from othello_lab.play.web.messages import LONGEST_TEXT

main = functools.partial(room_main, "play")

Serve = Callable[..., Server]
GREEDY = {"name": "greedy"}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """``serve("white=greedy")``: a server with these settings."""
    with ExitStack() as stack:
        yield lambda *words, **where: stack.enter_context(served(tmp_path, *words, **where))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose games are between two people, for tests that need no other."""
    with served(tmp_path_factory.mktemp("served"), "white=human") as found:
        yield found


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    with server.page() as found:
        yield found


# ---------------------------------------------------------------------- who is let in


def test_the_page_has_nothing_from_elsewhere(server: Server) -> None:
    for path in ("/", "/static/app.js", "/static/style.css", "/static/icon.svg"):
        status, headers, text = server.get(path)
        assert status == 200
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        text = text.replace("http://www.w3.org/2000/svg", "")
        assert not any(word in text for word in ("http://", "https://", " style=", "onclick="))


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/x"])
def test_no_other_file_is_served(server: Server, path: str) -> None:
    assert server.get(path)[0] == 404


NAMES = {"localhost:1": 200, "[::1]:1": 200, "LOCALHOST": 200, "evil.example": 403, "10.0.0.1": 403}


@pytest.mark.parametrize("host", [*NAMES, ""])
def test_only_names_of_this_machine_lead_here(server: Server, host: str) -> None:
    assert server.get("/", host=host)[0] == NAMES.get(host, 403)


def test_open_to_others_addresses_lead_here_but_no_strange_names(serve: Serve) -> None:
    server = serve("web.host=0.0.0.0")
    assert server.get("/", host="10.0.0.1:8377")[0] == 200
    assert server.get("/", host="evil.example")[0] == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_pages_of_other_sites_get_no_line(server: Server, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused, server.line(origin):
        pass
    assert refused.value.response.status_code == 403


# ---------------------------------------------------------------------- a game


def test_a_person_plays_an_agent(page: Page) -> None:
    assert page.tell("players", white=GREEDY) is None
    assert page.state["position"]["legal"] == ["d3", "c4", "f5", "e6"]
    assert page.move("a1") == "a1: traps nothing"
    assert page.move("d3") is None
    first, second = page.wait_for(lambda state: len(state["moves"]) == 2)["moves"]
    assert (first["color"], first["by"], first["flipped"]) == ("black", "human", ["d4"])
    assert (second["color"], second["by"]) == ("white", "greedy")
    assert second["decision"]["nodes"] == 4
    assert page.move("d3") == "d3: square occupied"
    late = page.tell("move", move="e3", ply=0)
    assert "the game has gone on" in late
    assert page.tell("undo") is None
    assert page.moves == []
    assert page.tell("undo") == "there is nothing to take back"
    assert page.tell("go") == "no agent is to move"
    assert page.tell("stop") == "no agent is thinking"
    assert page.tell("resign") is None
    assert page.state["outcome"].startswith("Black resigns")
    assert page.move("d3") == "the game is over"
    assert page.tell("back", moves=1, ply=0) == "there are only 0 moves"
    assert page.state["over"]
    assert page.tell("back", moves=0, ply=0) is None  # to before the resignation
    assert not page.state["over"]


@pytest.mark.integration
def test_two_agents_play_step_by_step_or_by_themselves(page: Page) -> None:
    players = {"black": {"name": "random"}, "white": GREEDY}
    assert page.tell("new", rules="mini4", playing=False, **players) is None
    told = page.move("a2")
    assert told is not None and told.startswith("black is to move, and that is random")
    assert page.tell("step") is None
    page.wait_for(lambda state: len(state["moves"]) == 1 and not state["thinking"])
    assert page.tell("pace", playing=True, delay=0) is None
    page.wait_for(lambda state: state["over"])
    assert page.state["outcome"].startswith("The game is over")
    assert page.tell("resign") == "the game is over"
    moves = page.moves
    assert page.tell("back", moves=3, ply=len(moves)) is None
    assert page.moves == moves[:3]
    assert page.state["pace"]["playing"] is False
    assert page.tell("back", moves=4, ply=3) == "there are only 3 moves"


@pytest.mark.integration
def test_each_game_of_a_visit_has_a_seed_of_its_own(server: Server) -> None:
    played = []
    for _ in range(2):
        with server.page() as page:
            for _ in range(2):
                players = {"black": {"name": "random"}, "white": {"name": "random"}}
                page.tell("new", rules="mini6", playing=False, **players)
                page.tell("pace", playing=True, delay=0)
                state = page.wait_for(lambda state: len(state["moves"]) >= 12)
                played.append([state["seed"], *page.moves[:12]])
    assert played[:2] == played[2:]
    assert played[0][1:] != played[1][1:]
    assert played[0][0] + 1 == played[1][0]


def test_forced_passes_are_made(page: Page) -> None:
    start = "-OX-" + "--------" + "XO--" + " X"
    assert page.tell("new", rules="mini4", text=start, **PEOPLE) is None
    assert page.state["position"]["legal"] == ["a1", "c4"]
    assert page.move("a1") is None
    page.wait_for(lambda state: len(state["moves"]) == 2)
    assert page.state["moves"][1]["forced"] is True
    assert page.state["position"]["to_move"] == "black"


TEXTS = {
    "f5d6c3": ("standard", 3),
    "(;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]B[a2];)": ("mini4", 1),
    "-----OX--XO----- X": ("mini4", 0),
}


@pytest.mark.parametrize("text", TEXTS)
def test_games_are_put_in_and_taken_along(page: Page, text: str) -> None:
    rules, moves = TEXTS[text]
    assert page.tell("new", rules=rules, text=text, **PEOPLE) is None
    assert len(page.moves) == moves
    position = page.state["position"]
    texts = page.ask("texts")["ok"]
    assert texts["obf"].split()[0] == position["board"]
    for kind in ("ggf", "text"):
        assert page.tell("new", rules=rules, text=texts[kind], **PEOPLE) is None
        assert page.state["position"] == position
        assert len(page.moves) == moves


def test_a_game_of_the_longest_text_is_answered(page: Page) -> None:
    refused = page.tell("new", rules="standard", text="é" * LONGEST_TEXT, **PEOPLE)
    assert "50000 squares instead of 64" in (refused or "")
    assert page.move("d3") is None


def test_openings_are_named(page: Page) -> None:
    assert page.tell("new", rules="standard", text="c4e3f6e6f5c5", **PEOPLE) is None
    names = ["", "", "Perpendicular Opening", *["Perpendicular Opening"] * 2, "Tiger", "Tiger"]
    assert page.state["openings"] == names


@pytest.mark.integration
def test_hints_fit_the_board_and_the_opponent(page: Page) -> None:
    assert page.ask("hint")["ok"]["by"].startswith("alphabeta")
    assert page.tell("new", rules="mini6", **PEOPLE) is None
    assert "DiscCount" in page.ask("hint")["ok"]["by"]
    champion = {"name": "champion", "settings": {"depth": 2}}
    assert page.tell("new", rules="standard", black=HUMAN, white=champion) is None
    said = page.ask("hint")["ok"]
    assert said["by"].startswith("champion")
    assert said["move"] in page.state["position"]["legal"]


def test_names_in_a_game_that_is_opened_are_kept(page: Page) -> None:
    board = "8 " + "-" * 27 + "O*------*O" + "-" * 27 + " *"
    text = f"(;GM[Othello]PB[anna]PW[bert]TY[8]BO[{board}]B[d3]W[c3];)"
    assert page.tell("new", rules="standard", text=text, **PEOPLE) is None
    assert "PB[anna]PW[bert]" in page.ask("texts")["ok"]["ggf"]
    assert page.tell("resign") is None
    assert "RE[-64:r]" in page.ask("texts")["ok"]["ggf"]
    shown = page.state["players"]
    assert [shown[color]["played"] for color in ("black", "white")] == ["anna", "bert"]


WRONG_TEXTS = {
    "f5f5": "move 2 of the transcript: f5: square occupied",
    "XX- X": "3 squares instead of 64",
    "(;GM[Go];)": "GGF: the game has no BO[...]",
    "(;GM[Othello]BO[4 ---- -O*- -*O- ---- *];)": "a game on 4x4; ruleset standard is 8x8",
    "Othello game\nruleset: none": "unknown ruleset 'none'",
}


@pytest.mark.parametrize("text", WRONG_TEXTS)
def test_what_is_no_game_is_refused(page: Page, text: str) -> None:
    page.move("d3")
    refused = page.tell("new", rules="standard", text=text, **PEOPLE)
    assert WRONG_TEXTS[text] in (refused or "")
    assert page.moves == ["d3"]


# ---------------------------------------------------------------------- who plays

PLAYERS: dict[str, tuple[dict[str, Any], str]] = {
    "nobody": ({}, "unknown player 'nobody'"),
    "human": ({"depth": 3}, "a person has no settings"),
    "alphabeta": ({"depth": 65}, "a whole number from 1 to 64"),
    "greedy": ({"depth": 3}, "unknown setting of greedy 'depth'"),
    "pvs": ({"table_mb": 257}, "table_mb=257: at most 256 here (web.memory_mb)"),
    "champion": ({"endgame_threads": 1 << 20}, f"at most {available_cores()} here, one a"),
    "minimax": ({"_target_": "os.system"}, "unknown setting of minimax '_target_'"),
    "mtdf": ({"evaluation": {"_target_": "os.system"}}, "unknown evaluation"),
    "maximizer": ({"evaluation": "/etc/passwd:f"}, "unknown evaluation '/etc/passwd:f'"),
    "mcts_greedy": ({"evaluation": "function"}, "unknown evaluation 'function'"),
    "probcut": ({"probcut": "/etc/passwd"}, "probcut=/etc/passwd: not a value"),
    "iterative": ({"ordering": "a/b"}, "ordering=a/b: not a value"),
    "singular": ({"compiled": None}, "compiled=None: not a value"),
    "tapered": ({"taper": ["x"]}, "taper=['x']: not a value"),
    "mcts": ({"playouts": {"a": 1}}, "playouts={'a': 1}: not a value"),
}


@pytest.mark.parametrize("name", PLAYERS)
def test_only_agents_and_settings_of_the_list_can_be_had(page: Page, name: str) -> None:
    settings, told = PLAYERS[name]
    seat = {"name": name, "settings": settings}
    assert told in (page.tell("players", black=HUMAN, white=seat) or "")
    assert page.tell("undo")  # nothing has changed, and the line is open
    assert page.state["players"]["white"]["name"] == "human"


def test_settings_are_those_that_were_asked_for(page: Page) -> None:
    asked = {"depth": 2, "evaluation": "iago", "ordering": "killer+static", "table_mb": 8}
    seat = {"name": "alphabeta", "settings": asked}
    assert page.tell("players", black=HUMAN, white=seat) is None
    white = page.state["players"]["white"]
    assert white["settings"] == asked
    assert white["described"] == "alphabeta depth=2 ordering=killer+static evaluation=Iago"
    for players in ({"black": HUMAN, "white": seat}, {"black": None}):
        refused = page.tell("new", rules="mini6", **players)
        assert "evaluation=disc_count is for all boards" in (refused or "")
    assert page.tell("new", rules="wpi") is None
    assert page.state["players"]["white"] == white


# ---------------------------------------------------------------------- agents in trouble


def test_a_long_search_is_announced_and_stopped_at_once(page: Page) -> None:
    deep = {"name": "minimax", "settings": {"depth": 30}}
    assert page.tell("players", white=deep) is None
    page.move("d3")
    page.wait_for(lambda state: "depth 30 would take" in state["note"])
    assert page.state["thinking"]
    assert "Ctrl-C" not in page.state["note"]
    assert page.tell("stop") is None
    state = page.wait_for(lambda state: state["halted"])
    assert state["trouble"] == "White (minimax) was stopped."
    assert page.moves == ["d3"]
    assert page.tell("players", black=HUMAN, white=GREEDY) is None
    page.wait_for(lambda state: len(state["moves"]) == 2)


@pytest.mark.integration
def test_a_search_has_an_end(serve: Serve) -> None:
    server = serve("white=minimax", "white.depth=30", "web.seconds=1")
    with server.page() as page:
        page.move("d3")
        state = page.wait_for(lambda state: state["halted"])
        assert state["trouble"].endswith("has broken down: no answer for 1 s")


CRASHING = """\
import os
from othello_lab.agents.agent import Agent, Decision

class Crashing(Agent):
    def __init__(self, how="raise"):
        self.how = how

    def decide(self, position, limits):
        if self.how == "raise":
            raise RuntimeError("out of ideas")
        if self.how == "exit":
            os._exit(3)
        if self.how == "illegal":
            return Decision(0)
        while True:
            pass
"""
TROUBLES = {
    "raise": "RuntimeError: out of ideas",
    "exit": "exit code 3",
    "illegal": "an illegal move: a1",
    "hang": "no answer for 0.5 s",
}


@pytest.mark.integration
def test_agents_that_fail_are_reported_and_replaced(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crashing_agent.py").write_text(CRASHING)
    (tmp_path / "conf" / "agent").mkdir(parents=True)
    yaml = "# It fails\n_target_: crashing_agent.Crashing\nhow: raise\n"
    (tmp_path / "conf" / "agent" / "crashing.yaml").write_text(yaml)
    monkeypatch.syspath_prepend(tmp_path)
    server = serve("white=human", "limits.hang=0.5", folders=[f"{tmp_path}/conf"])
    with server.page() as page, server.page() as other:
        for how, told in TROUBLES.items():
            crashing = {"name": "crashing", "settings": {"how": how}}
            assert page.tell("new", rules="standard", black=HUMAN, white=crashing) is None
            assert page.move("d3") is None
            state = page.wait_for(lambda state: state["halted"])
            assert state["trouble"].startswith("White (crashing) has broken down: ")
            assert told in state["trouble"]
            assert page.moves == ["d3"]
        assert page.tell("go") is None
        page.wait_for(lambda state: state["halted"])
        assert page.tell("players", **PEOPLE) is None
        assert page.move(page.state["position"]["legal"][0]) is None
        assert other.moves == []


# ---------------------------------------------------------------------- visits


@pytest.mark.integration
def test_visits_are_apart_and_outlive_page_and_server(serve: Serve, tmp_path: Path) -> None:
    server = serve("white=human")
    with server.page() as one, server.page() as two:
        assert one.visit != two.visit
        one.move("d3")
        two.move("f5")
        two.move("f6")
    with server.page(one.visit) as again:
        assert again.moves == ["d3"]
    server.close()
    files = list((tmp_path / "visits").iterdir())
    assert sorted(file.stem for file in files) == sorted([one.visit, two.visit])
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "visits").stat().st_mode) == 0o700
    with serve().page(two.visit) as again:
        assert again.moves == ["f5", "f6"]
        assert again.state["players"]["white"]["human"]


NO_VISITS = ["", "{", "[]", "null", '{"format": 0}', '{"format": 1, "game": 3}', "[" * 10**5]


def test_files_that_are_no_visits_are_left_alone(server: Server) -> None:
    folder = Path(server.table.settings.web.folder)
    for index, content in enumerate(NO_VISITS):
        number = str(index) * 22
        (folder / f"{number}.json").write_text(content)
        with server.page(number) as page:
            assert page.visit != number
            assert page.moves == []


def test_only_the_latest_visits_are_kept(serve: Serve, tmp_path: Path) -> None:
    server = serve("web.kept=2", "white=human")
    for age in range(4, 0, -1):
        with server.page() as page:
            path = tmp_path / "visits" / f"{page.visit}.json"
        os.utime(path, (1e9 - age, 1e9 - age))
    assert len(list((tmp_path / "visits").iterdir())) == 2


def test_there_are_only_so_many_games_at_once(serve: Serve) -> None:
    server = serve("web.games=2", "white=human")
    with server.page() as one, server.page():
        with server.line() as third:
            third.send({"type": "hello", "visit": None})
            assert third.hear()["text"].startswith("all games that may be open at once (2) are")
            with pytest.raises(ConnectionClosed) as closed:
                third.hear()
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1013
        assert one.move("d3") is None
    with server.page() as later:
        assert later.moves == []


# ---------------------------------------------------------------------- nonsense

NONSENSE = {
    "{": "the message is no JSON",
    "[" * 20_000: "the message is no JSON",
    "[]": "an object with a type is needed",
    '{"type": "shout"}': "unknown type 'shout'",
    '{"type": ["move"]}': "unknown type",
    '{"type": "move"}': "move: move is missing",
    '{"type": "move", "move": "z9", "ply": 0}': "move.move=z9: a square is needed",
    '{"type": "move", "move": "d3", "ply": "0"}': "move.ply='0': a whole number",
    '{"type": "move", "move": "d3", "ply": 0, "for": 1}': "move has no 'for'",
    '{"type": "pace", "playing": true, "delay": NaN}': "the message is no JSON",
    '{"type": "pace", "playing": 1, "delay": 0}': "pace.playing=1: true or false is needed",
    '{"type": "pace", "playing": true, "delay": 1e9}': "pace.delay",
    '{"type": "players", "black": {"name": "a", "settings": {"depth": 1e999}}, "white": {}}': (
        "black.settings={'depth': inf}: an object with"
    ),
    '{"type": "undo", "ref": -1}': "ref: a whole number",
    '{"type": "hello"}': "hello has been said",
    '{"type": "new", "rules": "go", "black": {"name": "a"}, "white": {"name": "a"}}': "unknown",
    '{"type": "new", "rules": "wpi", "black": 3, "white": {"name": "a"}}': "a player, with its",
    '{"type": "players", "black": {"name": "a/b"}, "white": {"name": "a"}}': "black.name=a/b",
}


@pytest.mark.parametrize("text", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_closes_the_line_and_no_other(server: Server, page: Page, text: str) -> None:
    with server.page() as loud:
        loud.send(text)
        assert NONSENSE[text] in loud.hear_type("refused")["text"]
        with pytest.raises(ConnectionClosed) as closed:
            loud.hear()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
    assert page.move("d3") is None


QUESTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("decide", {}, "unknown question 'decide'"),
    ("texts", {"ply": -1}, "ply=-1"),
    ("games", {}, "games: run is missing"),
    ("games", {"run": "../../etc"}, "unknown run '../../etc'"),
]


@pytest.mark.parametrize(("name", "options", "told"), QUESTIONS)
def test_what_cannot_be_asked(page: Page, name: str, options: dict[str, Any], told: str) -> None:
    assert told in page.ask(name, **options)["trouble"]
    assert page.move("d3") is None


def test_games_of_runs_are_those_in_the_list(page: Page) -> None:
    assert page.ask("runs")["ok"] == {"runs": []}
    recorded = {"run": "/etc", "game": 0}
    refused = page.tell("new", rules="standard", recorded=recorded, **PEOPLE)
    assert refused == "unknown run '/etc'"


def test_oversized_messages_close_the_line(server: Server, page: Page) -> None:
    with server.page() as loud:
        loud.send(json.dumps({"type": "move", "move": "d" * 600_000, "ply": 0}))
        with pytest.raises(ConnectionClosed) as closed:
            loud.hear()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    assert page.move("d3") is None


def test_too_many_messages_close_the_line(serve: Serve) -> None:
    with serve("web.messages=1", "white=human").page() as page:
        with contextlib.suppress(ConnectionClosed):  # before all is said
            for _ in range(20):
                page.send({"type": "undo"})
        assert page.hear_type("refused")["text"] == "too many messages"


def test_a_page_that_vanishes_can_come_back(server: Server, page: Page) -> None:
    with server.page() as lost:
        lost.move("d3")
        lost.line.socket.shutdown(socket.SHUT_RDWR)
        assert page.move("d3") is None
    with server.page(lost.visit) as again:
        assert again.moves == ["d3"]


def test_who_does_not_greet_is_shut_out(server: Server) -> None:
    with server.line() as page:
        page.send({"type": "undo"})
        assert page.hear()["text"] == "the first message has to be hello"


# ---------------------------------------------------------------------- the command


def test_a_busy_port_is_named_with_the_next_free_one(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["web", f"web.port={server.port}", "web.browser=false"]) == 2
    told = capsys.readouterr().err
    assert f"web.port={server.port}: Address already in use; web.port=" in told
    assert told.endswith(" is free\n")


COMMANDS = {
    "web.port=0": "web.port=0: a whole number from 1 to 65535 is needed",
    "web.host=a/b": "web.host=a/b: an address or the name of a host is needed",
    "web.colour=red": "unknown setting 'web.colour'",
    "web.folder=/proc/x": "web.folder=/proc/x:",
    "--loud": "unknown option --loud",
}


@pytest.mark.parametrize("word", COMMANDS)
def test_what_is_wrong_is_said_in_a_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "web.browser=false", word]) == 2
    told = capsys.readouterr().err
    assert COMMANDS[word] in told
    assert told.count("\n") == 1


def test_help_shows_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "--help"]) == 0
    assert "port: 8377" in capsys.readouterr().out


def test_without_the_extra_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "othello_lab.play.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["web"]) == 2
    assert "pip install '.[play]'" in capsys.readouterr().err
