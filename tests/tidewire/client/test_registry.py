"""What is registered, from topics that are lists: newest records, states, answers, and only those that are wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from connectors.kafka.partitioner import home_partition
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from tidewire.client.registry import Registry

TOPICS = Topics()


class Log:
    """A reader of two virtual edges; notes which partitions were read."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, int], list[KafkaRecord]] = {}
        self.read: list[tuple[str, int]] = []
        self.admin = self

    def write(self, topic: str, edge: int, id: str, body: dict[str, Any] | None) -> None:
        log = self.logs.setdefault((topic, edge), [])
        value = None if body is None else json.dumps(body).encode()
        log.append(KafkaRecord(topic, edge, len(log), 0, id.encode(), value))

    def partitions(self, topic: str) -> int:
        return 2

    def read_to_end(self, topic: str, partitions: Sequence[int]) -> Iterator[KafkaRecord]:
        [edge] = partitions
        self.read.append((topic, edge))
        yield from self.logs.get((topic, edge), [])


def log() -> Log:
    made = Log()
    for edge, id, sql in (
        (0, "a", "SELECT 1"),
        (0, "c", "SELECT 2"),
        (1, "b", "select two"),
        (1, "gone", "x"),
        (0, "a", "SELECT 3"),
    ):
        made.write(TOPICS.subscriptions, edge, id, {"sql": sql})
    made.write(TOPICS.subscriptions, 1, "gone", None)
    made.write(TOPICS.acks, 0, "a", {"id": "a", "version": 0, "status": "live"})
    made.write(TOPICS.acks, 0, "a", {"id": "a", "version": 2, "status": "refused", "message": "no"})
    told = {"id": "b", "version": 0, "at": {"epoch": 1, "batch": 0}}
    made.write(TOPICS.deliveries, 1, "b", told | {"kind": "snapshot", "n": 1, "removed": [], "added": [1, 2]})
    made.write(TOPICS.deliveries, 1, "b", told | {"kind": "change", "n": 2, "removed": [1], "added": [None]})
    made.write(TOPICS.deliveries, 1, "@progress", {"kind": "progress", "epoch": 1, "batch": 0, "time": "t"})
    return made


def registry(made: Log, search: str = "", answers: bool = True) -> Registry:
    return Registry(made, TOPICS, search, answers)  # type: ignore[arg-type]


def test_all_by_edge() -> None:
    found = list(registry(log()).all())
    assert [(one.id, one.status, one.version, one.live_version, one.query) for one in found] == [
        ("a", "refused", 2, 0, "SELECT 3"),
        ("c", "unanswered", 1, None, "SELECT 2"),
        ("b", "unanswered", 0, 0, "select two"),
    ]
    assert (found[0].reason, found[2].answer, found[2].n) == ("no", [2, None], 2)


def test_the_first_are_all_that_is_looked_into() -> None:
    made = log()
    found, count = registry(made).first(1)
    assert ([one.id for one in found], count) == (["a"], 3)
    assert (TOPICS.acks, 1) not in made.read and (TOPICS.deliveries, 0) in made.read
    assert [one.id for one in registry(log()).first(2)[0]] == ["a", "b"]


def test_search_is_of_newest_questions_and_ids() -> None:
    assert [one.id for one in registry(log(), "SELECT T").all()] == ["b"]
    assert registry(log(), "select 1").first(9) == ([], 0)
    assert [one.id for one in registry(log(), "C", answers=False).first(9)[0]] == ["a", "b", "c"]


def test_one_by_its_id() -> None:
    made = log()
    home = home_partition(b"a", 2)
    for id, status in (("x", "ended"), ("y", "live"), ("z", None)):
        edge = home_partition(id.encode(), 2)
        made.write(TOPICS.subscriptions, edge, id, {"sql": f"SELECT '{id}'"})
        version = len(made.logs[TOPICS.subscriptions, edge]) - 1
        if status is not None:
            made.write(TOPICS.acks, edge, id, {"id": id, "version": version, "status": status, "reason": "expired"})
    find = registry(made).find
    found = {id: find(id) for id in ("x", "y", "z", "gone", "nobody")}
    assert {id: one and (one.status, one.query) for id, one in found.items()} == {
        "x": ("ended", "SELECT 'x'"),
        "y": ("live", "SELECT 'y'"),
        "z": ("unanswered", "SELECT 'z'"),
        "gone": None,
        "nobody": None,
    }
    assert found["x"] is not None and found["x"].reason == "expired"
    made.write(TOPICS.subscriptions, home, "a", {"sql": "SELECT 4"})
    made.write(TOPICS.subscriptions, 1 - home, "a", {"sql": "in the wrong partition"})
    again = find("a")
    assert again is not None and (again.status, again.query) == ("unanswered", "SELECT 4")
