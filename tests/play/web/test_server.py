"""The server, asked as a page asks it: who is let in, what it answers, and what it refuses."""

from __future__ import annotations

import contextlib
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
from runs import line_of as said

pytest.importorskip("starlette", reason="the extra play is not installed")

from served import HUMAN, PEOPLE, Page, Server, served
from websockets.exceptions import ConnectionClosed, InvalidStatus

from othello_lab.core.system.processes import available_cores
from othello_lab.play.web.messages import LONGEST_TEXT

Serve = Callable[..., Server]
GREEDY = {"name": "greedy", "settings": {}}


def agent(name: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "settings": settings}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """``serve("white=greedy")``: a server with these settings."""
    with ExitStack() as stack:
        yield lambda *words, **where: stack.enter_context(served(tmp_path, *words, **where))


def test_the_page_has_nothing_from_elsewhere(house: Server) -> None:
    for path in ("/", "/static/app.js", "/static/style.css", "/static/icon.svg"):
        status, headers, text = house.get(path)
        assert status == 200
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        text = text.replace("http://www.w3.org/2000/svg", "")
        assert not any(word in text for word in ("http://", "https://", " style=", "onclick="))


@pytest.mark.integration
def test_only_its_own_files_under_names_of_this_machine_are_served(
    house: Server, serve: Serve
) -> None:
    for path in ("/static/../server.py", "/static/%2e%2e%2fserver.py", "/x"):
        assert house.get(path)[0] == 404
    for host in ("localhost:1", "[::1]:1", "LOCALHOST"):
        assert house.get("/", host=host)[0] == 200
    for host in ("evil.example", "10.0.0.1", ""):
        assert house.get("/", host=host)[0] == 403
    server = serve("web.host=0.0.0.0")  # addresses lead here now, strange names do not
    assert server.get("/", host="10.0.0.1:8377")[0] == 200
    assert server.get("/", host="evil.example")[0] == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_pages_of_other_sites_get_no_line(house: Server, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused, house.line(origin):
        pass
    assert refused.value.response.status_code == 403


def test_a_person_plays_an_agent(page: Page) -> None:
    assert page.tell("players", white=GREEDY) is None
    assert page.state["position"]["legal"] == ["d3", "c4", "f5", "e6"]
    assert "traps nothing" in str(page.move("a1"))
    assert page.move("d3") is None
    first, second = page.wait_for(lambda state: len(state["moves"]) == 2)["moves"]
    assert (first["color"], first["by"], first["flipped"]) == ("black", "human", ["d4"])
    assert (second["color"], second["by"]) == ("white", "greedy")
    assert second["decision"]["nodes"] == 4
    assert "occupied" in str(page.move("d3"))
    assert "gone on" in str(page.tell("move", move="e3", ply=0))
    assert page.tell("undo") is None
    assert page.moves == []
    for word in ("undo", "go", "stop"):
        assert page.tell(word)
    assert page.tell("resign") is None
    assert page.state["outcome"].startswith("Black resigns")
    assert "over" in str(page.move("d3"))
    assert "0 moves" in str(page.tell("back", moves=1, ply=0))
    assert page.state["over"]
    assert page.tell("back", moves=0, ply=0) is None  # to before the resignation
    assert not page.state["over"]


@pytest.mark.integration
def test_two_agents_play_step_by_step_or_by_themselves(page: Page) -> None:
    players = {"black": agent("random"), "white": GREEDY}
    assert page.tell("new", rules="mini4", playing=False, **players) is None
    assert "random" in str(page.move("a2"))
    assert page.tell("step") is None
    page.wait_for(lambda state: len(state["moves"]) == 1 and not state["thinking"])
    assert page.tell("go") is None  # as a step, since the game does not play by itself
    page.wait_for(lambda state: len(state["moves"]) == 2 and not state["thinking"])
    assert page.tell("pace", playing=True, delay=0) is None
    page.wait_for(lambda state: state["over"])
    assert "over" in str(page.tell("resign"))
    moves = page.moves
    assert page.tell("back", moves=3, ply=len(moves)) is None
    assert page.moves == moves[:3]
    assert page.state["pace"]["playing"] is False
    assert "3 moves" in str(page.tell("back", moves=4, ply=3))


@pytest.mark.nightly
def test_each_game_of_a_visit_has_a_seed_of_its_own(house: Server) -> None:
    played = []
    for _ in range(2):
        with house.page() as page:
            for _ in range(2):
                players = {"black": agent("random"), "white": agent("random")}
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


def test_games_are_put_in_and_taken_along(page: Page) -> None:
    for rules, text, moves in (
        ("standard", "f5d6c3", 3),
        ("mini4", "(;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]B[a2];)", 1),
        ("mini4", "-----OX--XO----- X", 0),
    ):
        assert page.tell("new", rules=rules, text=text, **PEOPLE) is None
        assert len(page.moves) == moves
        position = page.state["position"]
        texts = page.ask("texts")["ok"]
        assert texts["obf"].split()[0] == position["board"]
        for kind in ("ggf", "text"):
            assert page.tell("new", rules=rules, text=texts[kind], **PEOPLE) is None
            assert page.state["position"] == position
            assert len(page.moves) == moves


def test_openings_and_names_in_a_game_are_told(page: Page) -> None:
    assert page.tell("new", rules="standard", text="c4e3f6e6f5c5", **PEOPLE) is None
    names = ["", "", *["Perpendicular Opening"] * 3, "Tiger", "Tiger"]
    assert page.state["openings"] == names
    board = "8 " + "-" * 27 + "O*------*O" + "-" * 27 + " *"
    text = f"(;GM[Othello]PB[anna]PW[bert]TY[8]BO[{board}]B[d3]W[c3];)"
    assert page.tell("new", rules="standard", text=text, **PEOPLE) is None
    assert "PB[anna]PW[bert]" in page.ask("texts")["ok"]["ggf"]
    assert page.tell("resign") is None
    assert "RE[-64:r]" in page.ask("texts")["ok"]["ggf"]
    shown = page.state["players"]
    assert [shown[color]["played"] for color in ("black", "white")] == ["anna", "bert"]


@pytest.mark.integration
def test_hints_fit_the_board_and_the_opponent(page: Page) -> None:
    assert page.ask("hint")["ok"]["by"].startswith("alphabeta")
    assert page.tell("new", rules="mini6", **PEOPLE) is None
    assert "DiscCount" in page.ask("hint")["ok"]["by"]
    champion = agent("champion", depth=2)
    assert page.tell("new", rules="standard", black=HUMAN, white=champion) is None
    said = page.ask("hint")["ok"]
    assert said["by"].startswith("champion")
    assert said["move"] in page.state["position"]["legal"]


def test_what_is_no_game_is_refused(page: Page) -> None:
    page.move("d3")
    for text, words in {
        "f5f5": "f5: square occupied",
        "XX- X": "3 squares instead of 64",
        "(;GM[Go];)": "BO",
        '[Event "x"]\n\n1. e4 e5': "PGN of chess",
        "(;GM[Othello]BO[4 ---- -O*- -*O- ---- *];)": "4x4",
        "Othello game\nruleset: none": "'none'",
        "é" * LONGEST_TEXT: "without moves",
    }.items():
        assert words in str(page.tell("new", rules="standard", text=text, **PEOPLE))
        assert page.moves == ["d3"]
    assert page.ask("runs")["ok"] == {"runs": []}  # others are not to be had
    recorded = {"run": "/etc", "game": 0}
    assert "'/etc'" in str(page.tell("new", rules="standard", recorded=recorded, **PEOPLE))


def test_only_agents_and_settings_of_the_list_can_be_had(page: Page) -> None:
    for seat, words in (
        (agent("nobody"), "'nobody'"),
        (agent("human", depth=3), "person"),
        (agent("alphabeta", depth=65), "from 1 to 64"),
        (agent("greedy", depth=3), "'depth'"),
        (agent("pvs", table_mb=257), "at most 256 here (web.memory_mb)"),
        (agent("champion", endgame_threads=1 << 20), f"at most {available_cores()} here"),
        (agent("minimax", _target_="os.system"), "'_target_'"),
        (agent("mtdf", evaluation={"_target_": "os.system"}), "evaluation"),
        (agent("maximizer", evaluation="/etc/passwd:f"), "'/etc/passwd:f'"),
        (agent("mcts_greedy", evaluation="function"), "'function'"),
        (agent("probcut", probcut="/etc/passwd"), "probcut=/etc/passwd"),
        (agent("iterative", ordering="a/b"), "ordering=a/b"),
        (agent("singular", compiled=None), "compiled=None"),
        (agent("tapered", taper=["x"]), "taper=['x']"),
        (agent("mcts", playouts={"a": 1}), "playouts={'a': 1}"),
    ):
        assert words in str(page.tell("players", black=HUMAN, white=seat))
    assert page.tell("undo")  # nothing has changed, and the line is open
    assert page.state["players"]["white"]["name"] == "human"


def test_settings_are_those_that_were_asked_for(page: Page) -> None:
    chosen = {"depth": 2, "evaluation": "iago", "ordering": "killer+static", "table_mb": 8}
    seat = agent("alphabeta", **chosen)
    assert page.tell("players", black=HUMAN, white=seat) is None
    white = page.state["players"]["white"]
    assert white["settings"] == chosen
    assert white["described"] == "alphabeta depth=2 ordering=killer+static evaluation=Iago"
    for players in ({"black": HUMAN, "white": seat}, {"black": None}):
        assert "evaluation=disc_count" in str(page.tell("new", rules="mini6", **players))
    assert page.tell("new", rules="wpi") is None
    assert page.state["players"]["white"] == white


def test_a_long_search_is_announced_and_stopped_at_once(page: Page) -> None:
    assert page.tell("players", white=agent("minimax", depth=30)) is None
    page.move("d3")
    page.wait_for(lambda state: "depth 30 would take" in state["note"])
    assert page.state["thinking"]
    assert "Ctrl-C" not in page.state["note"]
    assert page.tell("stop") is None
    state = page.wait_for(lambda state: state["halted"])
    assert "minimax" in state["trouble"]
    assert page.moves == ["d3"]
    assert page.tell("players", black=HUMAN, white=GREEDY) is None
    page.wait_for(lambda state: len(state["moves"]) == 2)


@pytest.mark.integration
def test_a_search_has_an_end(serve: Serve) -> None:
    with serve("white=minimax", "white.depth=30", "web.seconds=1").page() as page:
        page.move("d3")
        state = page.wait_for(lambda state: state["halted"])
        assert "no answer for 1 s" in state["trouble"]


@pytest.mark.integration
def test_a_question_is_answered_while_an_agent_thinks(page: Page) -> None:
    deep = agent("minimax", depth=40)
    assert page.tell("players", black=deep, white=HUMAN) is None
    page.wait_for(lambda state: state["thinking"])
    assert page.ask("values", player=GREEDY)["ok"]["moves"]
    assert page.tell("stop") is None


def test_files_that_are_no_visits_are_left_alone(house: Server) -> None:
    folder = Path(house.setup.settings.web.folder)
    contents = ["", "{", "[]", "null", '{"format": 0}', '{"format": 1, "game": 3}', "[" * 10**5]
    for index, content in enumerate(contents):
        number = str(index) * 22
        (folder / f"{number}.json").write_text(content)
        with house.page(number) as page:
            assert page.visit != number
            assert page.moves == []


@pytest.mark.integration
def test_only_the_latest_visits_are_kept(serve: Serve, tmp_path: Path) -> None:
    server = serve("web.kept=2", "white=human")
    for age in range(4, 0, -1):
        with server.page() as page:
            path = tmp_path / "visits" / f"{page.visit}.json"
        os.utime(path, (1e9 - age, 1e9 - age))
    files = list((tmp_path / "visits").iterdir())
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "visits").stat().st_mode) == 0o700


