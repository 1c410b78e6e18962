"""Who is turned away at the door, at every route, over real sockets: other names, other origins, contradictions."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.http.address import parse_address
from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from connectors.http.served_addresses import ServedAddresses
from connectors.http.server import HttpServer
from tests.connectors import test_http_fuzz as http
from tests.connectors.http.test_app import Fixed, NoDesk, NoStreams
from tests.effort import examples

ROUTES = [
    "GET /", "GET /page.js", "GET /health", "HEAD /health", "GET /subscriptions/cheap%2F1%20%C3%A9", "GET /events?id=a",
    "GET /subscriptions/moving/events", "DELETE /subscriptions/a", "POST /subscriptions", "OPTIONS /subscriptions",
    "GET /nowhere", "WS /events?id=a", "WS /subscriptions/a/events", "WS /nowhere",
]  # fmt: skip
HANDSHAKE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
TENANTS = {"acme": hash_of("secret-1"), "bob": hash_of("secret-2")}


def server(rules: HttpRules) -> HttpServer:
    return HttpServer(edge_app(Edge(Fixed(), NoStreams(), NoDesk()), rules), rules=rules)


@pytest.fixture(scope="module")
def doors() -> Iterator[dict[str, HttpServer]]:
    names = tuple(map(parse_address, ["edge.example", "https://tls.example", "https://tls.example:8443/base"]))
    listed = HttpRules(origins=["https://ours.example"], served=ServedAddresses("127.0.0.1", names))
    made = {"open": server(HttpRules()), "tenants": server(HttpRules(TENANTS)), "listed": server(listed)}
    yield made
    for one in made.values():
        one.close()


def send(door: HttpServer, route: str, *headers: str, body: str = "") -> tuple[int, str, bool]:
    """Return status, all that was answered, and whether the connection was closed after it. `PORT` is the door's."""
    method, _, target = route.partition(" ")
    more = HANDSHAKE if method == "WS" else ""
    lines = "".join(header.replace("PORT", str(door.port)) + "\r\n" for header in headers)
    request = f"{method.replace('WS', 'GET')} {target} HTTP/1.1\r\n{lines}{more}\r\n{body}"
    with socket.create_connection(("127.0.0.1", door.port), timeout=20) as asker:
        asker.sendall(request.encode("latin-1"))
        said = b""
        while not _is_whole(said, method) and (piece := asker.recv(65_536)):
            said += piece
        closed = b"connection: close" in said.lower() and asker.recv(1) == b""
    return int(said.split(b" ")[1]), said.decode("latin-1"), closed


def _is_whole(said: bytes, method: str) -> bool:
    head, end, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"\ncontent-length: (\d+)", head.lower())
    return bool(end) and length is not None and (method == "HEAD" or len(body) >= int(length[1]))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("door", ["open", "tenants"])
def test_another_name_is_served_nothing_at_any_route(doors: dict[str, HttpServer], door: str, route: str) -> None:
    for host in ("evil.example:PORT", "evil.example"):
        status, said, _ = send(doors[door], route, f"Host: {host}", f"Origin: http://{host}")
        assert status == 421
        assert route.startswith("HEAD") or f'"this edge is not served as `{host.partition(":")[0]}' in said


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "origin", ["http://evil.example:PORT", "https://localhost:PORT", "http://localhost", "null", ""]
)
def test_a_page_of_another_origin_gets_nothing_at_any_route(
    doors: dict[str, HttpServer], route: str, origin: str
) -> None:
    status, said, _ = send(doors["open"], route, "Host: localhost:PORT", f"Origin: {origin}")
    assert status == 403
    assert "access-control-allow-origin" not in said.lower()


