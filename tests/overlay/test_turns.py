"""Turns of an edge that has time for one record only, and whose transactions fail: everything once and in order.

Log, group and transactions are lists; the numbers are those of `overlay/process/edge_member.py`.
"""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace

import msgspec
import pytest
import structlog

from connectors.http.rules import HttpRules
from connectors.kafka.admin import Place
from connectors.kafka.failure import KafkaFailure, StepAborted
from connectors.kafka.group import Assignment
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from overlay.process import edge_member
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import EdgeAnswers
from overlay.process.edge_config import EdgeConfig
from overlay.process.edge_member import EdgeMember
from overlay.process.ownership import Ownership
from overlay.process.shard_looks import ShardLooks
from overlay.push.board import PushBoard
from tests.effort import examples
from tests.overlay.process.test_owned_edges import CATALOG
from tests.overlay.push_world import PARTITIONS, TOPICS, MemoryEngine, MemoryLog
from tests.overlay.views import views

NAMES = [f"s{i}" for i in range(12)]


class MemoryGroup:
    """A group with one member, which owns everything."""

    def __init__(self, log: MemoryLog, committed: Mapping[Place, int]) -> None:
        places = [(topic, number) for topic in (TOPICS.subscriptions, TOPICS.notifications) for number in (0, 1)]
        self.assignment = Assignment(frozenset(places), None)
        self.positions: dict[Place, int] = {}
        self._log, self._committed = log, committed

    def committed(self, places: Iterable[Place]) -> dict[Place, int | None]:
        return {place: self._committed.get(place) for place in places}

    def start(self, positions: Mapping[Place, int]) -> None:
        self.positions = dict(positions)

    def pause(self) -> None:
        self.positions = {}

    def poll(self, seconds: float, limit: int) -> list[KafkaRecord]:
        found: list[KafkaRecord] = []
        for place in self.positions:
            new = self._log.records[place][self.positions[place] :][: limit - len(found)]
            self.positions[place] += len(new)
            found += new
        return found


class MemoryTransactions:
    """Transactions that fail now and then; `committed` are the positions of those that did not."""

    def __init__(self, log: MemoryLog, seed: int, failing: float) -> None:
        self.committed: dict[Place, int] = {}
        self._log, self._choose, self.failing = log, random.Random(seed), failing

    def commit(
        self, records: Iterable[OutRecord], positions: Mapping[Place, int], group: object, watch: str = ""
    ) -> dict[int, int]:
        if self._choose.random() < self.failing:
            raise StepAborted("a transaction was given up")
        for record in records:
            self._log.send(record)
        self.committed |= positions
        return {}