def closed_with(page: Page) -> int:
    """The code with which the server closes the line."""
    with pytest.raises(ConnectionClosed) as closed:
        page.hear()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


@pytest.mark.integration
def test_there_are_only_so_many_games_at_once(serve: Serve) -> None:
    server = serve("web.games=2", "white=human")
    with server.page() as one, server.page():
        with server.line() as third:
            third.send({"type": "hello", "visit": None})
            assert "at once (2)" in third.hear()["text"]
            assert closed_with(third) == 1013
        assert one.move("d3") is None
    with server.page() as later:
        assert later.moves == []


A, B = '"black": {"name": "a"}', '"white": {"name": "a"}'
NONSENSE = {
    "{": "JSON",
    "[" * 20_000: "JSON",
    "[]": "object",
    '{"type": "shout"}': "'shout'",
    '{"type": ["move"]}': "type",
    '{"type": "move"}': "missing",
    '{"type": "move", "move": "z9", "ply": 0}': "move.move=z9",
    '{"type": "move", "move": "d3", "ply": "0"}': "move.ply='0'",
    '{"type": "move", "move": "d3", "ply": 0, "for": 1}': "for'",
    '{"type": "pace", "playing": true, "delay": NaN}': "JSON",
    '{"type": "pace", "playing": 1, "delay": 0}': "pace.playing=1",
    '{"type": "pace", "playing": true, "delay": 1e9}': "pace.delay",
    '{"type": "players", "black": {"name": "a", "settings": {"depth": 1e999}}, "white": {}}': "inf",
    '{"type": "undo", "ref": -1}': "ref",
    '{"type": "hello"}': "hello",
    f'{{"type": "new", "rules": "go", {A}, {B}}}': "unknown",
    f'{{"type": "new", "rules": "wpi", "black": 3, {B}}}': "black=3",
    f'{{"type": "players", "black": {{"name": "a/b"}}, {B}}}': "black.name=a/b",
}