@pytest.mark.parametrize("route", ROUTES)
def test_our_own_names_pass(doors: dict[str, HttpServer], route: str) -> None:
    for name in ("localhost", "127.0.0.1", "LOCALHOST", "[::1]", "[0:0::1]"):
        status, _, _ = send(doors["open"], route, f"Host: {name}:PORT", "Origin: http://127.0.0.1:PORT")
        assert status not in (421, 403) or route == "WS /nowhere", name


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:PORT", 200), ("127.0.0.1:PORT", 200), ("edge.example", 200), ("Edge.Example:PORT", 200),
        ("tls.example", 200), ("tls.example:443", 200), ("tls.example:8443", 200), ("edge.example:80", 200),
        ("localhost", 421), ("localhost:1", 421), ("localhost:80", 421), ("127.0.0.2:PORT", 421), ("127.1:PORT", 421),
        ("localhost.:PORT", 421), ("localhost.evil.example:PORT", 421), ("evil.localhost:PORT", 421),
        ("edge.example:443", 421), ("x.edge.example", 421), ("tls.example:80", 421), ("tls.example:PORT", 421),
        ("ours.example", 421), ("0.0.0.0:PORT", 421), ("[::]:PORT", 421), ("2130706433:PORT", 421),
        ("", 400), ("localhost:PORT:1", 400), ("user@localhost:PORT", 400), ("localhost:99999", 400),
        ("[::1:PORT", 400),
        ("http://localhost:PORT", 400), ("localhost:PORT/x", 400), ("localhost,evil:PORT", 400), ("loc alhost", 400),
        ("localhost:-1", 400), ("loc%61lhost:PORT", 400), ("\xe9:PORT", 400), ("localhost:0x50", 400),
        ("[1.2.3.4]", 400),
    ],
)  # fmt: skip
def test_names(doors: dict[str, HttpServer], host: str, status: int) -> None:
    assert send(doors["listed"], "GET /health", f"Host: {host}")[0] == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:PORT", 200), ("http://[::1]:PORT", 200), ("http://edge.example", 200),
        ("https://tls.example", 200), ("https://tls.example:443", 200), ("https://tls.example:8443", 200),
        ("https://ours.example", 200), ("https://OURS.example:443", 200),
        ("https://edge.example", 403), ("http://tls.example", 403), ("https://tls.example:1", 403), ("null", 403),
        ("http://ours.example", 403), ("https://ours.example.evil", 403), ("https://x.ours.example", 403),
        ("https://ours.example/", 403), ("https://ours.example https://evil.example", 403), ("localhost:PORT", 403),
        ("http://localhost:PORT/", 403), ("ftp://localhost:PORT", 403), ("http://user@localhost:PORT", 403),
    ],
)  # fmt: skip
def test_origins(doors: dict[str, HttpServer], origin: str, status: int) -> None:
    for host in ("localhost:PORT", "edge.example", "tls.example"):
        assert send(doors["listed"], "GET /health", f"Host: {host}", f"Origin: {origin}")[0] == status
    upgraded, _, _ = send(doors["listed"], "WS /events?id=a", "Host: localhost:PORT", f"Origin: {origin}")
    assert (upgraded == 403) is (status == 403)


def test_a_preflight_of_a_listed_origin_is_answered(doors: dict[str, HttpServer]) -> None:
    asked = (
        "Host: tls.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization",
    )
    status, said, _ = send(doors["listed"], "OPTIONS /subscriptions", *asked, "Origin: https://ours.example")
    assert status == 200 and "access-control-allow-origin: https://ours.example" in said.lower()
    assert send(doors["listed"], "OPTIONS /subscriptions", *asked, "Origin: https://theirs.example")[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("Host: localhost:PORT", "Host: localhost:PORT"),
        ("Host: localhost:PORT", "Host: evil.example"),
        ("Host: localhost:PORT", "Authorization: Bearer secret-1", "Authorization: Bearer secret-2"),
        ("Host: localhost:PORT", "Authorization: Bearer secret-1", "authorization: Bearer secret-1"),
        ("Host: localhost:PORT", "Origin: http://localhost:PORT", "Origin: http://evil.example"),
        ("Host: localhost:PORT", "Content-Length: 2", "Content-Length: 2"),
        ("Host: localhost:PORT", "Content-Length: 2", "Content-Length: 3"),
        ("Host: localhost:PORT", "Content-Length: 2, 2"),
        ("Host: localhost:PORT", "Content-Length: 2", "Transfer-Encoding: chunked"),
        ("Host: localhost:PORT", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    ],
)
@pytest.mark.parametrize(
    "route", ["GET /health", "POST /subscriptions", "GET /subscriptions/acme%2Fa", "WS /events?id=a"]
)
def test_contradictions_end_the_connection(doors: dict[str, HttpServer], route: str, headers: tuple[str, ...]) -> None:
    status, _, closed = send(doors["tenants"], route, *headers)
    assert status == 400 and closed


