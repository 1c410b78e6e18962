"""A question comes in at the door and is answered like any other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from connectors.kafka_failure import BrokerUnavailable
from connectors.partitioner import home_partition
from connectors.record import OutRecord
from tests.overlay.hand_engine import SQL
from tests.overlay.push_world import LiveEdge
from tests.overlay.test_push_board import AT_HOME, Sse


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
    edge.desk._producer = SlowProducer(edge, len(names), {names[3].encode()})  # type: ignore[assignment]
    with ThreadPoolExecutor(len(names)) as pool:
        answers = dict(zip(names, pool.map(lambda name: post(edge, id=name, sql=SQL), names), strict=True))
    assert {name: answer.status_code for name, answer in answers.items() if answer.status_code != 201}.keys() == {
        names[3]
    }
    assert "no broker answers" in answers[names[3]].text
    assert all(answer.json()["id"] == name for name, answer in answers.items() if name != names[3])
