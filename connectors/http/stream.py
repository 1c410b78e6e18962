"""Answers as they change, over Server-Sent Events and WebSockets: the same messages, each one line of JSON.

    GET /subscriptions/{id}/events                SSE; 307 at another edge; 404 unknown; 503 moving now, or full
    GET /events?id=a&id=b                         SSE of several subscriptions
    the same with `Upgrade: websocket`            a text message holds one message or more, one on each line

    ?progress=SECONDS    at most one progress message in so many seconds while nothing changes (default 1)
    ?redirect=no         what one other edge has is told as `elsewhere`, for browsers: they follow no WebSocket
    Last-Event-ID        (or ?last_event_id=) the mark of the last message that was seen, to go on from there

What is told is decided behind `Streams` (`overlay/push/board.py`); here it is put on the wire. A reader that does not
take what it is sent holds up its own coroutine and nothing else; after `STALLED_SECONDS` it is given up. What is large
goes out in pieces, the next one when the last one is taken: so a reader has little of its own in memory, and messages
that many are told stand there once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from connectors.http.answer import Answer, Elsewhere, NotNow, refusal, respond
from connectors.http.identifier import identifier_in_path, identifiers_in_query
from connectors.http.protocol import FRAGMENTS
from connectors.http.rules import SUBPROTOCOL, HttpRules

STALLED_SECONDS = 300.0
PIECE_BYTES = 65_536
LONGEST_PROGRESS = 3_600.0
SERVICE_RESTART = 1012
"""The WebSocket close code that says: come back."""


@dataclass(frozen=True, slots=True)
class Portion:
    """What a reader is sent at once: messages as lines of JSON (none: a heartbeat), and the mark behind the last one.

    `retry_ms`: the stream is over with this portion; the reader may come back after so long.
    """

    lines: list[bytes]
    mark: str = ""
    retry_ms: int | None = None


class Stream(Protocol):
    """What one reader hears. For the server's event loop only."""

    async def take(self) -> Portion:
        """Return what is to be sent next, once there is something."""
        ...

    def close(self) -> None:
        """Forget the reader."""
        ...


