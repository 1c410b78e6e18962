"""Rows that are looked up: lines of JSON, refusals with their reasons, and who may ask."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from connectors.http.answer import Elsewhere, NotNow, Unknown
from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.gateway import Looked, NoBag, TooManyRows
from connectors.http.rules import HttpRules
from state.errors import TidewireError
from tests.connectors.http.test_app import Fixed

AT = {"epoch": 0, "batch": 12}
LOOKED = Looked(4, 7, AT, "SELECT symbol, price FROM stock", ['["A","é"]', '["A","é"]', '["B",null]'])
RULES = HttpRules({"acme": hash_of("t")})


class Looks:
    """Says what it is told to."""

    def __init__(self, said: Any) -> None:
        self.said = said
        self.asked: list[str] = []

    async def look(self, identifier: str) -> Any:
        self.asked.append(identifier)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def get(looks: Looks, path: str, rules: HttpRules | None = None, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge_app(Edge(Fixed(), rows=looks), rules))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


def test_the_first_line_says_what_follows() -> None:
    looks = Looks(LOOKED)
    response = get(looks, "/subscriptions/a%2Fb/rows")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson")
    head, *rows = map(msgspec.json.decode, response.content.splitlines())
    assert head == {"id": "a/b", "version": 4, "n": 7, "rows": 3, "at": AT, "sql": LOOKED.sql}
    assert rows == [["A", "é"], ["A", "é"], ["B", None]]
    assert response.content.endswith(b"\n")
    assert looks.asked == ["a/b"]


def test_none_is_a_line_alone_and_a_key_is_said() -> None:
    [head] = get(Looks(Looked(4, 1, AT, "SELECT", [], (0, 2))), "/subscriptions/a/rows").text.splitlines()
    assert msgspec.json.decode(head) == {
        "id": "a",
        "version": 4,
        "n": 1,
        "rows": 0,
        "key": [0, 2],
        "at": AT,
        "sql": "SELECT",
    }


@pytest.mark.parametrize(
    ("said", "status", "word"),
    [
        (TooManyRows("120,000 rows"), 413, "quota"),
        (NoBag(), 400, "no_bag"),
        (Unknown(), 404, "unknown_subscription"),
        (NotNow("no batch has ended"), 503, "not_now"),
        (TidewireError("no batch has ended"), 503, "not_now"),
    ],
)
def test_refusals(said: Any, status: int, word: str) -> None:
    response = get(Looks(said), "/subscriptions/a/rows")
    assert (response.status_code, response.json()["error"]) == (status, word)
    assert ("retry-after" in response.headers) == (status == 503)


def test_another_edge_has_it() -> None:
    response = get(Looks(Elsewhere("other:9")), "/subscriptions/a%20b/rows")
    assert (response.status_code, response.headers["location"]) == (307, "http://other:9/subscriptions/a%20b/rows")


def test_tokens_and_ids_are_looked_at_first() -> None:
    looks = Looks(LOOKED)
    assert get(looks, "/subscriptions/acme%2Fa/rows", RULES).status_code == 401
    token = {"Authorization": "Bearer t"}
    assert get(looks, "/subscriptions/other%2Fa/rows", RULES, **token).status_code == 403
    assert get(looks, "/subscriptions/acme%2F%ff/rows", RULES, **token).status_code == 400
    assert looks.asked == []
    assert get(looks, "/subscriptions/acme%2Fa/rows", RULES, **token).status_code == 200


def test_a_look_is_one_of_the_streams_that_its_tenant_may_have() -> None:
    rules = HttpRules({"acme": hash_of("t"), "other": hash_of("u")}, tenant_streams=1)

    class Slow(Looks):
        async def look(self, identifier: str) -> Any:
            await super().look(identifier)
            await asyncio.sleep(0.2)
            return self.said

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(edge_app(Edge(Fixed(), rows=Slow(LOOKED)), rules))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:

            async def look(name: str, token: str) -> int:
                path = f"/subscriptions/{name}%2Fa/rows"
                return (await client.get(path, headers={"Authorization": f"Bearer {token}"})).status_code

            together = await asyncio.gather(look("acme", "t"), look("acme", "t"), look("other", "u"))
            return [*sorted(together), await look("acme", "t")]

    assert asyncio.run(ask()) == [200, 200, 503, 200]


def test_an_id_that_ends_so_itself_is_asked_for_percent_encoded() -> None:
    looks = Looks(LOOKED)
    assert get(looks, "/subscriptions/moving%2Frows").status_code == 404
    assert looks.asked == []
    assert get(looks, "/subscriptions/moving%2Frows/rows").status_code == 200
    assert looks.asked == ["moving/rows"]


def test_without_looks_there_is_no_such_path() -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge_app(Edge(Fixed())))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            return await client.get("/subscriptions/a/rows")

    assert asyncio.run(ask()).json()["error"] == "unknown_subscription"
