"""What an edge serves over HTTP, as one ASGI application.

    GET /                              a page to ask questions and watch answers
    GET /subscriptions/{id}            200 the answer and its position; 307 at another edge; 404 unknown; 503 moving
    GET /subscriptions/{id}/events     the answer as it changes (`connectors/http/stream.py`), also as a WebSocket
    GET /subscriptions/{id}/rows       the rows of a bag (`connectors/http/rows.py`)
    GET /events?id=a&id=b              several on one stream
    POST, DELETE                       `connectors/http/gateway.py`
    GET /health                        200 or 503, with what the edge is doing; with tenants and without a token
                                       only that it lives

Who may come in at all: `connectors/http/doorkeeper.py`; who may ask for what: `connectors/http/rules.py`. An id is
written percent-encoded in a path.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from connectors.http.address import as_browsers_write
from connectors.http.answer import Answers, NotNow, as_json, respond
from connectors.http.doorkeeper import Doorkeeper
from connectors.http.gateway import GatewayProtocol, RowsProtocol, SubscriptionEndpoints
from connectors.http.header_limit import HeaderLimit
from connectors.http.identifier import IN_PATH, identifier_in_path, register_identifiers
from connectors.http.rows import ROWS_BELOW, RowsEndpoint
from connectors.http.rules import MAX_HEADER_BYTES, HttpRules
from connectors.http.stream import EventStreams, Streams
from state.errors import TidewireError

_EVENTS = "/events"
_PAGE_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Edge:
    """What the application asks. Without `streams`, `gateway` or `rows` there are no such routes."""

    answers: Answers
    streams: Streams | None = None
    gateway: GatewayProtocol | None = None
    rows: RowsProtocol | None = None


def edge_app(edge: Edge, rules: HttpRules | None = None) -> Starlette:
    """Return the application."""
    rules = rules or HttpRules()
    register_identifiers()
    routes: list[BaseRoute] = []
    of_tenant = Counter[str]()
    if edge.streams is not None:
        routes += _stream_routes(edge, edge.streams, rules, of_tenant)
    if edge.rows is not None:
        routes.append(_rows_route(edge, edge.rows, rules, of_tenant))
    if edge.gateway is not None:
        gateway = SubscriptionEndpoints(edge.gateway, rules)
        routes += [
            Route("/subscriptions", gateway.submit, methods=["POST"]),
            Route(IN_PATH, gateway.withdraw, methods=["DELETE"]),
            *_page_routes(),
        ]
    routes += [
        Route(IN_PATH, _current(edge.answers, rules), methods=["GET"]),
        Route("/health", _health(edge.answers, rules), methods=["GET"]),
    ]
    app = Starlette(routes=routes, middleware=_middleware(rules))
    app.router.redirect_slashes = False  # an id may end with one
    return app


def _stream_routes(edge: Edge, streams: Streams, rules: HttpRules, of_tenant: Counter[str]) -> list[BaseRoute]:
    events = EventStreams(streams, rules, of_tenant)
    return [
        Route(_EVENTS, events.several_by_sse, methods=["GET"]),
        Route(IN_PATH + _EVENTS, _below(_EVENTS, events.one_by_sse, edge, rules), methods=["GET"]),
        WebSocketRoute(_EVENTS, events.several_by_websocket),
        WebSocketRoute(IN_PATH + _EVENTS, events.one_by_websocket),
    ]


def _rows_route(edge: Edge, looks: RowsProtocol, rules: HttpRules, of_tenant: Counter[str]) -> BaseRoute:
    rows = RowsEndpoint(looks, rules, of_tenant).rows
    return Route(IN_PATH + ROWS_BELOW, _below(ROWS_BELOW, rows, edge, rules), methods=["GET"])


def _below(
    end: str, serve: Callable[[Request], Awaitable[Response]], edge: Edge, rules: HttpRules
) -> Callable[[Request], Awaitable[Response]]:
    """Return what serves a path that ends so. An id may do so itself, percent-encoded: then its answer is asked for."""
    current = _current(edge.answers, rules)

    async def one(request: Request) -> Response:
        if request.scope["raw_path"].endswith(end.encode()):
            return await serve(request)
        return await run_in_threadpool(current, request)

    return one


def _page_routes() -> list[BaseRoute]:
    def serve(content: bytes, media_type: str) -> Callable[[Request], Response]:
        return lambda request: Response(content, headers=_PAGE_HEADERS, media_type=media_type)

    parts = [part for part in files("connectors.http").iterdir() if part.name.startswith("page.")]
    return [
        Route(
            "/" if part.name == "page.html" else f"/{part.name}",
            serve(part.read_bytes(), _PAGE_TYPES[part.name.rpartition(".")[2]]),
            methods=["GET"],
        )
        for part in parts
    ]


def _current(answers: Answers, rules: HttpRules) -> Callable[[Request], Response]:
    def current(request: Request) -> Response:
        identifier = identifier_in_path(request)
        refused = rules.admit(request, [identifier])
        if refused is not None:
            return refused
        try:
            answer = answers.subscription(identifier)
        except TidewireError as error:
            answer = NotNow(str(error))
        return respond(identifier, answer)

    return current


def _health(answers: Answers, rules: HttpRules) -> Callable[[Request], Awaitable[Response]]:
    """Return what serves `/health`, in a thread that questions about subscriptions cannot take from it."""
    thread = ThreadPoolExecutor(1, "health")

    def look() -> tuple[bool, Mapping[str, object]]:
        try:
            return answers.health()
        except TidewireError as error:
            return False, {"state": str(error)}

    async def health(request: Request) -> Response:
        well, body = await asyncio.get_running_loop().run_in_executor(thread, look)
        if not rules.shows_figures(request):
            body = {"state": body["state"]}
        return as_json(200 if well else 503, body)

    return health


def _middleware(rules: HttpRules) -> list[Middleware]:
    first = [Middleware(Doorkeeper, rules=rules), Middleware(HeaderLimit, most=MAX_HEADER_BYTES)]
    if not rules.origins:
        return first
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(map(as_browsers_write, rules.origins)),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
        expose_headers=["Location", "Retry-After"],
    )
    return [*first, cors]
