"""How portions look on the wire, and what is asked of the streams behind."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from websockets.sync.client import connect

from connectors.http import stream as http_stream
from connectors.http.answer import Answer, NotNow
from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from connectors.http.server import HttpServer
from connectors.http.stream import PIECE_BYTES, Portion, Stream, sse_frame, sse_pieces, ws_frame, ws_pieces
from tests.connectors.http.test_app import Fixed

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


LINES = st.lists(st.integers(0, 3 * PIECE_BYTES).map(lambda size: b"{%s}" % (b"x" * size)), min_size=1, max_size=8)


@given(LINES, st.sampled_from(["", "0:1.2"]), st.sampled_from([None, 700]))
def test_pieces_are_the_same_bytes_and_none_is_large(lines: list[bytes], mark: str, retry_ms: int | None) -> None:
    portion = Portion(lines, mark, retry_ms)
    for pieces, whole in ((sse_pieces(portion), sse_frame(portion)), (ws_pieces(portion), ws_frame(portion).encode())):
        told = list(pieces)
        assert b"".join(told) == whole
        assert max(map(len, told)) <= PIECE_BYTES + 50


def test_no_message_that_fits_into_a_piece_is_cut() -> None:
    pieces = list(sse_pieces(Portion([b"x" * 999] * 500, "m")))
    assert len(pieces) > 1
    assert all(piece.endswith(b"\n\n") for piece in pieces)


def test_others_have_their_turn_between_two_pieces() -> None:
    """Though the reader takes all of them at once."""

    class Large:
        async def take(self) -> Portion:
            return Portion([b"{%s}" % (b"x" * 8 * PIECE_BYTES)], "0:1.2", 700)

        def close(self) -> None:
            """Nothing is open."""

    async def scene() -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        seen = [turns async for _ in http_stream._frames(Large())]
        task.cancel()
        assert len(seen) > 8
        assert len(set(seen[1:])) == len(seen) - 1

    asyncio.run(scene())


class Endless:
    """A stream that has one portion again and again, and counts who reads it."""

    def __init__(self) -> None:
        self.open_streams = 0

    async def open(
        self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Stream | Answer:
        if identifiers[0].endswith("/none"):
            return NotNow("moving")
        self.open_streams += 1
        return self

    async def take(self) -> Portion:
        await asyncio.sleep(0.05)
        return Portion([b'{"v":"%s"}' % (b"x" * 200_000)])

    def close(self) -> None:
        self.open_streams -= 1


def test_a_tenant_has_so_many_streams_and_another_one_has_its_own() -> None:
    tokens = {"acme": hash_of("t"), "bob": hash_of("b"), "*": hash_of("r")}
    endless = Endless()
    rules = HttpRules(tokens, tenant_streams=2)
    server = HttpServer(edge_app(Edge(Fixed(), endless), rules), rules=rules)

    def ask(tenant: str, token: str, path: str = "a/events") -> socket.socket:
        one = socket.create_connection((server.host, server.port), timeout=30)
        target = f"/subscriptions/{tenant}/{path}"
        one.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {server.address}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        return one

    def status(one: socket.socket) -> int:
        return int(one.recv(100).split()[1])

    for _ in range(3):
        assert status(ask("acme", "t", "none/events")) == 503  # what is refused is not counted
    held = [ask("acme", "t") for _ in range(2)]
    assert [status(one) for one in held] == [200, 200]
    assert status(ask("acme", "t")) == 503
    others = [ask("bob", "b"), ask("acme", "r"), ask("acme", "r")]
    assert [status(one) for one in others] == [200, 200, 200]
    assert status(ask("acme", "r")) == 503
    held[0].close()
    until = time.monotonic() + 20
    while (again := status(ask("acme", "t"))) != 200:
        assert again == 503
        assert time.monotonic() < until
    for one in held + others:
        one.close()
    server.close()


def test_large_messages_reach_a_websocket_whole() -> None:
    server = HttpServer(edge_app(Edge(Fixed(), Endless()), HttpRules()))
    with connect(f"ws://{server.address}/subscriptions/a/events") as socket:
        for _ in range(3):
            assert json.loads(socket.recv(timeout=30)) == {"v": "x" * 200_000}
    server.close()


@pytest.mark.parametrize("pause", [0.0, 0.005, 0.02, 0.1])
def test_a_websocket_that_leaves_at_any_moment_is_forgotten(pause: float) -> None:
    class Slow(Endless):
        async def open(
            self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
        ) -> Stream | Answer:
            await asyncio.sleep(0.05)
            return await super().open(identifiers, mark, progress, single, redirect)

    slow = Slow()
    server = HttpServer(edge_app(Edge(Fixed(), slow), HttpRules()))
    asked = (
        f"GET /subscriptions/a/events HTTP/1.1\r\nHost: {server.address}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    for _ in range(5):
        one = socket.create_connection((server.host, server.port), timeout=30)
        one.sendall(asked.encode())
        time.sleep(pause)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        one.close()
    until = time.monotonic() + 20
    time.sleep(0.3)
    while slow.open_streams or server._server.server_state.connections:
        assert time.monotonic() < until
        time.sleep(0.02)
    server.close()


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_reader_that_never_reads_is_let_go(upgrade: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection, too, though what was written is never taken."""
    monkeypatch.setattr(http_stream, "STALLED_SECONDS", 0.5)
    endless, rules = Endless(), HttpRules(request_seconds=0.5)
    server = HttpServer(edge_app(Edge(Fixed(), endless), rules), rules=rules)
    more = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    )
    readers = []
    for _ in range(5):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.connect((server.host, server.port))
        one.sendall(
            f"GET /subscriptions/a/events HTTP/1.1\r\nHost: {server.address}\r\n{more if upgrade else ''}\r\n".encode()
        )
        readers.append(one)
    until = time.monotonic() + 30
    time.sleep(0.3)
    assert endless.open_streams == 5
    while endless.open_streams or server._server.server_state.connections:
        assert time.monotonic() < until
        time.sleep(0.05)
    for one in readers:
        one.close()
    server.close()
