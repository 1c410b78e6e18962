"""A question comes in at the door and is answered like any other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from connectors.partitioner import home_partition
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
