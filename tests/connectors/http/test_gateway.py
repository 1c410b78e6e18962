"""Registering over HTTP: what is passed on, and how the outcome reads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from connectors.http.address import parse_address
from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.gateway import MAX_BODY_BYTES
from connectors.http.rules import HttpRules
from connectors.http.served_addresses import ServedAddresses
from connectors.json.reader import read_json
from state.errors import TidewireError
from tests.connectors import test_http_fuzz as http
from tests.connectors.http.test_app import Fixed
from tests.effort import examples
from tests.overlay import odd_records

RULES = HttpRules({"acme": hash_of("t")})
TOKEN = {"Authorization": "Bearer t"}
JSON = {"Content-Type": "application/json"}


class GatewayProtocol:
    """Says what it is told to."""

    def __init__(self, said: Mapping[str, object] | Answer | Exception) -> None:
        self.said = said
        self.asked: list[tuple[str | None, str, bytes]] = []
        self.withdrawn: list[str] = []

    async def submit(self, identifier: str | None, prefix: str, value: bytes) -> Mapping[str, object] | Answer:
        self.asked.append((identifier, prefix, value))
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    async def withdraw(self, identifier: str) -> Answer:
        self.withdrawn.append(identifier)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said if isinstance(self.said, Answer) else Unknown()


def ask(gateway: GatewayProtocol, body: str, rules: HttpRules = RULES, **headers: str) -> Any:
    client = TestClient(edge_app(Edge(Fixed(), None, gateway), rules), follow_redirects=False)
    return client.post("/subscriptions", content=body, headers=JSON | headers)


def test_the_record_is_passed_on_as_it_is() -> None:
    gateway = GatewayProtocol({"id": "acme/a b", "version": 3, "status": "accepted"})
    body = '{"id":"acme/a b", "template":"SELECT ?", "params":[1.10, 12345678901234567890]}'
    response = ask(gateway, body, **TOKEN)
    assert response.status_code == 201
    assert response.headers["location"] == "/subscriptions/acme%2Fa%20b"
    assert gateway.asked == [("acme/a b", "acme/", b'{"template":"SELECT ?","params":[1.10, 12345678901234567890]}')]


def test_the_location_is_where_the_edge_is_advertised() -> None:
    rules = HttpRules(served=ServedAddresses(advertised=parse_address("https://edge-1:8443/base")))
    response = ask(GatewayProtocol({"id": "a b", "status": "live"}), '{"sql":"SELECT"}', rules)
    assert response.headers["location"] == "https://edge-1:8443/base/subscriptions/a%20b"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"id": "a", "status": "refused", "code": "syntax", "message": "no"}, 422),
        ({"id": "a", "status": "live"}, 201),
        ({"id": "a", "status": "written"}, 202),
        (Elsewhere("b:2"), 307),
        (NotNow("moving"), 503),
        (TidewireError("no broker"), 503),
    ],
)
def test_outcomes(said: Mapping[str, object] | Answer | Exception, status: int) -> None:
    response = ask(GatewayProtocol(said), '{"sql":"SELECT"}', HttpRules())
    assert response.status_code == status
    if status == 307:
        assert response.headers["location"] == "http://b:2/subscriptions"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ("{}", {"Content-Type": "text/plain"} | TOKEN, 415),
        ("{", TOKEN, 400),
        ("[]", TOKEN, 400),
        ('{"id":5}', TOKEN, 400),
        ('{"id":"acme/\\n"}', TOKEN, 400),
        ('{"id":"other/x","sql":""}', TOKEN, 403),
        ('{"sql":""}', {}, 401),
        ('{"sql":"' + "x" * 140_000 + '"}', TOKEN, 413),
        ("\udcff", TOKEN, 400),
        ('{"sql":"SELECT COUNT(*) FROM stock","ttl":1e99999999999999999999}', TOKEN, 400),
        ('{"sql":"","ttl":' + "9" * 5_000 + "}", TOKEN, 400),
        ('{"sql":"","x":' + "[" * 30_000 + "]" * 30_000 + "}", TOKEN, 400),
        ('{"sql":"","x":' + '{"a":' * 20_000, TOKEN, 400),
        ('{"sql":"\\ud800"}', TOKEN, 400),
        ('{"sql":"","params":[NaN]}', TOKEN, 400),
        ('\ufeff{"sql":""}', TOKEN, 400),
        ("null", TOKEN, 400),
        ("", TOKEN, 400),
    ],
)
def test_refusals_ask_nobody(body: str, headers: dict[str, str], status: int) -> None:
    gateway = GatewayProtocol({})
    assert ask(gateway, body.encode(errors="surrogateescape"), **headers).status_code == status  # type: ignore[arg-type]
    assert gateway.asked == []


def check(body: bytes) -> None:
    """A body is answered, and what is passed on an edge can read."""
    gateway = GatewayProtocol({"id": "a", "version": 0, "status": "accepted"})
    app = edge_app(Edge(Fixed(), None, gateway))
    headers = [(b"content-type", b"application/json")]
    sent = asyncio.run(http.ask(app, "http", "POST", b"/subscriptions", b"", headers, body))
    [status] = [message["status"] for message in sent if "status" in message]
    assert status == (201 if gateway.asked else 413 if len(body) > MAX_BODY_BYTES else 400)
    for identifier, _, value in gateway.asked:
        assert identifier is None or identifier.encode()
        assert isinstance(read_json(value), dict)


@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(odd_records.records, odd_records.bodies))
def test_any_body_is_answered_and_only_what_an_edge_can_read_is_passed_on(body: bytes) -> None:
    check(body)


@pytest.mark.parametrize(
    ("said", "status", "error"),
    [
        (Found({"id": "a b"}), 202, None),
        (Unknown(), 404, "unknown_subscription"),
        (Elsewhere("b:2"), 307, None),
        (NotNow("moving"), 503, "not_now"),
        (TidewireError("no broker"), 503, "not_now"),
    ],
)
def test_ending_one(said: Answer | Exception, status: int, error: str | None) -> None:
    gateway = GatewayProtocol(said)
    client = TestClient(edge_app(Edge(Fixed(), None, gateway), RULES), follow_redirects=False)
    response = client.delete("/subscriptions/acme%2Fa%20b", headers=TOKEN)
    assert response.status_code == status and gateway.withdrawn == ["acme/a b"]
    if error is not None:
        assert response.json()["error"] == error
    if status == 404:
        assert "there is no such subscription: `acme/a b`" in response.json()["message"]
    if status == 307:
        assert response.headers["location"] == "http://b:2/subscriptions/acme%2Fa%20b"


def test_what_is_not_ones_own_is_not_ended() -> None:
    gateway = GatewayProtocol(Found({}))
    client = TestClient(edge_app(Edge(Fixed(), None, gateway), RULES))
    assert client.delete("/subscriptions/other", headers=TOKEN).status_code == 403
    assert client.delete("/subscriptions/acme%2Fa").status_code == 401
    assert gateway.withdrawn == []


KNOWN = HttpRules({"acme": hash_of("t"), "*": hash_of("root")}, attributes={"acme": {"region": "north", "age": 31}})


@pytest.mark.parametrize(
    ("body", "passed"),
    [
        ('{"id":"acme/a", "sql":"SELECT"}', '{"sql":"SELECT","attributes":{"region":"north","age":31}}'),
        ('{"id":"acme/a", "attributes":null}', '{"attributes":{"region":"north","age":31}}'),
        ('{"id":"acme/a", "attributes":{"x":1.50}}', '{"attributes":{"x":1.50,"region":"north","age":31}}'),
        ('{"id":"acme/a", "attributes":[1]}', '{"attributes":[1]}'),
    ],
)
def test_what_a_token_says_of_a_subscriber_is_passed_on_with_its_record(body: str, passed: str) -> None:
    gateway = GatewayProtocol({"id": "acme/a", "version": 3, "status": "accepted"})
    assert ask(gateway, body, KNOWN, **TOKEN).status_code == 201
    assert gateway.asked == [("acme/a", "acme/", passed.encode())]


def test_what_a_token_says_cannot_be_said_otherwise() -> None:
    gateway = GatewayProtocol({"id": "acme/a", "version": 3, "status": "accepted"})
    for said in ('{"region":"south"}', '{"age":null, "x":1}', '{"region":"north"}'):
        response = ask(gateway, f'{{"id":"acme/a", "sql":"SELECT", "attributes":{said}}}', KNOWN, **TOKEN)
        assert response.status_code == 403 and "comes with your token" in response.json()["message"]
    assert gateway.asked == []
    assert ask(gateway, '{"id":"b", "attributes":{"age":1}}', KNOWN, Authorization="Bearer root").status_code == 201
