"""What an edge says over HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

import httpx
import pytest

from connectors.http_server import AddressInUse, Answer, Elsewhere, Found, HttpServer, NotNow, Unknown, edge_app
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
            "moving": NotNow("moving between edges"),
        }
        return answers.get(identifier, Unknown())

    def health(self) -> tuple[bool, Mapping[str, object]]:
        return self.well, {"state": "running" if self.well else "waiting"}


def get(path: str, well: bool = True) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(edge_app(Fixed(well)))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            return await client.get(path)

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


@pytest.mark.parametrize(("name", "why"), [("moving", "moving between edges"), ("broken", "the broker is gone")])
def test_ask_again(name: str, why: str) -> None:
    response = get("/subscriptions/" + name)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert why in response.json()["message"]


def test_health() -> None:
    assert get("/health").status_code == 200
    assert get("/health", well=False).status_code == 503


def test_a_server_takes_a_free_port_and_stops() -> None:
    server = HttpServer(Fixed())
    assert httpx.get(f"http://{server.address}/health").json() == {"state": "running"}
    server.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{server.address}/health")


def test_a_port_in_use_is_said_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AddressInUse, match=f"127.0.0.1:{port}.*`http_port`"):
            HttpServer(Fixed(), port=port)
