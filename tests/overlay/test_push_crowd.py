"""A crowd that reads nothing comes for one large answer: its text and its message are made once a step, for all."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from benchmarks.push_edge import WIDE, PushEdge
from overlay.answers import set_layout
from overlay.answers.answer_text import sorted_texts
from overlay.push import answers
from overlay.push.message import answer_message

CROWD = 40
_UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.fixture
def edge() -> Iterator[PushEdge]:
    one = PushEdge(2, None)
    yield one
    one.board.owned(())
    one.server.close()


def come(edge: PushEdge, there: int) -> list[socket.socket]:
    """Return connections, every second one a WebSocket, once the edge has begun to tell all of them."""
    crowd = []
    for number in range(CROWD):
        one = socket.create_connection((edge.server.host, edge.server.port))
        head = f"GET /subscriptions/wide/events HTTP/1.1\r\nHost: {edge.server.address}\r\n"
        one.sendall(f"{head}{_UPGRADE if number % 2 else ''}\r\n".encode())
        crowd.append(one)
    until = time.monotonic() + 120
    while edge.board.readers < there or any(stream._held is not None for stream in list(edge.board._streams)):
        assert time.monotonic() < until
        time.sleep(0.01)
    return crowd


def test_what_a_crowd_asks_for_is_made_once_a_step(edge: PushEdge, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, messages = list[int](), list[int]()

    def text(values: set[int], *how: object) -> list[str]:
        if len(values) >= WIDE:
            texts.append(len(values))
        return sorted_texts(values, *how)  # type: ignore[arg-type]

    def message(body: dict[str, object], conflated: bool) -> object:
        messages.append(1)
        return answer_message(body, conflated)

    monkeypatch.setattr(set_layout, "sorted_texts", text)
    monkeypatch.setattr(answers, "answer_message", message)
    crowd: list[socket.socket] = []
    for step in range(1, 4):
        crowd += come(edge, step * CROWD)
        assert (len(texts), len(messages)) == (step, step)
        edge.step(5)
    for one in crowd:
        one.close()
