"""A question comes in at the door and is answered like any other."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import msgspec
import pytest

from connectors.kafka.failure import BrokerUnavailable
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from overlay.process import subscription_gateway
from tests.overlay.hand_engine import SQL
from tests.overlay.push.test_board import AT_HOME, Sse
from tests.overlay.push_world import TOPICS, LiveEdge


@pytest.fixture
def edge() -> Iterator[LiveEdge]:
    """An edge that takes steps by itself; the other virtual edge is far away."""
    live, stop = LiveEdge(others=(1,)), threading.Event()

    def run() -> None:
        while not stop.is_set():
            live.step()
            time.sleep(0.005)

    thread = threading.Thread(target=run)
    thread.start()
    yield live
    stop.set()
    thread.join()
    live.close()


def post(edge: LiveEdge, **body: object) -> httpx.Response:
    return httpx.post(f"{edge.url}/subscriptions", json=body, timeout=120)


def test_accepted_and_followed(edge: LiveEdge) -> None:
    response = post(edge, sql=SQL)
    assert (response.status_code, response.json()["status"]) == (201, "accepted")
    name = response.json()["id"]
    assert home_partition(name.encode(), 2) == 0
    stream = Sse(edge.url + response.headers["location"] + "/events")
    assert stream.next()["status"] == "accepted"
    edge.engine.run_batch(5)
    edge.engine.run_batch(6)
    assert stream.until("snapshot")["new"] == 0
    assert stream.until("change")["new"] in (5, 6)
    assert httpx.delete(edge.url + response.headers["location"]).status_code == 202
    assert stream.until("ended")["reason"] == "unsubscribed"
    stream.close()


def test_refused_with_the_reason(edge: LiveEdge) -> None:
    response = post(edge, id=AT_HOME[0], sql="SELECT MIN(w) FROM t")
    assert (response.status_code, response.json()["code"]) == (422, "unknown_column")
    assert "w" in response.json()["message"]
    assert post(edge, id=AT_HOME[0], nonsense=1).json()["code"] == "malformed"


def test_another_edge_takes_its_own(edge: LiveEdge) -> None:
    response = post(edge, id=AT_HOME[1], sql=SQL)
    assert (response.status_code, response.headers["location"]) == (307, "http://far:1/subscriptions")


def test_what_does_not_exist_is_not_ended(edge: LiveEdge) -> None:
    here, there = (f"{edge.url}/subscriptions/{name}" for name in AT_HOME)
    answer = httpx.delete(here)
    assert (answer.status_code, answer.json()["error"]) == (404, "unknown_subscription")
    assert httpx.delete(there).headers["location"] == f"http://far:1/subscriptions/{AT_HOME[1]}"
    assert post(edge, id=AT_HOME[0], sql="SELECT MIN(w) FROM t").status_code == 422
    assert httpx.delete(here).status_code == 404
    assert post(edge, id=AT_HOME[0], sql=SQL).status_code == 201
    assert httpx.delete(here).status_code == 202
    deadline = time.monotonic() + 30
    while httpx.get(here).status_code != 404 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert httpx.delete(here).status_code == 404
    edge.board.partitions = 0
    assert httpx.delete(here).status_code == 503


def test_what_this_edge_has_not_read_yet_is_ended_all_the_same(edge: LiveEdge) -> None:
    name = AT_HOME[0].encode()
    with edge.view.changing():
        edge.log.send(OutRecord(TOPICS.subscriptions, 0, name, msgspec.json.encode({"sql": SQL})))
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(httpx.delete, f"{edge.url}/subscriptions/{AT_HOME[0]}", timeout=60)
            time.sleep(0.1)
    assert answer.result().status_code in (404, 202)
    assert [record.value for record in edge.log.records[TOPICS.subscriptions, 0] if record.key == name][-1] is None


def test_an_ack_of_a_stray_record_is_not_taken_for_ones_own() -> None:
    async def first() -> Mapping[str, object]:
        acks: asyncio.Queue[bytes] = asyncio.Queue()
        for ack in (
            {"version": 3, "status": "refused", "code": "wrong_partition"},
            {"version": 3, "status": "accepted"},
        ):
            acks.put_nowait(msgspec.json.encode(ack))
        return await subscription_gateway._first_ack(acks, 3, {})

    assert asyncio.run(first())["status"] == "accepted"


class SlowProducer:
    """A broker that answers only when `together` records wait for it; it refuses those of some ids."""

    def __init__(self, edge: LiveEdge, together: int, refused: set[bytes]) -> None:
        self._edge, self._together, self._refused = edge, together, refused
        self._waiting: list[tuple[OutRecord, Future[int]]] = []
        self._lock = threading.Lock()

    def write(self, record: OutRecord) -> Future[int]:
        offset: Future[int] = Future()
        with self._lock:
            self._waiting.append((record, offset))
        return offset

    def serve(self, seconds: float) -> None:
        with self._lock:
            ready, self._waiting = (self._waiting, []) if len(self._waiting) >= self._together else ([], self._waiting)
        for record, offset in ready:
            if record.key in self._refused:
                offset.set_exception(BrokerUnavailable("no broker answers"))
            else:
                self._edge.log.send(record, lambda _, at, offset=offset: offset.set_result(at))
        if not ready:
            time.sleep(min(seconds, 0.005))


def test_registrations_wait_for_the_broker_together_and_each_hears_of_its_own(edge: LiveEdge) -> None:
    names = [f"s{i}" for i in range(200) if home_partition(b"s%d" % i, 2) == 0][:12]
    edge.gateway._producer = SlowProducer(edge, len(names), {names[3].encode()})  # type: ignore[assignment]
    with ThreadPoolExecutor(len(names)) as pool:
        answers = dict(zip(names, pool.map(lambda name: post(edge, id=name, sql=SQL), names), strict=True))
    assert {name: answer.status_code for name, answer in answers.items() if answer.status_code != 201}.keys() == {
        names[3]
    }
    assert "no broker answers" in answers[names[3]].text
    assert all(answer.json()["id"] == name for name, answer in answers.items() if name != names[3])
