"""From committed transactions to readers on real sockets: SSE and WebSockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import msgspec
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from connectors.http.answer import Found
from connectors.http.rules import HttpRules
from connectors.kafka.partitioner import home_partition
from overlay.push.mark import read_mark
from tests.overlay.hand_engine import SQL
from tests.overlay.push_world import TOPICS, LiveEdge

Message = dict[str, Any]
AT_HOME = [next(f"s{i}" for i in range(99) if home_partition(f"s{i}".encode(), 2) == home) for home in (0, 1)]


@pytest.fixture
def edge() -> Iterator[LiveEdge]:
    live = LiveEdge()
    yield live
    live.close()


class Sse:
    """Reads a stream in the foreground; `marks` are the ids of events."""

    def __init__(self, url: str, **headers: str) -> None:
        self._client = httpx.Client(timeout=120)
        self._stream = self._client.stream("GET", url, headers={k.replace("_", "-"): v for k, v in headers.items()})
        self.response = self._stream.__enter__()
        self._lines = self.response.iter_lines()
        self.mark, self.retry = "", ""

    def next(self) -> Message:
        for line in self._lines:
            name, _, rest = line.partition(": ")
            if name == "id":
                self.mark = rest
            elif name == "retry":
                self.retry = rest
            elif name == "data":
                message: Message = json.loads(rest)
                return message
        raise EOFError

    def until(self, kind: str) -> Message:
        while (message := self.next())["kind"] != kind:
            pass
        return message

    def close(self) -> None:
        self._stream.__exit__(None, None, None)
        self._client.close()


@pytest.fixture
def sse(edge: LiveEdge) -> Iterator[Callable[..., Sse]]:
    opened: list[Sse] = []

    def open_(path: str, **headers: str) -> Sse:
        opened.append(Sse(edge.url + path, **headers))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ws(edge: LiveEdge, path: str, **options: Any) -> Any:
    return connect(edge.url.replace("http", "ws") + path, proxy=None, **options)


def test_answer_then_every_change_then_progress(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s")
    stream = sse("/subscriptions/s/events")
    assert stream.response.headers["content-type"].startswith("text/event-stream")
    first = stream.next()
    assert (first["kind"], first["answer"], first["n"]) == ("answer", 0, 1)
    edge.publish(7, 5, 5, 6)
    told = [stream.next() for _ in range(4)]
    assert [(m["kind"], m.get("old"), m.get("new")) for m in told[:3]] == [
        ("change", 0, 7),
        ("change", 7, 5),
        ("change", 5, 6),
    ]
    assert (told[3]["kind"], told[3]["batch"]) == ("progress", 1)
    assert stream.mark == f"0:{first['version']}.4"


def test_lines_are_those_of_the_topic(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe('q"\u00e9')
    stream = sse("/subscriptions/q%22%C3%A9/events")
    stream.next()
    edge.publish(3)
    home = home_partition('q"\u00e9'.encode(), 2)
    records = [r for r in edge.log.records[TOPICS.deliveries, home] if r.key != b"@progress"]
    assert stream.next() == json.loads(records[-1].value or b"")


def test_packed_deliveries_are_told_one_by_one(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.engine.subscribe("p", sql=SQL + " DELIVER PACKED")
    edge.step()
    edge.publish()
    stream = sse("/subscriptions/p/events")
    assert stream.next()["status"] == "live"
    edge.publish(7, 5)
    assert [(m["kind"], m.get("new")) for m in (stream.next() for _ in range(3))] == [
        ("change", 7),
        ("change", 5),
        ("progress", None),
    ]
    edge.subscribe("p")
    assert stream.until("snapshot")["n"] == 1


def test_a_websocket_hears_the_same(edge: LiveEdge) -> None:
    edge.subscribe("s")
    with ws(edge, "/subscriptions/s/events", subprotocols=["tidewire"]) as socket_:
        assert socket_.subprotocol == "tidewire"
        assert json.loads(socket_.recv())["kind"] == "answer"
        edge.publish(1, 2)
        kinds = [json.loads(line)["kind"] for line in socket_.recv().splitlines()]
        assert kinds == ["change", "change", "progress"]


def test_several_on_one_stream_and_progress_of_the_slowest(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe(*AT_HOME)
    stream = sse(f"/events?id={AT_HOME[0]}&id={AT_HOME[1]}&id=nobody&progress=0")
    assert [(m["id"], m["kind"]) for m in (stream.next() for _ in range(3))] == [
        (AT_HOME[0], "answer"),
        (AT_HOME[1], "answer"),
        ("nobody", "unknown"),
    ]
    edge.publish(4)
    assert {stream.next()["id"] for _ in range(2)} == set(AT_HOME)
    assert stream.until("progress")["batch"] == 1
    mark = read_mark(stream.mark, 3)
    assert mark is not None and mark.heard[2] is None and mark.heard[0] == (0, 2)


def test_packed_deliveries_are_heard_as_all_others(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s", "u", sql="SELECT MIN(v) FROM t DELIVER PACKED")
    stream = sse("/subscriptions/s/events")
    assert stream.next()["kind"] == "answer"
    edge.publish(4, 3)
    told = [stream.next() for _ in range(2)]
    assert [(one["id"], one["n"], one["new"]) for one in told] == [("s", 2, 4), ("s", 3, 3)]
    edge.engine.unsubscribe("s")
    edge.step()
    assert stream.until("ended")["reason"] == "unsubscribed"


@pytest.mark.parametrize("policy", ["", " NOTIFY LATEST", " NOTIFY MIN CHANGE 1"])
def test_what_is_only_pushed_is_told_and_not_written(edge: LiveEdge, sse: Callable[..., Sse], policy: str) -> None:
    edge.subscribe("s", sql=f"SELECT MIN(v) FROM t{policy} DELIVER PUSH")
    stream = sse("/subscriptions/s/events")
    first = stream.next()
    assert (first["kind"], first["answer"], first["n"]) == ("answer", 0, 1)
    edge.publish(4)
    edge.publish(3)
    told = [stream.until("change") for _ in range(2)]
    assert [(one["n"], one["old"], one["new"]) for one in told] == [(2, 0, 4), (3, 4, 3)]
    edge.again()
    found = edge.answers.find(b"s")
    assert isinstance(found, Found) and (found.body["n"], found.body["answer"]) == (3, msgspec.Raw(b"3"))
    edge.engine.unsubscribe("s")
    edge.step()
    assert stream.until("ended")["n"] == 4
    written = [r.key for number in edge.numbers for r in edge.log.records[TOPICS.deliveries, number]]
    assert set(written) == {b"@progress"}
    home = home_partition(b"s", 2)
    acks = [json.loads(r.value or b"")["status"] for r in edge.log.records[TOPICS.acks, home]]
    assert acks == ["accepted", "live", "ended"]


def test_a_replacement_changes_the_form(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s", sql=SQL + " DELIVER PUSH")
    stream = sse("/subscriptions/s/events")
    versions = [stream.next()["version"]]
    for form in ("RECORDS", "PUSH", "PACKED", "PUSH"):
        edge.subscribe("s", sql=f"{SQL} DELIVER {form}")
        versions.append(stream.until("snapshot")["version"])
        edge.publish(len(versions))
        assert stream.until("change")["new"] == len(versions)
    assert versions == sorted(set(versions)) and len(versions) == 5
    written = [r.key for number in edge.numbers for r in edge.log.records[TOPICS.deliveries, number]]
    assert [key for key in written if key != b"@progress"] == [b"s", b"s", b"@packed", b"@packed"]


def test_it_hears_of_the_end_and_of_a_new_beginning(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s")
    stream = sse("/subscriptions/s/events")
    edge.engine.unsubscribe("s")
    edge.step()
    assert stream.until("ended")["reason"] == "unsubscribed"
    edge.subscribe("s")
    assert stream.until("snapshot")["n"] == 1


@pytest.mark.parametrize(("more", "conflated"), [((), None), ((1,), None), ((1, 2), True)])
def test_resuming(edge: LiveEdge, sse: Callable[..., Sse], more: tuple[int, ...], conflated: bool | None) -> None:
    edge.subscribe("s")
    stream = sse("/subscriptions/s/events")
    stream.next()
    edge.publish(9)
    stream.until("progress")
    edge.publish(*more)
    again = sse("/subscriptions/s/events", Last_Event_ID=stream.mark).next()
    assert (again["kind"], again["n"], again.get("conflated")) == ("answer", 2 + len(more), conflated)


@pytest.mark.parametrize("mark", ["rubbish", "5:0.1", "0:0.99", "0:7.1", "0:0.1,0.1"])
def test_an_unknown_mark_is_a_reset(edge: LiveEdge, sse: Callable[..., Sse], mark: str) -> None:
    edge.subscribe("s")
    stream = sse("/subscriptions/s/events", Last_Event_ID=mark)
    assert [stream.next()["kind"] for _ in range(2)] == ["reset", "answer"]


@pytest.mark.parametrize("upgrade", ["Upgrade: websocket\r\nConnection: Upgrade\r\n", ""], ids=["websocket", "sse"])
@pytest.mark.parametrize("stays", [0, 0.001, 0.01])
def test_a_reader_that_leaves_before_it_is_let_in_is_forgotten(edge: LiveEdge, upgrade: str, stays: float) -> None:
    edge.subscribe("s")
    host = edge.server.address
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    for _ in range(10):
        with socket.create_connection((edge.server.host, edge.server.port)) as leaving:
            leaving.sendall(f"GET /events?id=s HTTP/1.1\r\nHost: {host}\r\n{upgrade}{key}\r\n".encode())
            time.sleep(stays)
    time.sleep(0.3)
    until(lambda: not edge.server._server.server_state.connections and not edge.board.readers)


def test_what_is_not_here(edge: LiveEdge) -> None:
    assert httpx.get(f"{edge.url}/subscriptions/x/events").status_code == 404
    with pytest.raises(InvalidStatus) as refused:
        ws(edge, "/subscriptions/x/events")
    assert refused.value.response.status_code == 404


def test_another_edge_has_it() -> None:
    edge = LiveEdge(others=(1,))
    try:
        edge.subscribe(AT_HOME[0])
        theirs = AT_HOME[1]
        response = httpx.get(f"{edge.url}/subscriptions/{theirs}/events?progress=3")
        assert response.status_code == 307
        assert response.headers["location"] == f"http://far:1/subscriptions/{theirs}/events?progress=3"
        response = httpx.get(f"{edge.url}/events?id={theirs}")
        assert response.headers["location"] == f"http://far:1/events?id={theirs}"
        told = Sse(f"{edge.url}/events?id={theirs}&redirect=no")
        assert told.next() == {"kind": "elsewhere", "id": theirs, "url": f"http://far:1/subscriptions/{theirs}/events"}
        told.close()
        stream = Sse(f"{edge.url}/events?id={AT_HOME[0]}&id={theirs}")
        assert [stream.next()["kind"] for _ in range(2)] == ["answer", "elsewhere"]
        stream.close()
    finally:
        edge.close()


def test_a_moving_virtual_edge_ends_its_streams_and_no_others(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe(*AT_HOME)
    staying, moving = (sse(f"/subscriptions/{name}/events") for name in AT_HOME)
    with ws(edge, f"/subscriptions/{AT_HOME[1]}/events") as socket_:
        socket_.recv()
        staying.next()
        moving.next()
        edge.board.owned([0])
        assert moving.next()["kind"] == "moved"
        assert 500 <= int(moving.retry) <= 5_000
        with pytest.raises(EOFError):
            moving.next()
        assert json.loads(socket_.recv())["kind"] == "moved"
        with pytest.raises(ConnectionClosed) as closed:
            socket_.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012
    edge.publish(8)
    assert staying.until("change")["new"] == 8


def test_only_what_is_committed_is_told_and_that_is_made_good(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s")
    stream = sse("/subscriptions/s/events")
    stream.next()
    edge.publish(1, 2, tell=False)
    edge.again()
    made_good = stream.until("answer")
    assert (made_good["answer"], made_good["n"], made_good["conflated"]) == (2, 3, True)
    edge.publish(3)
    assert stream.until("change")["old"] == 2


def test_a_stopped_reader_delays_nobody_and_ends_with_the_right_answer(edge: LiveEdge, sse: Callable[..., Sse]) -> None:
    edge.subscribe("s")
    quick, slow = sse("/subscriptions/s/events"), socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    slow.connect((edge.server.host, edge.server.port))
    slow.sendall(f"GET /subscriptions/s/events HTTP/1.1\r\nHost: {edge.server.address}\r\n\r\n".encode())
    until(lambda: edge.board.readers == 2)
    for batch in range(10):
        edge.publish(*range(1000 * batch, 1000 * batch + 600))
        while quick.until("change")["new"] != 1000 * batch + 599:
            pass
    edge.publish(999_999)
    text = b""
    while b'"new":999999,' not in text:
        text += slow.recv(65_536)
    slow.close()
    lines = [line[6:] for line in text.splitlines() if line.startswith(b"data: ")]
    first, *told = [json.loads(line) for line in lines if b'"progress"' not in line]
    assert first["kind"] == "answer"
    assert any(message.get("conflated") for message in told)
    held, n = first["answer"], first["n"]
    for message in told:
        assert (message["old"], message["n"]) == (held, n + message.get("changes", 1))
        held, n = message["new"], message["n"]


def test_limits() -> None:
    edge = LiveEdge(HttpRules(connections=2, stream_subscriptions=3))
    try:
        edge.subscribe("s")
        response = httpx.get(f"{edge.url}/events?id=a&id=b&id=c&id=d")
        assert (response.status_code, response.json()["error"]) == (400, "subscriptions")
        assert httpx.get(f"{edge.url}/events").status_code == 400
        assert httpx.get(f"{edge.url}/events?id=s&progress=x").status_code == 400
        assert httpx.get(f"{edge.url}/events?id=s&token=abc").json()["error"] == "token_in_url"
        assert httpx.get(f"{edge.url}/subscriptions/a%09b/events").json()["error"] == "malformed_id"
        assert httpx.get(f"{edge.url}/health", headers={"x": "y" * 20_000}).status_code == 431
        one, two = Sse(f"{edge.url}/subscriptions/s/events"), Sse(f"{edge.url}/subscriptions/s/events")
        assert httpx.get(f"{edge.url}/subscriptions/s/events").status_code == 503
        one.close()
        two.close()
        until(lambda: edge.board.readers == 0)
    finally:
        edge.close()


def test_nothing_is_done_for_nobody(edge: LiveEdge) -> None:
    edge.board.committed(object())  # type: ignore[arg-type]


def test_many_come_and_go_while_answers_change(edge: LiveEdge) -> None:
    """Whenever a reader comes, it hears the answer and then every change behind it, without a gap."""
    edge.subscribe("s")
    stop, failures = threading.Event(), list[str]()

    def read() -> None:
        while not stop.is_set():
            stream = Sse(f"{edge.url}/subscriptions/s/events")
            n = stream.next()["n"]
            for _ in range(5):
                message = stream.until("change")
                if message["n"] != n + 1:
                    failures.append(f"{n} {message}")
                n = message["n"]
            stream.close()

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for value in range(1, 50):
        edge.publish(value)
        time.sleep(0.002)
    stop.set()
    while any(reader.is_alive() for reader in readers):
        edge.publish(edge.engine.value + 1)
        time.sleep(0.01)
    assert failures == []
