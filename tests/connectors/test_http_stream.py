"""How portions look on the wire, and what is asked of the streams behind."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from connectors.bearer_token import hash_of
from connectors.http_answer import Answer, NotNow
from connectors.http_app import Edge, edge_app
from connectors.http_rules import HttpRules
from connectors.http_stream import Portion, Stream, sse_frame, ws_frame
from tests.connectors.test_http_app import Fixed

RULES = HttpRules({"acme": hash_of("t")})
TOKEN = {"Authorization": "Bearer t"}


class Script:
    """Tells two portions and is over; remembers what it was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer
        self.asked: list[tuple[Sequence[str], str | None, float, bool, bool]] = []
        self.closed = 0
        self._portions = [Portion([b'{"n":1}', b'{"n":2}'], "0:1.2"), Portion([]), Portion([b'{"n":3}'], "0:1.3", 700)]

    async def open(
        self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Stream | Answer:
        self.asked.append((identifiers, mark, progress, single, redirect))
        return self.answer or self

    async def take(self) -> Portion:
        return self._portions.pop(0)

    def close(self) -> None:
        self.closed += 1


def client(script: Script, rules: HttpRules = RULES) -> TestClient:
    return TestClient(edge_app(Edge(Fixed(), script), rules))


def test_an_event_each_and_the_mark_with_the_last() -> None:
    assert sse_frame(Portion([b"1", b"2", b"3"], "m")) == b"data: 1\n\ndata: 2\n\nid: m\ndata: 3\n\n"
    assert sse_frame(Portion([b"1"], "m")) == b"id: m\ndata: 1\n\n"
    assert sse_frame(Portion([])).startswith(b":")
    assert sse_frame(Portion([b"1"], "", 700)) == b"retry: 700\n\ndata: 1\n\n"


def test_lines_of_one_message() -> None:
    assert ws_frame(Portion([b"1", b"2"])) == "1\n2"
    assert json.loads(ws_frame(Portion([]))) == {"kind": "heartbeat"}


def test_a_stream_from_beginning_to_end() -> None:
    script = Script()
    response = client(script).get(
        "/events?id=acme/a&id=acme/b&id=acme/a&progress=2.5", headers=TOKEN | {"Last-Event-ID": "0:1.1,-"}
    )
    assert response.text == (
        'data: {"n":1}\n\nid: 0:1.2\ndata: {"n":2}\n\n: still here\n\nretry: 700\n\nid: 0:1.3\ndata: {"n":3}\n\n'
    )
    assert response.headers["cache-control"] == "no-store"
    assert script.asked == [(["acme/a", "acme/b"], "0:1.1,-", 2.5, False, True)]
    assert script.closed == 1


@pytest.mark.parametrize(
    ("path", "redirected"),
    [
        ("/events?id=acme/a&redirect=no", False),
        ("/events?id=acme/a", True),
        ("/subscriptions/acme/a/events?redirect=no", True),
    ],
)
def test_a_reader_of_several_may_be_told_of_other_edges(path: str, redirected: bool) -> None:
    script = Script()
    client(script).get(path, headers=TOKEN)
    assert [redirect for *_, redirect in script.asked] == [redirected]


def test_a_websocket_from_beginning_to_end() -> None:
    script = Script()
    path = "/subscriptions/acme/a/events?last_event_id=0:1.1"
    with client(script).websocket_connect(path, subprotocols=["tidewire", "bearer.t"]) as socket:
        assert socket.accepted_subprotocol == "tidewire"
        texts = [socket.receive_text() for _ in range(3)]
        assert texts == ['{"n":1}\n{"n":2}', '{"kind":"heartbeat"}', '{"n":3}']
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
        assert closed.value.code == 1012
    assert script.asked == [(["acme/a"], "0:1.1", 1.0, True, True)]
    assert script.closed == 1


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/events?id=acme/a", {}, 401),
        ("/events?id=other", TOKEN, 403),
        ("/events?id=acme/a&token=t", TOKEN, 400),
        ("/events", TOKEN, 400),
        ("/events?id=acme/a&progress=-1", TOKEN, 400),
        ("/events?id=acme/a&progress=nan", TOKEN, 400),
        ("/events?" + "&".join(f"id=acme/{i}" for i in range(101)), TOKEN, 400),
    ],
)
def test_refusals_open_nothing(path: str, headers: dict[str, str], status: int) -> None:
    script = Script()
    assert client(script).get(path, headers=headers).status_code == status
    assert script.asked == []


def test_not_now() -> None:
    response = client(Script(NotNow("full")), HttpRules()).get("/events?id=a")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")


def test_a_page_of_another_origin_opens_no_websocket() -> None:
    script = Script()
    headers = {"Origin": "https://theirs.example"}
    with (
        pytest.raises(Exception) as refused,
        client(script, HttpRules()).websocket_connect("/events?id=a", headers=headers),
    ):
        pass
    assert getattr(refused.value, "status_code", None) == 403
    assert script.asked == []
