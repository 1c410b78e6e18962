"""What the server does with a connection's bytes: uvicorn's protocols, with an end to all waiting.

A connection is in the waiting room (`connectors/http/waiting.py`) whenever it is the peer's turn:

    headers   the request's headers are not complete: since the connection began, or since the request's first byte
    body      they are, the body is not
    idle      the answer is written, and the peer has not taken all of it, or has not begun its next request
    stuck     the next answer cannot be written, since the peer has not taken the one before (pipelining)
    health    it has asked how the edge is, which is answered outside all limits of what is served

and is not there while the application has its turn: so each of these has its own time, however slowly bytes drip. Where
tokens are asked for, a connection that has shown none is told so at once, so it has its place there as well.

Readers of WebSockets have nothing to say, so what they say is dropped unread. What is sent to them in fragments, each
once there is room for it, is not copied as a whole for each reader.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

from connectors.http.crowd import HEALTH
from connectors.http.strict_http import StrictHttp
from connectors.http.waiting import WaitingRoom, neighbourhood

FRAGMENTS = "tidewire.fragments"
"""An extension of a WebSocket's scope: a message may have `fragments`, bytes of UTF-8, in place of `text`."""
_MOST_UNTAKEN_PONGS = 262_144
"""Bytes, beside a message that is on its way."""
_SAID = b'{"error":"timeout","message":"the request was not complete in time. Send it all at once."}'
_TOO_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_SAID), _SAID)
)


class WaitingConnection:
    """What both protocols are to the waiting room."""

    address = ""
    transport: asyncio.Transport
    _room: WaitingRoom
    _untaken = 0

    def wait(self) -> None:
        """Wait for the peer from now on."""
        self._untaken = self.transport.get_write_buffer_size()
        self._room.enter(self, self._untaken)

    def give_up(self) -> None:
        """See Guest."""
        self.transport.abort()

    def too_late(self) -> None:
        """See Guest: who takes its answer slowly, but does take it, goes on."""
        if 0 < self.transport.get_write_buffer_size() < self._untaken:
            self.wait()
        else:
            self.transport.abort()

    def linger(self) -> None:
        """Limit how long a connection that is closed waits for its peer to take what was written."""
        if self.transport.is_closing() and self not in self._room:
            self.wait()


class TimedHttp(WaitingConnection, StrictHttp):
    """HTTP/1.1."""

    def __init__(self, room: WaitingRoom, **server: Any) -> None:
        super().__init__(**server)
        self._room = room
        self._phase = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self.address = neighbourhood(self.client)
        self._settle("headers")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._room.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        super().data_received(data)
        self._settle("headers")

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._settle("idle")

    def resume_writing(self) -> None:
        """Go on with an answer that could not be written."""
        super().resume_writing()
        self._settle("idle")

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; a client must wait for our answer to its handshake before it says more."""
        if self.conn.trailing_data[0]:
            self.send_400_response("Wait for the answer to the handshake of a WebSocket.")
            return
        self._room.leave(self)
        super().handle_websocket_upgrade(event)

    def too_late(self) -> None:
        """Say why, where the peer has begun a request and no answer has begun."""
        if self._phase in ("headers", "body") and not self._answering and not self.transport.get_write_buffer_size():
            self.transport.write(_TOO_LATE)
            if self.cycle is not None:
                self.cycle.disconnected = True
            self.transport.close()
        else:
            super().too_late()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and self.cycle.response_started

    def _in_progress(self) -> str:
        if self.flow.write_paused and not self.cycle.response_started:
            return "stuck"
        return "health" if self.scope["path"] == HEALTH else ""

    def _settle(self, between: str) -> None:
        """Enter or leave the waiting room; `between`: what it is where no request is in progress."""
        if self.transport.get_protocol() is not self:
            return
        in_progress = self.cycle is not None and not self.cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY:
            phase = "body"
        elif not in_progress:
            phase = between
        else:
            phase = self._in_progress()
        if phase != self._phase or phase == "idle":
            self._phase = phase
            if phase:
                self.wait()
            else:
                self._room.leave(self)


class TimedWebSocket(WaitingConnection, WebSocketsSansIOProtocol):
    """A WebSocket of a reader."""

    def __init__(self, room: WaitingRoom, **server: Any) -> None:
        super().__init__(**server)
        self._room = room

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over."""
        super().connection_made(transport)
        self.address = neighbourhood(self.client)
        self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._room.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read the handshake, then what ends the connection; nothing comes in between from who follows RFC 6455."""
        if self.handshake_initiated and not self.handshake_complete:
            self.transport.abort()
            return
        super().data_received(data)
        if self.handshake_initiated and not self.transport.is_closing():
            self._room.leave(self)

    def handle_parser_exception(self) -> None:
        """End what is no WebSocket."""
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            super().handle_parser_exception()

    def handle_text(self, event: object) -> None:
        """Drop it."""

    handle_bytes = handle_cont = handle_text

    def handle_ping(self) -> None:
        """Answer, unless the peer takes no answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > _MOST_UNTAKEN_PONGS:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        """Send a message, in fragments if it has them."""
        if self.disconnected:
            raise ClientDisconnected
        fragments = message.get("fragments")
        if fragments is None:
            await super().send(message)
            return
        try:
            begun = False
            for fragment in fragments:
                if begun:
                    await asyncio.sleep(0)  # others' messages go between
                await self._send_fragment(fragment, first=not begun, fin=False)
                begun = True
            await self._send_fragment(b"", first=not begun, fin=True)
        except InvalidState:
            raise ClientDisconnected from None

    async def _send_fragment(self, fragment: bytes, first: bool, fin: bool) -> None:
        await self.writable.wait()
        if self.close_sent or self.disconnected:
            raise ClientDisconnected
        (self.conn.send_text if first else self.conn.send_continuation)(fragment, fin)
        self.transport.write(b"".join(self.conn.data_to_send()))

    async def run_asgi(self) -> None:
        """Say that messages may come in fragments."""
        self.scope["extensions"][FRAGMENTS] = {}
        await super().run_asgi()