class Streams(Protocol):
    """Opens streams. For the server's event loop only."""

    async def open(
        self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Stream | Answer:
        """Return a stream of `identifiers`, or what is to be answered in its place.

        `single`: an unknown subscription is an answer (404), and not a message. `redirect`: so is another edge that has
        all of them.
        """
        ...


class EventStreams:
    """The endpoints, for either protocol. `of_tenant`: how many streams and looks of each tenant are served."""

    def __init__(self, streams: Streams, rules: HttpRules, of_tenant: Counter[str] | None = None) -> None:
        self._streams = streams
        self._rules = rules
        self._of_tenant = Counter[str]() if of_tenant is None else of_tenant

    async def one_by_sse(self, request: Request) -> Response:
        """Serve `GET /subscriptions/{identifier}/events`."""
        return _sse(await self._open(request, [identifier_in_path(request, "/events")], single=True))

    async def several_by_sse(self, request: Request) -> Response:
        """Serve `GET /events?id=a&id=b`."""
        return _sse(await self._open(request, identifiers_in_query(request), single=False))

    async def one_by_websocket(self, socket: WebSocket) -> None:
        """Serve the same to a WebSocket."""
        await _websocket(socket, await self._open(socket, [identifier_in_path(socket, "/events")], single=True))

    async def several_by_websocket(self, socket: WebSocket) -> None:
        """Serve the same to a WebSocket."""
        await _websocket(socket, await self._open(socket, identifiers_in_query(socket), single=False))

    async def _open(self, asked: HTTPConnection, ids: list[str], *, single: bool) -> Stream | Response:
        refused = self._rules.admit(asked, ids) or self._refuse(asked, ids)
        if refused is not None:
            return refused
        progress = _seconds(asked.query_params.get("progress", "1"))
        if progress is None:
            return refusal(400, "malformed", f"`progress` must be 0 to {LONGEST_PROGRESS:g} seconds")
        mark = asked.headers.get("last-event-id") or asked.query_params.get("last_event_id") or None
        redirect = single or asked.query_params.get("redirect") != "no"
        opened = await self._open_of(self._rules.own_prefix(asked), ids, mark, progress, single, redirect)
        if not isinstance(opened, Answer):
            return opened
        query = asked.scope["query_string"].decode("latin-1")
        if single:
            return respond(ids[0], opened, "/events", query)
        if isinstance(opened, Elsewhere):
            return RedirectResponse(f"{opened.url}/events?{query}", 307)
        return respond("", opened)

    async def _open_of(
        self, tenant: str, ids: list[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Stream | Answer:
        """Open a stream that counts as its tenant's until it is closed."""
        most = self._rules.tenant_streams
        if self._rules.tenants and self._of_tenant[tenant] >= most:
            return NotNow(f"this tenant has {most} streams at this edge already (`http_tenant_streams`)")
        counted = _OfTenant(self._of_tenant, tenant)
        try:
            opened = await self._streams.open(ids, mark, progress, single, redirect)
        except BaseException:
            counted.close()
            raise
        if isinstance(opened, Answer):
            counted.close()
            return opened
        counted.stream = opened
        return counted

    def _refuse(self, asked: HTTPConnection, ids: Sequence[str]) -> Response | None:
        most = self._rules.stream_subscriptions
        if not 0 < len(ids) <= most:
            message = f"a stream has 1 to {most} subscriptions, got {len(ids)}. Name them as `?id=a&id=b`."
            return refusal(400, "subscriptions", message)
        return None


class _OfTenant:
    """A stream that is counted from now on until it is closed."""

    def __init__(self, counts: Counter[str], tenant: str) -> None:
        self.stream: Stream | None = None
        self._counts: Counter[str] | None = counts
        self._tenant = tenant
        counts[tenant] += 1

    async def take(self) -> Portion:
        """See Stream."""
        assert self.stream is not None
        return await self.stream.take()

    def close(self) -> None:
        """See Stream."""
        if self._counts is not None:
            self._counts[self._tenant] -= 1
            self._counts = None
        if self.stream is not None:
            self.stream.close()


def sse_frame(portion: Portion) -> bytes:
    """Return a portion as Server-Sent Events. The mark stands with the last message, so it covers all of them.

    Cost: one join; nothing is parsed. JSON as we write it holds neither line feeds nor carriage returns.
    """
    frames = b""
    if portion.lines:
        *others, last = portion.lines
        head = b"data: " + b"\n\ndata: ".join(others) + b"\n\n" if others else b""
        mark = b"id: " + portion.mark.encode() + b"\n" if portion.mark else b""
        frames = head + mark + b"data: " + last + b"\n\n"
    elif portion.retry_ms is None:
        frames = b": still here\n\n"
    return frames if portion.retry_ms is None else b"retry: %d\n\n" % portion.retry_ms + frames


def sse_pieces(portion: Portion) -> Iterator[bytes]:
    """Yield the bytes of `sse_frame`, at most `PIECE_BYTES` at a time."""
    if sum(map(len, portion.lines)) <= PIECE_BYTES:
        yield sse_frame(portion)
        return
    *others, last = portion.lines
    mark = b"id: " + portion.mark.encode() + b"\n" if portion.mark else b""
    if portion.retry_ms is not None:
        yield b"retry: %d\n\n" % portion.retry_ms
    yield from _pieces([(b"data: ", line, b"\n\n") for line in others] + [(mark + b"data: ", last, b"\n\n")])


def ws_pieces(portion: Portion) -> Iterator[bytes]:
    """Yield the bytes of `ws_frame`, at most `PIECE_BYTES` at a time."""
    first, *others = portion.lines
    yield from _pieces([(b"", first, b"")] + [(b"\n", line, b"") for line in others])


def _pieces(messages: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[bytes]:
    """Yield what messages have before, in and behind their lines; only lines that are too long are cut."""
    gathered = bytearray()
    for before, line, behind in messages:
        if gathered and len(gathered) + len(line) > PIECE_BYTES:
            yield bytes(gathered)
            gathered.clear()
        gathered += before + line[:PIECE_BYTES]
        if len(line) > PIECE_BYTES:
            yield bytes(gathered)
            yield from (line[start : start + PIECE_BYTES] for start in range(PIECE_BYTES, len(line), PIECE_BYTES))
            gathered.clear()
        gathered += behind
    if gathered:
        yield bytes(gathered)


def ws_frame(portion: Portion) -> str:
    """Return a portion as the text of one WebSocket message."""
    return (b"\n".join(portion.lines) if portion.lines else b'{"kind":"heartbeat"}').decode()


class _SseResponse(EventSourceResponse):
    """Sends a stream's portions until it is over, the reader has gone, or it has taken nothing for too long."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(_frames(stream), ping=0, send_timeout=STALLED_SECONDS, sep="\n")
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(SendTimeoutError):
                await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


def _sse(opened: Stream | Response) -> Response:
    return opened if isinstance(opened, Response) else _SseResponse(opened)


async def _frames(stream: Stream) -> AsyncIterator[bytes]:
    retry_ms = None
    while retry_ms is None:
        portion = await stream.take()
        retry_ms = portion.retry_ms
        for number, piece in enumerate(sse_pieces(portion)):
            if number:
                await asyncio.sleep(0)  # others' messages go between, though there may be room for all pieces
            yield piece


async def _websocket(socket: WebSocket, opened: Stream | Response) -> None:
    """Send until either side ends it; what the reader says is not listened to, except that it leaves."""
    if isinstance(opened, Response):
        await socket.send_denial_response(opened)
        return
    try:
        with suppress(WebSocketDisconnect, OSError):  # it may leave before it is let in
            await socket.accept(SUBPROTOCOL if SUBPROTOCOL in socket.scope.get("subprotocols", ()) else None)
            await _until_over(socket, opened)
    finally:
        opened.close()


async def _until_over(socket: WebSocket, stream: Stream) -> None:
    sending = asyncio.ensure_future(_send_all(socket, stream))
    leaving = asyncio.ensure_future(_until_it_leaves(socket))
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


async def _send_all(socket: WebSocket, stream: Stream) -> None:
    with suppress(WebSocketDisconnect, TimeoutError):
        while True:
            portion = await stream.take()
            async with asyncio.timeout(STALLED_SECONDS):
                await _send(socket, portion)
            if portion.retry_ms is not None:
                await socket.close(SERVICE_RESTART)
                return


async def _send(socket: WebSocket, portion: Portion) -> None:
    if FRAGMENTS in socket.scope["extensions"] and sum(map(len, portion.lines)) > PIECE_BYTES:
        await socket.send({"type": "websocket.send", "fragments": ws_pieces(portion)})
    else:
        await socket.send_text(ws_frame(portion))


async def _until_it_leaves(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LONGEST_PROGRESS else None
