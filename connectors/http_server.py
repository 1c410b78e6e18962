"""The HTTP side of an edge: current answers, and whether the edge is well.

    GET /subscriptions/{id}    200 the answer with its position; 307 at another edge; 404 unknown; 503 moving now
    GET /health                200 or 503, with what the edge is doing

The server runs in a thread of its own and asks an `Answers` for everything; it knows nothing of edges.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from state.errors import TidewireError, UserError

_STOP_SECONDS = 5.0


class AddressInUse(UserError):
    """The HTTP server cannot listen where it should."""

    code = "http_address"


@dataclass(frozen=True, slots=True)
class Found:
    """The answer is here."""

    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another edge has it; `address` is its `host:port`."""

    address: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no such subscription."""


@dataclass(frozen=True, slots=True)
class NotNow:
    """The virtual edge is moving or being restored; asking again in a moment helps."""

    reason: str


Answer = Found | Elsewhere | Unknown | NotNow


class Answers(Protocol):
    """What an edge can tell. Called from several threads."""

    def subscription(self, identifier: str) -> Answer:
        """Return the current answer of a subscription, or where it is."""
        ...

    def health(self) -> tuple[bool, Mapping[str, object]]:
        """Return whether the edge is well, and what it is doing."""
        ...


def edge_app(answers: Answers) -> Starlette:
    """Return the ASGI application."""

    def subscription(request: Request) -> Response:
        identifier = request.path_params["identifier"]
        try:
            answer = answers.subscription(identifier)
        except TidewireError as error:
            answer = NotNow(str(error))
        return _respond(identifier, answer)

    def health(request: Request) -> Response:
        well, body = answers.health()
        return _json(200 if well else 503, body)

    return Starlette(
        routes=[
            Route("/subscriptions/{identifier:path}", subscription, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


class HttpServer:
    """A server in a thread, listening from construction on.

    Args:
        answers: what to say.
        host: an address of this machine.
        port: 0 takes a free one; `port` is then the one taken.

    Raises:
        AddressInUse: somebody listens there, or the address is not ours.
    """

    def __init__(self, answers: Answers, host: str = "127.0.0.1", port: int = 0) -> None:
        self._socket = _listen(host, port)
        self.host = host
        self.port = int(self._socket.getsockname()[1])
        config = uvicorn.Config(edge_app(answers), log_config=None, access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
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


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except OSError as error:
        raise AddressInUse(
            f"the edge's HTTP server cannot listen at `{host}:{port}`: {error.strerror}. Set `http_port` to a free "
            "port (0 takes one) or `http_host` to an address of this machine."
        ) from error
    return listener


def _respond(identifier: str, answer: Answer) -> Response:
    match answer:
        case Found(body):
            return _json(200, body)
        case Elsewhere(address):
            return RedirectResponse(f"http://{address}/subscriptions/{quote(identifier, safe='')}", 307)
        case NotNow(reason):
            return _json(503, {"id": identifier, "error": "not_now", "message": reason}, {"Retry-After": "1"})
        case Unknown():
            message = f"there is no subscription `{identifier}`. Register it with `tidewire subscribe`."
            return _json(404, {"id": identifier, "error": "unknown_subscription", "message": message})


def _json(status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
