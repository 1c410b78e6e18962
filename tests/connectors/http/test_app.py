"""What an edge says over HTTP: answers, streams' routes, the page, CORS and limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import httpx
import pytest

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from state.errors import TidewireError


class Fixed:
    """Answers by id."""

    def __init__(self, well: bool = True) -> None:
        self.well = well

    def subscription(self, identifier: str) -> Answer:
        if identifier == "broken":
            raise TidewireError("the broker is gone")
        answers: dict[str, Answer] = {
            "cheap/1 é": Found({"id": "cheap/1 é", "answer": "10.25", "n": 3}),
            "far /1": Elsewhere("other:9"),
            "tls": Elsewhere("https://edge-2.example:8443/base"),
            "moving": NotNow("moving between edges"),
        }
        return answers.get(identifier, Unknown())

    def health(self) -> tuple[bool, Mapping[str, object]]:
        return self.well, {"state": "running" if self.well else "waiting", "readers": 0}


class NoDesk:
    """Nobody is there."""

    async def submit(self, identifier: str | None, prefix: str, value: bytes) -> Answer:
        return NotNow("closed")

    async def withdraw(self, identifier: str) -> Answer:
        raise TidewireError("closed")


class NoStreams:
    """Everything is elsewhere."""

    async def open(
        self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Answer:
        return Elsewhere("https://edge-2.example:8443/base" if "tls" in identifiers else "other:9")


def get(path: str, well: bool = True, rules: HttpRules | None = None, **options: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge_app(Edge(Fixed(well), NoStreams(), NoDesk()), rules))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            return await client.request(options.pop("method", "GET"), path, **options)

    return asyncio.run(ask())


def test_an_answer() -> None:
    response = get("/subscriptions/cheap%2F1%20%C3%A9")
    assert response.status_code == 200
    assert response.json() == {"id": "cheap/1 é", "answer": "10.25", "n": 3}
    assert response.headers["content-type"] == "application/json"


def test_an_id_may_be_written_with_a_plain_slash() -> None:
    assert get("/subscriptions/cheap/1%20%C3%A9").status_code == 200


def test_unknown() -> None:
    response = get("/subscriptions/nobody")
    assert response.status_code == 404
    assert response.json()["error"] == "unknown_subscription"


def test_another_edge_has_it() -> None:
    response = get("/subscriptions/far%20%2F1")
    assert response.status_code == 307
    assert response.headers["location"] == "http://other:9/subscriptions/far%20%2F1"


@pytest.mark.parametrize("path", ["/subscriptions/tls", "/subscriptions/tls/events?progress=3", "/events?id=tls"])
def test_another_edge_is_behind_tls(path: str) -> None:
    assert get(path).headers["location"] == "https://edge-2.example:8443/base" + path


@pytest.mark.parametrize(("name", "why"), [("moving", "moving between edges"), ("broken", "the broker is gone")])
def test_ask_again(name: str, why: str) -> None:
    response = get("/subscriptions/" + name)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert why in response.json()["message"]


def test_health() -> None:
    assert get("/health").status_code == 200
    assert get("/health", well=False).status_code == 503


def test_an_id_that_ends_as_a_stream_does_is_asked_for_percent_encoded() -> None:
    assert get("/subscriptions/moving/events").status_code == 307
    assert get("/subscriptions/moving%2Fevents").status_code == 404


def test_headers_have_a_limit() -> None:
    assert get("/health", headers={"x": "y" * 20_000}).status_code == 431
    assert get("/health?" + "y" * 20_000).status_code == 431
    assert get("/health", headers={"x": "y" * 10_000}).status_code == 200


def test_only_listed_origins_may_ask_from_a_browser() -> None:
    rules = HttpRules(origins=["https://ours.example"])
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    ours, theirs = ({"Origin": f"https://{name}.example"} for name in ("ours", "theirs"))
    assert get("/subscriptions", rules=rules, method="OPTIONS", headers=asked | ours).status_code == 200
    assert get("/subscriptions", rules=rules, method="OPTIONS", headers=asked | theirs).status_code == 403
    assert get("/health", rules=rules, headers=ours).headers["access-control-allow-origin"] == "https://ours.example"
    written = HttpRules(origins=["HTTPS://Ours.Example:443"])
    assert "access-control-allow-origin" in get("/health", rules=written, headers=ours).headers
    for refused in (get("/health", rules=rules, headers=theirs), get("/health", headers=ours)):
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    scripts = sorted(part.name for part in files("connectors.http").iterdir() if part.name.endswith(".js"))
    assert {"page.js", "page.worker.js"} < set(scripts)
    served = [get(f"/{name}") for name in scripts]
    assert {script.headers["content-type"] for script in served} == {"text/javascript; charset=utf-8"}
    assert {script.headers["content-security-policy"] for script in served} == {page.headers["content-security-policy"]}
    parts = page.text + get("/page.css").text + "".join(script.text for script in served)
    assert "//" not in parts.replace("http://www.w3.org/2000/svg", "").replace("// ", "")


def test_with_tenants_health_tells_only_that_the_edge_lives_unless_a_token_is_shown() -> None:
    rules = HttpRules({"acme": hash_of("t")})
    for well, status in ((True, 200), (False, 503)):
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            response = get("/health", well, rules, headers=headers)
            assert (response.status_code, list(response.json())) == (status, ["state"])
        assert len(get("/health", well, rules, headers={"Authorization": "Bearer t"}).json()) > 1
    apart = HttpRules({"acme": hash_of("t"), "*": hash_of("root")}, attributes={"acme": {"region": "north"}})
    assert list(get("/health", True, apart, headers={"Authorization": "Bearer t"}).json()) == ["state"]
    assert len(get("/health", True, apart, headers={"Authorization": "Bearer root"}).json()) > 1


def test_health_of_an_edge_that_is_busy_is_an_answer() -> None:
    class Busy(Fixed):
        def health(self) -> tuple[bool, Mapping[str, object]]:
            raise TidewireError("in the middle of a step")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge_app(Edge(Busy())))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            return await client.get("/health")

    response = asyncio.run(ask())
    assert (response.status_code, response.json()) == (503, {"state": "in the middle of a step"})
