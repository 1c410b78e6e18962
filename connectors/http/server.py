"""The HTTP server of an edge: an application (`connectors/http/app.py`) in a thread of its own.

Limits stand here where they concern bytes and sockets: headers of at most 16 kB, and small send buffers, so that a
reader that has stopped holds back little of the past and nobody else. How many wait, and how long, is limited in
`connectors/http/waiting.py`, how many are served in `connectors/http/crowd.py`, and what is logged of others' doing in
`connectors/http/log.py`.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from typing import cast

import uvicorn
from starlette.applications import Starlette

from connectors.http.crowd import CrowdLimit
from connectors.http.log import limit_logs
from connectors.http.protocol import TimedHttp, TimedWebSocket, WaitingConnection
from connectors.http.rules import MAX_HEADER_BYTES, HttpRules
from connectors.http.waiting import WaitingRoom
from state.errors import UserError

_STOP_SECONDS = 5.0
_BACKLOG = 1_024
"""Connections that the system holds until they are accepted."""
_ACCEPTED_AT_ONCE = 16
"""Readers have their turn after so many newcomers."""
_WAITING = 2_048
"""More than come before one of them can be read: who sends its request at once is never turned away for others."""
_UNTAKEN_BYTES = 64 << 20
_LOOK_SECONDS = 0.25
_SEND_BUFFER = 131_072
_GONE_MS = 300_000
_SPARE_FILES = 512
"""Files that an edge opens besides its connections."""
_MAX_WEBSOCKET_BYTES = 4_096
"""Readers have nothing to say."""


class AddressInUse(UserError):
    """The HTTP server cannot listen where it should."""

    code = "http_address"


class HttpServer:
    """A server in a thread, listening from construction on.

    Args:
        app: what to serve.
        host: an address of this machine.
        port: 0 takes a free one; `port` is then the one taken.
        rules: its limits.

    Raises:
        AddressInUse: somebody listens there, or the address is not ours.
    """

    def __init__(self, app: Starlette, host: str = "127.0.0.1", port: int = 0, rules: HttpRules | None = None) -> None:
        rules = rules or HttpRules()
        files = allow_files(rules.connections + _WAITING + _SPARE_FILES)
        served = max(1, min(rules.connections, files - _WAITING - _SPARE_FILES))
        self._socket = _listen(host, port)
        self.host = host
        self.port = int(self._socket.getsockname()[1])
        limit_logs()
        room = WaitingRoom(_WAITING, _UNTAKEN_BYTES, rules.request_seconds, time.monotonic)
        self._server = _Server(CrowdLimit(app, served, rules.address_connections), room)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="http", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def close(self) -> None:
        """Stop listening; open requests have 5 s to end."""
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS)
        self._socket.close()


class _Server(uvicorn.Server):
    """uvicorn's, with a waiting room."""

    def __init__(self, app: CrowdLimit, room: WaitingRoom) -> None:
        super().__init__(_configuration(app, room))
        self._room = room

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_BACKLOG)  # what the event loop accepts at once is less than what may wait for it
        self._look()

    def _look(self) -> None:
        """See to those whose time is over."""
        self._room.expire()
        for connection in list(self.server_state.connections):
            cast(WaitingConnection, connection).linger()
        if not self.should_exit:
            asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)


def allow_files(wanted: int) -> int:
    """Raise this process's limit of open files to `wanted`, or as far as it may; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _configuration(app: CrowdLimit, room: WaitingRoom) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=partial(TimedHttp, room),  # type: ignore[arg-type]  # on h11, the one that limits headers
        ws=partial(TimedWebSocket, room),  # type: ignore[arg-type]
        ws_max_size=_MAX_WEBSOCKET_BYTES,
        ws_per_message_deflate=False,  # costs 100 kB a connection, and time of everybody else
        ws_ping_interval=None,  # a reader that has stopped for a minute is not gone
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        backlog=_ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=int(_STOP_SECONDS) - 1,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)  # connections inherit it
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_MS)
        listener.bind(where)
        listener.listen(_BACKLOG)
    except OSError as error:
        raise AddressInUse(
            f"the edge's HTTP server cannot listen at `{host}:{port}`: {error.strerror}. Set `http_port` to a free "
            "port (0 takes one) or `http_host` to an address of this machine."
        ) from error
    return listener