def test_nonsense_closes_the_line_and_no_other(house: Server, page: Page) -> None:
    for text, words in NONSENSE.items():
        with house.page() as loud:
            loud.send(text)
            assert words in loud.hear_type("refused")["text"]
            assert closed_with(loud) == 1008
    with house.page() as loud:
        loud.send(json.dumps({"type": "move", "move": "d" * 600_000, "ply": 0}))
        assert closed_with(loud) == 1009
    with house.line() as stranger:
        stranger.send({"type": "undo"})
        assert "hello" in stranger.hear()["text"]
    assert page.move("d3") is None


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("values", {}, "player"),
        ("values", {"player": HUMAN}, "person"),
        ("values", {"player": {"name": "../greedy"}}, "name"),
        ("values", {"player": agent("nobody")}, "nobody"),
        ("values", {"player": GREEDY, "ply": 201}, "ply=201"),
        ("course", {"player": {**GREEDY, "agent": {"_target_": "os.abort"}}}, "agent'"),
        ("tree", {"player": agent("alphabeta", depth=10**9)}, "depth=1000000000"),
        ("tree", {"player": agent("alphabeta"), "depth": 3}, "depth'"),
        ("parts", {"evaluation": "mine.py:f"}, "evaluation"),
        ("parts", {"evaluation": "function"}, "'function'"),
        ("parts", {"evaluation": {"_target_": "os.abort"}}, "evaluation"),
        ("decide", {}, "'decide'"),
        ("texts", {"ply": -1}, "ply=-1"),
        ("games", {}, "run"),
        ("games", {"run": "../../etc"}, "../../etc"),
    ],
)
def test_what_cannot_be_asked(page: Page, name: str, options: dict[str, Any], why: str) -> None:
    answer = page.ask(name, **options)
    assert why in answer["trouble"]
    assert "\n" not in answer["trouble"]
    assert page.move("d3") is None


