"""Readers of streams, many in one process: raw sockets, and no more parsing than measuring needs."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable

import numpy as np

_NEW = re.compile(rb'"new":(\d+)[^{}]*\{[^{}]*\}[^{}]*\}')
_WHOLE = 4_096
"""More than one message takes; so much of the end of a chunk is looked at again with the next one."""


class Reader(asyncio.Protocol):
    """One stream of one subscription, over SSE or a WebSocket.

    `last` is the newest value heard, `heard` the number of messages, `delays` microseconds between a value's birth and
    its arrival. `on_news` is called after each chunk that held a value.
    """

    def __init__(self, identifier: str, websocket: bool, on_news: Callable[[Reader], None]) -> None:
        self.last = 0
        self.heard = 0
        self.conflated = 0
        self.chunks = 0
        self.delays: list[np.ndarray] = []
        self.timed = True
        self.ready = asyncio.Event()
        self.gone = False
        self._identifier = identifier
        self._websocket = websocket
        self._on_news = on_news
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        more = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        more = more + "AAAAAAAAAAAAAAAAAAAAAA==\r\n" if self._websocket else ""
        path = f"/subscriptions/{self._identifier}/events"
        host, port = transport.get_extra_info("peername")[:2]
        transport.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{more}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        """Find values; a message that is not whole yet waits."""
        now = int(time.monotonic() * 1e6)
        self.chunks += 1
        text = self._rest + data
        if not self.ready.is_set() and b'"answer"' in text:
            self.ready.set()
        found = list(_NEW.finditer(text))
        end = found[-1].end() if found else 0
        self._rest = text[max(end, len(text) - _WHOLE) :]
        if found:
            self.conflated += text.count(b'"conflated"', 0, end + 64)
            values = np.array([int(match[1]) for match in found])
            self.heard += len(values)
            self.last = int(values[-1])
            if self.timed:
                self.delays.append(now - values)
            self._on_news(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Note it; a reader is never left by its edge in these benchmarks."""
        self.gone = True

    def stop(self) -> None:
        """Read nothing any more."""
        self.timed = False
        self.transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        self.transport.resume_reading()


async def connect(
    host: str, port: int, count: int, on_news: Callable[[Reader], None], subscriptions: int, at_once: int = 50
) -> list[Reader]:
    """Return `count` readers, every second one on a WebSocket, once all have heard their first answer."""
    loop = asyncio.get_running_loop()
    gate = asyncio.Semaphore(at_once)

    async def one(number: int) -> Reader:
        async with gate:
            name = f"r{number % subscriptions}"
            _, reader = await loop.create_connection(lambda: Reader(name, number % 2 == 1, on_news), host, port)
            await asyncio.wait_for(reader.ready.wait(), 60)
        return reader

    return list(await asyncio.gather(*(one(number) for number in range(count))))