class MemoryReader:
    """Reads `edge-state`; nothing is ever trimmed."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.admin = SimpleNamespace(
            begin_offsets=self._begins, end_offsets=self._ends, delete_records=lambda _: None, topic_ids=lambda _: {}
        )

    def read_to_end(self, topic: str, numbers: list[int]) -> Iterator[KafkaRecord]:
        return (record for number in numbers for record in self._log.records[topic, number])

    def read_ranges(self, topic: str, ranges: Mapping[int, tuple[int, int]]) -> Iterator[KafkaRecord]:
        return (
            record
            for number, (start, stop) in ranges.items()
            for record in self._log.records[topic, number][start:stop]
        )

    def _begins(self, topic: str, numbers: list[int]) -> dict[int, int]:
        return dict.fromkeys(numbers, 0)

    def _ends(self, topic: str, numbers: list[int]) -> dict[int, int]:
        return {number: len(self._log.records[topic, number]) for number in numbers}


class World:
    """An engine by hand, and an edge whose turns are taken by hand."""

    def __init__(
        self, patch: pytest.MonkeyPatch, seed: int, seconds: float, failing: float, joins_on_demand: bool = True
    ) -> None:
        self.log = MemoryLog()
        self.engine = MemoryEngine(self.log)
        self.engine.begin()
        self.transactions = MemoryTransactions(self.log, seed, failing)
        patch.setattr(edge_member, "FEED_SECONDS", seconds)
        patch.setattr(edge_member, "RETRY_SECONDS", 0)
        patch.setattr(edge_member, "GroupConsumer", lambda *_: MemoryGroup(self.log, self.transactions.committed))
        patch.setattr(edge_member, "TransactionalProducer", lambda *_: self.transactions)
        patch.setattr(edge_member, "Producer", lambda *_, **__: self.log)
        patch.setattr(edge_member, "CatalogVersions", lambda *_: SimpleNamespace(at=lambda version: CATALOG))
        patch.setattr(edge_member, "give_back", lambda: None)
        view = CommittedView()
        self.answers = EdgeAnswers(view, Ownership(list, TOPICS.subscriptions))
        board = PushBoard(TOPICS, HttpRules(), self.answers.look, self.answers.epoch)
        kafka = SimpleNamespace()
        config = EdgeConfig(kafka, TOPICS, snapshot_floor=2_000, joins_on_demand=joins_on_demand)  # type: ignore[arg-type]
        self.looks = ShardLooks(self.answers)
        reader, log = MemoryReader(self.log), structlog.get_logger()
        beside = (reader, view, self.answers, board, self.looks, log)
        self.member = EdgeMember(config, PARTITIONS, "here:1", *beside)  # type: ignore[arg-type]

    def turn(self) -> int:
        """Take a turn; return how many records were fed in."""
        before = self.answers.counters.consumed
        self.member.turn(threading.Event())
        return self.answers.counters.consumed - before

    def finish(self) -> None:
        """Take turns until all is committed."""
        self.transactions.failing = 0.0
        for _ in range(10_000):
            ends = {place: len(self.log.records[place]) for place in self.member._assignment.places}
            if self.transactions.committed == ends:
                return
            self.turn()
        raise AssertionError(self.transactions.committed)

    def told(self) -> dict[tuple[str, int], list[dict]]:
        """Return the deliveries of each version of each subscription."""
        found: dict[tuple[str, int], list[dict]] = defaultdict(list)
        for number in range(PARTITIONS):
            for record in self.log.records[TOPICS.deliveries, number]:
                if record.key != b"@progress":
                    line = msgspec.json.decode(record.value or b"")
                    found[line["id"], line["version"]].append(line)
        return found


@pytest.mark.parametrize("failing", [0.0, 0.3])
@pytest.mark.parametrize("seconds", [0.0, 60.0])
@pytest.mark.parametrize("seed", range(examples(5, fewest=1)))
def test_everything_is_told_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, seed: int, seconds: float, failing: float
) -> None:
    choose, world = random.Random(seed), World(monkeypatch, seed, seconds, failing)
    engine = world.engine
    for _ in range(60):
        for name in choose.sample(NAMES, choose.choice([0, 0, 1, 5])):
            engine.subscribe(name)
        if choose.random() < 0.2:
            engine.unsubscribe(choose.choice(NAMES))
        for _ in range(choose.choice([0, 1, 4])):
            engine.run_batch(*range(engine.value + 1, engine.value + choose.choice([1, 3])))
        for _ in range(choose.choice([0, 1, 6])):
            world.turn()
    world.finish()
    engine.run_batch()
    engine.run_batch(engine.value + 1)
    world.finish()
    told = world.told()
    assert told, "nothing was told"
    for (name, version), lines in told.items():
        assert [line["n"] for line in lines] == list(range(1, len(lines) + 1)), (name, version)
        changes = lines[1:-1] if lines[-1]["kind"] == "ended" else lines[1:]
        assert lines[0]["kind"] == "snapshot" and all(line["kind"] == "change" for line in changes)
        news = [lines[0]["new"], *(line["new"] for line in changes)]
        assert news == list(range(news[0], news[0] + len(news)))
        assert [line["old"] for line in lines[1:]] == news[: len(lines) - 1]
    for edge in world.member._owned.edges.values():
        edge.check()
        for view in views(edge):
            assert told[view.id, view.version][-1]["new"] == engine.value == view.answer


def test_a_turn_without_time_takes_one_notification_and_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, 0, 0.0, 0.0)
    world.engine.subscribe(*NAMES)
    assert world.turn() == 0, "the first turn adopts"
    fed = [world.turn() for _ in range(6)]
    assert fed == [1, 1, 1, 1 + len(NAMES), 0, 0]
    for _ in range(5):
        world.engine.run_batch(1)
    world.engine.subscribe("late")
    assert max(world.turn() for _ in range(100)) <= 2
    world.finish()


def test_subscriptions_are_not_kept_waiting_by_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more notifications come than a turn has time for, subscriptions are taken in their turn all the same."""
    world = World(monkeypatch, 0, 0.0, 0.0)
    world.turn()
    world.engine.subscribe("first")
    for _ in range(100):
        world.engine.progress()
        world.turn()
        if any(edge.counts["accepted"] for edge in world.member._owned.edges.values()):
            return
    raise AssertionError("it waits for ever")


def test_what_readers_never_see_is_passed_over_once_all_before_it_is_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a partition a position moves over transaction markers, whether there were records or not."""
    world, place = World(monkeypatch, 0, 0.0, 0.0), (TOPICS.notifications, 0)
    world.turn()
    world.finish()
    group, committed = world.member._group, world.transactions.committed
    read, subscribed = group.positions[place], group.positions[TOPICS.subscriptions, 0]
    group.positions[TOPICS.subscriptions, 0] += 1
    world.turn()
    assert committed[TOPICS.subscriptions, 0] == subscribed + 1
    world.engine.progress()
    world.engine.progress()
    reached = [committed[place]]
    while reached[-1] < read + 2:
        world.turn()
        reached.append(committed[place])
    assert set(reached) == {read, read + 1, read + 2}
    group.positions[place] += 1
    world.turn()
    assert committed[place] == read + 3


ITSELF = "SELECT x.v, y.v FROM t x JOIN t y ON x.v = y.id"


def statements(world: World) -> list[bytes | None]:
    return [record.value for record in world.log.records[TOPICS.catalog, 0]]


def test_a_cell_is_asked_for_once_what_waits_is_committed_and_again_by_whoever_restores_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, 0, 60.0, 0.0)
    world.turn()
    world.engine.subscribe("a", "b", sql=ITSELF)
    world.transactions.failing = 1.0
    world.turn()
    assert statements(world) == [], "nothing is committed"
    world.transactions.failing = 0.0
    world.finish()
    for _ in range(3):
        world.turn()
    assert statements(world) == [b"CREATE JOIN t"], "one for both, once"
    world.member._recover(KafkaFailure("away"))
    world.turn()
    world.turn()
    assert statements(world) == [b"CREATE JOIN t"] * 2
    world.engine.unsubscribe("a")
    world.engine.unsubscribe("b")
    world.finish()
    world.engine.subscribe("a", sql=ITSELF)
    world.finish()
    assert statements(world) == [b"CREATE JOIN t"] * 3


def test_where_cells_are_not_made_on_demand_the_question_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, 0, 60.0, 0.0, joins_on_demand=False)
    world.engine.subscribe("a", sql=ITSELF)
    world.finish()
    for _ in range(3):
        world.turn()
    acks = [record.value or b"" for number in range(PARTITIONS) for record in world.log.records[TOPICS.acks, number]]
    [ack] = map(msgspec.json.decode, acks)
    assert (ack["status"], ack["code"]) == ("refused", "no_cell") and "CREATE JOIN t" in ack["hint"]
    assert statements(world) == []