@pytest.mark.integration
def test_too_many_messages_close_the_line(serve: Serve) -> None:
    with serve("web.messages=1", "white=human").page() as page:
        with contextlib.suppress(ConnectionClosed):  # before all is said
            for _ in range(20):
                page.send({"type": "undo"})
        assert "many" in page.hear_type("refused")["text"]


def test_a_page_that_vanishes_can_come_back(house: Server, page: Page) -> None:
    with house.page() as lost:
        lost.move("d3")
        lost.line.socket.shutdown(socket.SHUT_RDWR)
        assert page.move("d3") is None
    with house.page(lost.visit) as again:
        assert again.moves == ["d3"]


def test_a_busy_port_is_named_with_the_next_free_one(house: Server) -> None:
    printed = said("play", "web", f"web.port={house.port}", "web.browser=false", code=2)
    assert printed.count("web.port=") == 2 and f"web.port={house.port}" in printed


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "othello_lab.play.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "'.[play]'" in said("play", "web", code=2)


@pytest.mark.integration
def test_idle_connections_keep_nobody_out(serve: Serve) -> None:
    server = serve()
    with ExitStack() as stack:
        page = stack.enter_context(server.page())
        for _ in range(450):
            idle = socket.create_connection(("127.0.0.1", server.port))
            stack.enter_context(idle).sendall(b"GET / HTTP/1.1\r\n")
        assert server.get("/")[0] == 200
        assert page.move("d3") is None, "its line was there before"
        stack.enter_context(server.page())


GET = "GET {} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n{}\r\n"
UPGRADE = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
UPGRADE += f"sec-websocket-key: {'A' * 22}==\r\n"
PING = b"\x89\xfd" + bytes(129)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", GET.format("/static/app.js", "").encode()),
        (GET.format("/line", UPGRADE).encode(), PING),
    ],
    ids=["pages", "pings"],
)
def test_who_does_not_read_is_closed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes
) -> None:
    monkeypatch.setattr("othello_lab.play.web.server._TIDY", 0.05)
    monkeypatch.setattr("othello_lab.play.web.connections.SLOWEST", 0.2)
    with socket.create_connection(("127.0.0.1", serve().port), 60) as line:
        line.sendall(first)
        with pytest.raises(ConnectionError):
            line.sendall(2_000_000 * then)
