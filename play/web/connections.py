"""Connections to the page. Those that are idle, or do not read, keep nobody else out."""

from __future__ import annotations

import resource
import time
from asyncio import Transport
from collections import Counter
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

SLOWEST = 30.0
"""Seconds that a page may take to read what was sent."""
_MOST_UNREAD = 8 << 20  # bytes


class OpenConnections:
    """All connections, in the order in which they have said something last.

    most: of them; half as many may come from one address. Of more, the longest idle one is closed,
    WebSockets after all others.
    """

    def __init__(self, most: int) -> None:
        self._most = min(most, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        self._open: dict[Transport, tuple[bool, str]] = {}
        self._unread: dict[Transport, float] = {}  # since when

    def watched(self, protocol: Any) -> Any:
        """Return a protocol of uvicorn as a class whose connections are kept here."""
        connections, lasts = self, protocol is WebSocketsSansIOProtocol

        class Watched(protocol):
            def connection_made(self, transport: Transport) -> None:
                super().connection_made(transport)
                connections._note_use(transport, lasts)

            def data_received(self, data: bytes) -> None:
                connections._note_use(self.transport, lasts)
                super().data_received(data)

            def connection_lost(self, error: Exception | None) -> None:
                connections._open.pop(self.transport, None)
                super().connection_lost(error)

        return Watched

    def _note_use(self, transport: Transport, lasts: bool) -> None:
        self._open.pop(transport, None)
        self._open[transport] = lasts, transport.get_extra_info("peername")[0]
        if transport.get_write_buffer_size() > _MOST_UNREAD:
            transport.abort()
        addresses = Counter(address for _, address in self._open.values())
        ((address, count),) = addresses.most_common(1)
        if len(self._open) > self._most or count > self._most // 2:
            crowd = [transport for transport, (_, its) in self._open.items() if its == address]
            idle = min(crowd, key=lambda transport: self._open[transport][0])
            del self._open[idle]
            idle.abort()

    def tidy(self) -> None:
        """Close connections that do not read."""
        now = time.monotonic()
        unread = [transport for transport in self._open if transport.get_write_buffer_size()]
        self._unread = {transport: self._unread.get(transport, now) for transport in unread}
        for transport, since in self._unread.items():
            if now - since > SLOWEST:
                transport.abort()
