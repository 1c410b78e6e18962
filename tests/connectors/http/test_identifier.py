"""A request names the bytes that it sent, at every route that takes an id."""

from __future__ import annotations

import asyncio
from urllib.parse import quote_from_bytes

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.subscription_id import wrong_id
from connectors.http.app import Edge, edge_app
from tests.connectors import test_http_fuzz as http
from tests.connectors.http.test_app import Fixed, NoDesk, NoStreams
from tests.effort import examples

ROUTES = [
    ("GET", "/subscriptions/{}", ""),
    ("DELETE", "/subscriptions/{}", ""),
    ("GET", "/subscriptions/{}/events", ""),
    ("GET", "/events", "id={}"),
]
names = st.one_of(
    st.binary(min_size=1, max_size=8),
    st.text(min_size=1, max_size=6).map(lambda text: text.encode(errors="surrogatepass")),
    st.sampled_from([b"\xff\xfe", b"\r\n", b"a\n", b"a/events\n", b"\xed\xa0\x80", b"\xef\xbf\xbd", b"@a", b"%41"]),
)


def answer_to(method: str, path: str, query: str) -> tuple[int, dict[str, object]]:
    app = edge_app(Edge(Fixed(), NoStreams(), NoDesk()))
    sent = asyncio.run(http.ask(app, "http", method, path.encode(), query.encode(), [], b""))
    [status] = [message["status"] for message in sent if "status" in message]
    body = b"".join(message.get("body", b"") for message in sent)
    return status, msgspec.json.decode(body) if body else {}


@settings(max_examples=examples(400), deadline=None)
@given(names, st.sampled_from(ROUTES))
def test_an_id_is_refused_at_every_door_or_at_none(name: bytes, route: tuple[str, str, str]) -> None:
    method, path, query = route
    escaped = quote_from_bytes(name, safe="")
    status, body = answer_to(method, path.format(escaped), query.format(escaped))
    if wrong_id(name) is None:
        assert body.get("error") != "malformed_id" and status != 400
    else:
        assert (status, body["error"]) == (400, "malformed_id"), body


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("escaped", "says"),
    [("%ff%fe", "no UTF-8"), ("%0d%0a", "U+000D"), ("a%0A", "U+000A"), ("%ED%A0%80", "no UTF-8"), ("%40a", "reserved")],
)
def test_a_refusal_says_what_is_wrong(route: tuple[str, str, str], escaped: str, says: str) -> None:
    method, path, query = route
    status, body = answer_to(method, path.format(escaped), query.format(escaped))
    assert (status, body["error"]) == (400, "malformed_id") and says in str(body["message"])