@pytest.mark.parametrize("target", ["http://localhost:PORT/health", "http://evil.example/health", "*", "x"])
def test_a_target_is_a_path(doors: dict[str, HttpServer], target: str) -> None:
    door = doors["open"]
    assert send(door, f"GET {target.replace('PORT', str(door.port))}", "Host: localhost:PORT")[0] == 400


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("query", ["api_key=x", "k=secret-2", "k=Bearer%20secret-%31", "secret-1"])
def test_no_route_takes_a_token_in_its_url(doors: dict[str, HttpServer], route: str, query: str) -> None:
    asked = route + ("&" if "?" in route else "?") + query
    status, said, _ = send(doors["tenants"], asked, "Host: localhost:PORT", "Authorization: Bearer secret-1")
    assert status == 400 and ("token_in_url" in said or route.startswith("HEAD"))


def test_a_handshake_has_no_body(doors: dict[str, HttpServer]) -> None:
    for length in ("Content-Length: 2", "Transfer-Encoding: chunked"):
        assert send(doors["open"], "WS /events?id=a", "Host: localhost:PORT", length)[0] == 400
    assert send(doors["open"], "WS /events?id=a", "Host: localhost:PORT", "Content-Length: 0")[0] == 307


def test_a_websocket_shows_one_token(doors: dict[str, HttpServer]) -> None:
    def status(*headers: str) -> int:
        return send(doors["tenants"], "WS /events?id=acme%2Fa", "Host: localhost:PORT", *headers)[0]

    assert status("Sec-WebSocket-Protocol: tidewire, bearer.secret-1") == 307
    assert status("Sec-WebSocket-Protocol: tidewire, bearer.secret-1", "Authorization: Bearer secret-1") == 307
    assert status("Sec-WebSocket-Protocol: tidewire, bearer.secret-2", "Authorization: Bearer secret-1") == 400
    assert status("Sec-WebSocket-Protocol: bearer.secret-2, bearer.secret-1") == 400
    assert status("Sec-WebSocket-Protocol: tidewire") == 401


BODIES = st.sampled_from(["", "{", "[]", '{"id":"bob/x"}', '{"id":"\\n"}', "x" * 200_000]) | st.text(
    '{}":a', max_size=9
)
HEADERS = st.sampled_from(
    ["Content-Type: application/json", "Content-Type: text/plain", "X: y", "Sec-WebSocket-Protocol: bearer.secret-1",
     "Cookie: token=secret-1", "Authorization: Basic secret-1", "Authorization: Bearer wrong",
     "Authorization: secret-1"]
)  # fmt: skip
ASKED = st.sampled_from(
    ["POST /subscriptions", "GET /subscriptions/%00", "GET /subscriptions/bob%2Fx", "DELETE /subscriptions/@a",
     "GET /events", "GET /events?id=%0a", "GET /events?id=acme/a&progress=x", "GET /subscriptions/acme%2Fx/events"]
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(ASKED, st.sets(HEADERS, max_size=3), BODIES)
def test_without_a_token_nothing_else_is_said(route: str, headers: set[str], body: str) -> None:
    """Whatever else is wrong."""
    method, _, target = route.partition(" ")
    path, _, query = target.partition("?")
    named = {name.lower().encode(): value.encode() for name, _, value in (one.partition(": ") for one in headers)}
    sent = asyncio.run(http.ask(_APP, "http", method, path.encode(), query.encode(), [*named.items()], body.encode()))
    assert [message["status"] for message in sent if "status" in message] == [401]


def test_without_a_token_a_body_is_not_waited_for(doors: dict[str, HttpServer]) -> None:
    headers = ("Host: localhost:PORT", "Content-Type: application/json", "Content-Length: 60000")
    assert send(doors["tenants"], "POST /subscriptions", *headers, body="{")[0] == 401


_APP = edge_app(Edge(Fixed(), NoStreams(), NoDesk()), HttpRules(TENANTS))
