"""The server: one page, and a WebSocket for each that is open."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import mimetypes
import os
import socket
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from othello_lab.core.position import prepare_rules
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.processes import LINUX
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.agent_process import AgentFailure
from othello_lab.play.config import GameSetup, WebConfig, is_local
from othello_lab.play.web import messages
from othello_lab.play.web.connections import OpenConnections
from othello_lab.play.web.visit_session import Outbox, RateLimit, VisitSession, VisitSessions
from othello_lab.play.web.visits import ActionRefused

STATIC = Path(__file__).parent / "static"
PAGES = {"/": "index.html", "/lecture": "lecture.html"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_LINES = 8  # connections to each game that may be open
_HELLO = 10.0  # seconds until the first message
_TIDY = 5.0  # seconds from one look at what nobody needs any more to the next
_PORTS = 100  # how many are tried for a free one
_WRONG, _BUSY = 1008, 1013  # why a WebSocket is closed, RFC 6455


class SameHostOnly:
    """Lets in nobody who comes from another site: the host has to be this machine's, and a
    WebSocket has to come from a page of this server."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._local = is_local(host)
        self._names = {*_LOCAL, host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._may_enter(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(_WRONG)
        else:
            await PlainTextResponse("This is not for you.\n", 403)(scope, receive, send)

    def _may_enter(self, scope: Scope) -> bool:
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        host = headers.get("host", "").lower()
        name, _, port = host.rpartition(":")
        if not self._is_ours(name if port.isdigit() else host):
            return False
        return scope["type"] != "websocket" or headers.get("origin", "").lower() == f"http://{host}"

    def _is_ours(self, name: str) -> bool:
        """Return True if a page may call the server by this name. If it is open to others, any
        address will do: other sites lead here by names."""
        if name in self._names:
            return True
        if self._local:
            return False
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name.strip("[]"))
            return True
        return False


def application(setup: GameSetup, connections: OpenConnections) -> ASGIApp:
    """The server as an ASGI application."""
    sessions = VisitSessions(setup)
    files = {path.name: read_bytes(path) for path in sorted(STATIC.iterdir()) if path.is_file()}

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tidying = asyncio.get_running_loop().create_task(tidy())
        try:
            yield
        finally:
            tidying.cancel()
            sessions.close()

    async def tidy() -> None:
        while True:
            await asyncio.sleep(_TIDY)
            sessions.tidy()
            connections.tidy()
            await sessions.memory.check()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name") or PAGES[request.url.path]
        if name not in files:
            return PlainTextResponse("There is no such page.\n", 404, _HEADERS)
        kind = mimetypes.types_map.get(Path(name).suffix, "application/octet-stream")
        return Response(files[name], headers=_HEADERS, media_type=kind)

    async def line(websocket: WebSocket) -> None:
        await websocket.accept()
        await PageConnection(websocket, sessions, setup.settings.web).serve()

    routes = [
        *(Route(path, page) for path in PAGES),
        Route("/static/{name}", page),
        WebSocketRoute("/line", line),
    ]
    return SameHostOnly(Starlette(routes=routes, lifespan=lifespan), setup.settings.web.host)


class PageConnection:
    """The line to one page."""

    def __init__(self, websocket: WebSocket, sessions: VisitSessions, settings: WebConfig) -> None:
        self._websocket, self._sessions = websocket, sessions
        self._outbox = Outbox(100)
        self._patience = RateLimit(settings.messages)
        self._longest = settings.message_kb << 10

    async def serve(self) -> None:
        """Talk until one side ends it. A page that sends invalid messages gets an answer and is
        shut out; so is one that talks too much."""
        sender = asyncio.get_running_loop().create_task(self._send_all())
        session = None
        try:
            async with asyncio.timeout(_HELLO):
                hello, _ = await self._receive()
            if not isinstance(hello, messages.HelloMessage):
                raise messages.MessageError("the first message has to be hello")
            session = self._sessions.session_of(hello.visit)
            self._outbox.put(
                {
                    "type": "welcome",
                    "visit": session.visit.number,
                    "known": hello.visit in (None, session.visit.number),
                    "catalogue": self._sessions.catalogue.data,
                    "marks": self._sessions.marks,
                }
            )
            session.enter(self._outbox)
            while not sender.done():
                await self._obey(session, *await self._receive())
        except messages.MessageError as error:
            await self._end(sender, _WRONG, str(error))
        except (ActionRefused, ConfigError) as refused:
            await self._end(sender, _BUSY, str(refused))
        except (WebSocketDisconnect, TimeoutError, OSError, RuntimeError):
            pass
        finally:
            sender.cancel()
            if session is not None:
                session.leave(self._outbox)

    async def _receive(self) -> tuple[Any, int | None]:
        """The next message and its number; raises MessageError."""
        event = await self._websocket.receive()
        if event["type"] != "websocket.receive":
            raise WebSocketDisconnect
        text = event.get("text")
        if text is None:
            raise messages.MessageError("text is needed")
        if len(text.encode("utf-8", "replace")) > self._longest:
            raise messages.MessageError(f"a message may have {self._longest} bytes")
        if not self._patience.take():
            raise messages.MessageError("too many messages")
        return messages.read(text)

    async def _obey(self, session: VisitSession, message: Any, ref: int | None) -> None:
        if isinstance(message, messages.HelloMessage):
            raise messages.MessageError("hello has been said")
        reference = {} if ref is None else {"ref": ref}
        try:
            await session.obey(message, self._outbox)
        except (ValueError, AgentFailure) as error:
            text = " ".join(str(error).split())
            if isinstance(message, messages.AskMessage):
                self._outbox.put({"type": "answer", "id": message.id, "trouble": text})
            else:
                self._outbox.put({"type": "error", "text": text} | reference)
        else:
            if reference:
                self._outbox.put({"type": "done"} | reference)

    async def _send_all(self) -> None:
        while True:
            text = json.dumps(await self._outbox.take())
            try:
                if self._outbox.overflowed:
                    raise OSError
                await self._websocket.send_text(text)
            except (OSError, RuntimeError):
                with contextlib.suppress(Exception):
                    await self._websocket.close(_BUSY)
                return

    async def _end(self, sender: asyncio.Task[None], code: int, why: str) -> None:
        sender.cancel()
        with contextlib.suppress(Exception):
            await self._websocket.send_text(json.dumps({"type": "refused", "text": why}))
            await self._websocket.close(code, why[:100])


# ---------------------------------------------------------------------- from the command line


def serve(setup: GameSetup) -> None:
    """Serve until Ctrl-C; raises ConfigError if that cannot begin."""
    settings = setup.settings.web
    with _listen(settings) as listening:
        connections = OpenConnections(_LINES * settings.games)
        app = application(setup, connections)
        server = uvicorn.Server(_uvicorn(app, settings, connections))
        prepare_rules(print)
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"http://{name}:{settings.port}/"
        print(f"The board is at {address}  (Ctrl-C ends it)", flush=True)
        if not is_local(settings.host):
            print("Everybody who can reach this machine can play, and use its processors.")
        # Without a screen it would be a browser for the terminal, which is the server's.
        has_screen = not LINUX or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
        if settings.browser and has_screen:
            webbrowser.open(address)
        server.run([listening])


def _uvicorn(app: ASGIApp, settings: WebConfig, connections: OpenConnections) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=connections.watched(H11Protocol),
        ws=connections.watched(WebSocketsSansIOProtocol),
        ws_max_size=settings.message_kb << 10,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def _listen(settings: WebConfig) -> socket.socket:
    """Return the socket at which the server listens; ConfigError if there can be none."""
    try:
        return _bound(settings.host, settings.port)
    except OSError as error:
        if isinstance(error, socket.gaierror):
            raise ConfigError(f"web.host={settings.host}: no such host") from None
        free = _next_free(settings)
        hint = f"; web.port={free} is free" if free else ""
        why = os.strerror(error.errno or 0)
        raise ConfigError(f"web.port={settings.port}: {why}{hint}") from None


def _bound(host: str, port: int) -> socket.socket:
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    both = family is socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)


def _next_free(settings: WebConfig) -> int | None:
    for port in range(settings.port + 1, min(65536, settings.port + _PORTS)):
        with contextlib.suppress(OSError), _bound(settings.host, port):
            return port
    return None
