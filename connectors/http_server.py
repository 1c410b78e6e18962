"""The HTTP server of an edge: an application (`connectors/http_app.py`) in a thread of its own.

Limits stand here where they concern bytes and sockets: headers of at most 16 kB, a stated number of connections, and
small send buffers, so that a reader that has stopped holds back little of the past and nobody else.
"""

from __future__ import annotations

import resource
import socket
import threading
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette

from connectors.http_rules import MAX_HEADER_BYTES, HttpRules
from connectors.strict_http import StrictHttp
from state.errors import UserError

_STOP_SECONDS = 5.0
_BACKLOG = 1_024
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
        connections = (rules or HttpRules()).connections
        allow_files(connections + _SPARE_FILES)
        self._socket = _listen(host, port)
        self.host = host
        self.port = int(self._socket.getsockname()[1])
        self._server = uvicorn.Server(_configuration(app, connections))
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


def allow_files(wanted: int) -> int:
    """Raise this process's limit of open files to `wanted`, or as far as it may; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _configuration(app: Starlette, connections: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=StrictHttp,  # h11, the one that limits headers
        ws="websockets-sansio",
        ws_max_size=_MAX_WEBSOCKET_BYTES,
        ws_per_message_deflate=False,  # costs 100 kB a connection, and time of everybody else
        ws_ping_interval=None,  # a reader that has stopped for a minute is not gone
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        limit_concurrency=connections + 1,
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
