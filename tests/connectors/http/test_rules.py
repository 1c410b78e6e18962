"""Who may ask for what."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules, token_of

RULES = HttpRules({"acme": f"{hash_of('old')} {hash_of('new')}", "*": hash_of("root")}, ["https://ours.example"])


def asked(query: str = "", **headers: str) -> HTTPConnection:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return HTTPConnection({"type": "http", "headers": named, "query_string": query.encode(), "path": "/"})


def bearer(token: str) -> HTTPConnection:
    return asked(authorization=f"Bearer {token}")


def outcome(request: HTTPConnection, *ids: str, rules: HttpRules = RULES) -> int:
    refused = rules.admit(request, ids)
    return 200 if refused is None else refused.status_code


@pytest.mark.parametrize(
    ("token", "identifier", "status"),
    [
        ("old", "acme/x", 200),
        ("new", "acme/x", 200),
        ("root", "acme/x", 200),
        ("root", "anything", 200),
        ("new", "other/x", 403),
        ("new", "acme", 403),
        ("new", "acmeother/x", 403),
        ("wrong", "acme/x", 401),
        ("", "acme/x", 401),
    ],
)
def test_tenants(token: str, identifier: str, status: int) -> None:
    assert outcome(bearer(token), identifier) == status


def test_one_foreign_id_spoils_all() -> None:
    assert outcome(bearer("new"), "acme/1", "other/2") == 403


def test_a_refusal_says_how_and_never_the_token() -> None:
    refused = RULES.admit(bearer("wrong-secret"), ["acme/x"])
    assert refused is not None
    assert refused.headers["www-authenticate"] == "Bearer"
    assert b"wrong-secret" not in refused.body
    assert "secret" not in repr(HttpRules({"acme": "secret"}))


def test_without_tenants_all_is_open() -> None:
    assert outcome(asked(), "anything", rules=HttpRules()) == 200
    assert HttpRules().own_prefix(asked()) == ""
    assert RULES.own_prefix(bearer("new")) == "acme/"
    assert RULES.own_prefix(bearer("root")) == ""


@pytest.mark.parametrize(
    ("host", "is_open"),
    [("127.0.0.1", False), ("::1", False), ("localhost", False), ("0.0.0.0", True), ("::", True), ("edge-1", True)],
)
def test_an_edge_open_to_the_network_is_known(host: str, is_open: bool) -> None:
    assert HttpRules().is_open_at(host) is is_open
    assert not RULES.is_open_at(host)


def in_url(request: HTTPConnection, rules: HttpRules = RULES) -> bool:
    return rules.has_token_in_url(request)


@pytest.mark.parametrize(
    "query", ["token=x", "id=a&access_token=x", "BEARER=x", "api-key=x", "apiKey=", "Authorization"]
)
def test_a_token_in_the_url_is_refused(query: str) -> None:
    assert in_url(asked(query), HttpRules())


@pytest.mark.parametrize("token", ["old", "new", "root"])
@pytest.mark.parametrize(
    "query",
    ["k={}", "id=a&k=&k={}", "{}", "{}=1", "k=Bearer%20{}", "k=bearer.{}", "last_event_id={}", "id={}", "progress=+{}"],
)
def test_a_known_token_in_the_url_is_refused_under_any_name(query: str, token: str) -> None:
    assert in_url(asked(query.format(token)))
    assert in_url(asked(query.format("".join(f"%{ord(character):02x}" for character in token))))
    assert not in_url(asked(query.format("unknown")))
    assert not in_url(asked(query.format(token)), HttpRules())


def test_a_known_token_in_the_path_is_refused() -> None:
    scope = {"type": "http", "headers": [], "query_string": b""}
    assert in_url(HTTPConnection({**scope, "path": "/subscriptions/new/events"}))
    assert not in_url(HTTPConnection({**scope, "path": "/subscriptions/newer"}))


def test_where_a_token_stands() -> None:
    assert token_of(bearer(" x ")) == "x"
    assert token_of(asked(authorization="Basic x")) is None
    assert token_of(asked()) is None
    offered = {"headers": [(b"sec-websocket-protocol", b"tidewire, bearer.x")], "query_string": b"", "path": "/"}
    assert token_of(HTTPConnection({"type": "websocket", **offered})) == "x"
    assert token_of(HTTPConnection({"type": "http", **offered})) is None


@pytest.mark.parametrize("identifier", ["", "a\nb", "@progress", "x" * 1025, "\ud800", "\udcff"])
def test_ids_that_are_refused(identifier: str) -> None:
    assert outcome(asked(), identifier, rules=HttpRules()) == 400
    assert outcome(asked(), identifier) == 401


OWN = ("10.0.0.7", 8085)


@pytest.mark.parametrize(
    ("origin", "ours", "all_others"),
    [
        ("https://ours.example", True, True),
        ("https://ours.example:443", True, True),
        ("http://ours.example", False, True),
        ("http://localhost:8085", True, True),
        ("http://10.0.0.7:8085", True, True),
        ("https://localhost:8085", False, True),
        ("http://localhost", False, True),
        ("https://theirs.example", False, True),
        ("null", False, True),
    ],
)
def test_origins(origin: str, ours: bool, all_others: bool) -> None:
    assert RULES.allows_origin(origin, OWN) is ours
    assert HttpRules(origins=["*"]).allows_origin(origin, OWN) is all_others
    assert HttpRules(origins=["null"]).allows_origin("null", OWN)
