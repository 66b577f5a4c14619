"""A server for tests, and pages that talk to it as a browser's do."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import misbehaving
from processes import await_
from websockets.sync.client import ClientConnection, connect

from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.play.config import GameSetup, read
from othello_lab.play.web.server import serve

HUMAN = {"name": "human", "settings": {}}
PEOPLE = {"black": HUMAN, "white": HUMAN}
OWN = Path(misbehaving.__file__).read_text("utf-8").replace("after: int = 3", "after: int = 0")
OWN += "\ndef discs(player, board): return board.count(player)\n"
"""Agents of one's own for a server's folder."""
_PATIENCE = 60.0  # the machine may be busy


class Page:
    """One page's line to the server."""

    def __init__(self, line: ClientConnection) -> None:
        self.line = line
        self.number = 0
        self.state: dict[str, Any] = {}
        self.visit = ""

    def send(self, message: str | dict[str, Any]) -> None:
        self.line.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> dict[str, Any]:
        """The next message; raises ConnectionClosed."""
        message: dict[str, Any] = json.loads(self.line.recv(_PATIENCE))
        if message["type"] == "state":
            self.state = message
        return message

    def hear_until(self, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        while not fits(message := self.hear()):
            pass
        return message

    def hear_type(self, *types: str) -> dict[str, Any]:
        return self.hear_until(lambda message: message["type"] in types)

    def greet(self, visit: str | None = None) -> Page:
        self.send({"type": "hello", "visit": visit})
        self.visit = self.hear_type("welcome")["visit"]
        self.hear_type("state")
        return self

    def tell(self, kind: str, **fields: Any) -> str | None:
        """Say something; what the server refuses about it, or None, and then the state is new."""
        self.number += 1
        self.send({"type": kind, "ref": self.number} | fields)
        answer = self.hear_until(lambda message: message.get("ref") == self.number)
        if answer["type"] == "error":
            return str(answer["text"])
        self.hear_type("state")
        return None

    def ask(self, name: str, **options: Any) -> dict[str, Any]:
        """Ask something; the answer, or what the trouble is."""
        self.number += 1
        self.send({"type": "ask", "id": self.number, "name": name, "options": options})
        return self.hear_until(
            lambda message: message["type"] == "answer" and message["id"] == self.number
        )

    def move(self, square: str) -> str | None:
        return self.tell("move", move=square, ply=len(self.state["moves"]))

    def wait_for(self, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The state, as soon as it is so."""
        while not fits(self.state):
            self.hear()
        return self.state

    @property
    def moves(self) -> list[str]:
        return [move["move"] for move in self.state["moves"]]


class Server:
    """A server in a process of its own."""

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        self.port = setup.settings.web.port
        self.host = f"127.0.0.1:{self.port}"
        self.process = ForkedProcess(_serve, setup)
        await_(lambda: self._listens() or self.process.has_ended())
        self.get("/")

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def get(self, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
        """Status, headers and text of what is answered."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        line.putrequest("GET", path, skip_host=bool("host" in headers))
        for name, value in headers.items():
            line.putheader(name, value)
        line.endheaders()
        answer = line.getresponse()
        text = answer.read().decode()
        line.close()
        return answer.status, answer.headers, text

    @contextmanager
    def line(self, origin: str | None = "", **headers: str) -> Iterator[Page]:
        """A line on which nothing was said yet. origin: empty for this server's own pages."""
        source = f"http://{self.host}" if origin == "" else origin
        with connect(
            f"ws://{self.host}/line",
            origin=source,  # type: ignore[arg-type]
            additional_headers=headers,
            open_timeout=_PATIENCE,
            max_size=None,
            proxy=None,
        ) as line:
            yield Page(line)

    @contextmanager
    def page(self, visit: str | None = None) -> Iterator[Page]:
        """A page, of this visit or a new one."""
        with self.line() as page:
            yield page.greet(visit)

    def close(self) -> None:
        self.process.close()


def _serve(link: Channel, setup: GameSetup) -> None:
    serve(setup)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    folder: Path, *words: str, folders: Sequence[str] = (), port: int | None = None
) -> Iterator[Server]:
    """A server that keeps all in a folder, with these settings."""
    where = [f"web.folder={folder}/visits", f"web.runs={folder}/runs", "web.browser=false"]
    server = Server(read([*where, f"web.port={port or free_port()}", *words], folders))
    try:
        yield server
    finally:
        server.close()
