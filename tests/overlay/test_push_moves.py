"""Readers of real edges over Kafka: virtual edges move, edges stop, and each reader still hears a whole story."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tests.overlay.hand_engine import HandEngine
from tests.overlay.process.test_edge_process import SECONDS, edge, serve, started, until, url

pytestmark = pytest.mark.broker
NAMES = [f"reader-{number}" for number in range(6)]


class Follower(threading.Thread):
    """Follows one subscription wherever it goes, from its mark each time; checks what it hears."""

    def __init__(self, name: str, doors: Callable[[], list[str]]) -> None:
        super().__init__(name=name, daemon=True)
        self.told: list[dict[str, Any]] = []
        self.connections = 0
        self.problems: list[str] = []
        self.stopping = False
        self._doors = doors
        self._mark = ""
        self._held: tuple[int, object] | None = None

    @property
    def answer(self) -> object:
        return self._held[1] if self._held else None

    def run(self) -> None:
        tries = 0
        while not self.stopping:
            tries += 1
            with suppress(httpx.HTTPError, json.JSONDecodeError):
                self._once(self._doors()[tries % len(self._doors())])
            time.sleep(0.1)

    def _once(self, door: str) -> None:
        headers = {"Last-Event-ID": self._mark} if self._mark else {}
        where = f"{door}/subscriptions/{self.name}/events"
        with (
            httpx.Client(timeout=5, follow_redirects=True) as client,
            client.stream("GET", where, headers=headers) as answer,
        ):
            if answer.status_code != 200:
                return
            self.connections += 1
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    self._mark = line[4:]
                elif line.startswith("data: "):
                    self._hear(json.loads(line[6:]))
                if self.stopping:
                    return

    def _hear(self, message: dict[str, Any]) -> None:
        self.told.append(message)
        kind, held = message["kind"], self._held
        if kind == "answer" and message["status"] == "live":
            same = held is not None and message["n"] == held[0]
            if held is not None and message["n"] < held[0]:
                self.problems.append(f"back from {held} to {message}")
            if same and held is not None and message["answer"] != held[1]:
                self.problems.append(f"other answer than {held} in {message}")
            if held is not None and message["n"] > held[0] + 1 and not message.get("conflated"):
                self.problems.append(f"a jump from {held} unmarked in {message}")
            self._held = message["n"], message["answer"]
        elif kind == "change":
            expected = (held[0] + message.get("changes", 1), held[1]) if held else None
            if (message["n"], message["old"]) != expected:
                self.problems.append(f"after {held} came {message}")
            self._held = message["n"], message["new"]
        elif kind == "snapshot":
            self._held = message["n"], message["new"]
        elif kind in ("reset", "unknown"):
            self.problems.append(str(message))


def publish_for(engine: HandEngine, seconds: float) -> None:
    """Change the answer all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        engine.run_batch(engine.value + 1, engine.value + 2)
        time.sleep(0.05)


def shares(*edges: Any) -> list[int]:
    return sorted(len(one.answers.health()[1].get("virtual_edges", ())) for one in edges)  # type: ignore[arg-type]


def test_readers_follow_their_virtual_edges(kafka: KafkaProperties, topics: Topics) -> None:
    doors: list[str] = []
    followers = [Follower(name, lambda: doors) for name in NAMES]
    with edge(kafka, topics) as staying:
        engine = started(kafka, topics)
        serve(engine, *NAMES)
        doors.append(url(staying))
        for follower in followers:
            follower.start()
        publish_for(engine, 1.0)
        with edge(kafka, topics) as coming:
            until(lambda: shares(staying, coming) == [2, 2])
            doors.append(url(coming))
            publish_for(engine, 4.0)
        doors.pop()
        until(lambda: shares(staying) == [4])
        publish_for(engine, 2.0)
        engine.run_batch(7_777_777)
        deadline = time.monotonic() + SECONDS
        while any(follower.answer != 7_777_777 for follower in followers) and time.monotonic() < deadline:
            engine.progress()
            time.sleep(0.2)
        for follower in followers:
            follower.stopping = True
        engine.progress()
    assert [follower.answer for follower in followers] == [7_777_777] * len(NAMES)
    assert [problem for follower in followers for problem in follower.problems] == []
    assert sum(follower.connections for follower in followers) > len(NAMES)
    assert any(message["kind"] == "moved" for follower in followers for message in follower.told)
