"""Steps of all virtual edges of a process: what they hold, which positions go with them, and the fence."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.partitioner import home_partition
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from operators.control import Control, EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers
from operators.packed import Header, pack_snapshot
from overlay.process.owned_edges import OwnedEdges
from state.change_batch import I64
from tests.overlay.hand_engine import DDL, SQL

TOPICS = Topics("x.")
CATALOG = apply_ddl(Catalog(), DDL.decode(), 0)


class Log:
    """Topics as lists, enough to feed records in."""

    def __init__(self) -> None:
        self.offsets: dict[tuple[str, int], int] = {}
        self.ends: dict[int, int] = {}
        self.asked = 0

    def record(self, topic: str, partition: int, key: bytes | None, value: bytes | None) -> KafkaRecord:
        offset = self.offsets.get((topic, partition), 0)
        self.offsets[topic, partition] = offset + 1
        return KafkaRecord(topic, partition, offset, 0, key, value)

    def control(self, partition: int, control: Control) -> KafkaRecord:
        return self.record(TOPICS.notifications, partition, b"@", encode_control(control))

    def subscribe(self, name: str, sql: str = SQL, partitions: int = 2) -> KafkaRecord:
        key = name.encode()
        value = msgspec.json.encode({"sql": sql})
        return self.record(TOPICS.subscriptions, home_partition(key, partitions), key, value)

    def ask(self, numbers: list[int]) -> dict[int, int]:
        self.asked += 1
        return {number: self.ends[number] for number in numbers}


def owned_edges(log: Log, floor: int = 10**9) -> OwnedEdges:
    owned = OwnedEdges(TOPICS, 2, lambda version: CATALOG if version >= 0 else Catalog(), log.ask, floor)
    for number in (0, 1):
        owned.restore(number, [])
    owned.begin({(topic, number): 0 for topic in (TOPICS.subscriptions, TOPICS.notifications) for number in (0, 1)})
    return owned


def begin(owned: OwnedEdges, log: Log, catalog: int = 0) -> None:
    for number in (0, 1):
        owned.feed(log.control(number, EpochBegins(0, catalog)))
        owned.feed(log.control(number, RegisterAll(0, catalog)))
    owned.step()


def names_of(home: int) -> Iterator[str]:
    return (f"s{i}" for i in range(1000) if home_partition(f"s{i}".encode(), 2) == home)


def test_a_step_holds_every_position_changed_or_not() -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log)
    owned.feed(log.subscribe(next(names_of(1))))
    step = owned.step()
    assert step.positions == {
        (TOPICS.subscriptions, 0): 0,
        (TOPICS.subscriptions, 1): 1,
        (TOPICS.notifications, 0): 2,
        (TOPICS.notifications, 1): 2,
    }
    assert {record.topic for record in step.records} == {TOPICS.acks, TOPICS.registrations, TOPICS.edge_state}
    assert owned.step().records == []


def test_a_chunk_that_waits_for_its_progress_is_read_again_after_a_restart() -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log)
    empty: I64 = np.zeros(0, np.int64)
    chunk = pack_snapshot(Header("snapshot", 0, "t/0", 0, ve=1), empty, Answers(empty, empty > 0, {}))
    owned.feed(log.record(TOPICS.notifications, 1, b"t/0", chunk))
    owned.moved({(TOPICS.notifications, 1): 9, (TOPICS.subscriptions, 1): 7}, TOPICS.notifications)
    assert owned.step().positions[TOPICS.notifications, 1] == 2
    assert owned.step().positions[TOPICS.subscriptions, 1] == 0
    owned.feed(log.control(1, Progress(0, 0, 0, "t")))
    assert owned.step().positions[TOPICS.notifications, 1] == 4


def test_a_refusal_waits_until_the_fence_is_passed() -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log, catalog=-1)
    name = next(names_of(0))
    owned.feed(log.subscribe(name))
    log.ends = {0: 3}
    owned.raise_fences()
    owned.refuse_held()
    owned.raise_fences()
    assert log.asked == 1
    assert [record for record in owned.step().records if record.topic == TOPICS.acks] == []
    owned.moved({(TOPICS.notifications, 0): 3}, TOPICS.notifications)
    owned.refuse_held()
    [ack] = [record for record in owned.step().records if record.topic == TOPICS.acks]
    assert b'"unknown_table"' in (ack.value or b"")


def test_many_refusals_are_spread_over_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlay.process.owned_edges.SETTLED", 8)
    log = Log()
    owned = owned_edges(log)
    begin(owned, log, catalog=-1)
    owned.feed_subscriptions([log.subscribe(f"s{i}") for i in range(40)])
    log.ends = {0: 2, 1: 2}
    owned.raise_fences()
    refused: list[list[bytes]] = []
    while sum(map(len, refused)) < 40:
        owned.refuse_held()
        owned.raise_fences()
        refused.append([record.key or b"" for record in owned.step().records if record.topic == TOPICS.acks])
        assert 0 < len(refused[-1]) <= 10
    for home in (0, 1):
        told = [key for step in refused for key in step if home_partition(key, 2) == home]
        assert told == [name.encode() for name in names_of(home)][: len(told)]
    owned.refuse_held()
    assert log.asked == 1 and not any(edge.counts["held"] for edge in owned.edges.values())


def test_the_catalog_arrives_before_the_fence() -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log, catalog=-1)
    owned.feed(log.subscribe(next(names_of(0))))
    log.ends = {0: 3}
    owned.raise_fences()
    owned.feed(log.control(0, Progress(0, 0, 0, "t")))
    owned.refuse_held()
    [ack] = [record for record in owned.step().records if record.topic == TOPICS.acks]
    assert b'"accepted"' in (ack.value or b"")
    owned.raise_fences()
    assert log.asked == 1


def test_a_snapshot_is_written_when_due_and_restores_the_same() -> None:
    log = Log()
    owned = owned_edges(log, floor=1)
    begin(owned, log)
    values: list[bytes] = []
    for name in [name for name, _ in zip(names_of(0), range(5), strict=False)]:
        owned.feed(log.subscribe(name))
        step = owned.step()
        written = [record.value or b"" for record in step.records if record.topic == TOPICS.edge_state]
        values = written if 0 in step.snapshots else values + written
    again = owned_edges(log)
    again.clear()
    again.restore(0, values)
    assert again.edges[0].dump() == owned.edges[0].dump()


def test_subscriptions_are_fed_at_once() -> None:
    log = Log()
    owned, one_by_one = owned_edges(log), owned_edges(log)
    begin(owned, log)
    log.offsets.clear()
    begin(one_by_one, log)
    records = [log.subscribe(f"s{i}") for i in range(40)]
    owned.feed_subscriptions(records)
    for record in records:
        one_by_one.feed(record)
    steps = [edges.step() for edges in (owned, one_by_one)]
    acks = [[record for record in step.records if record.topic == TOPICS.acks] for step in steps]
    assert acks[0] == acks[1] and len(acks[0]) == 40 and steps[0].positions == steps[1].positions


def test_enough_output_makes_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    owned = owned_edges(log)
    monkeypatch.setattr("overlay.process.owned_edges.STEP_RECORDS", 2)
    assert not owned.feed(log.subscribe(next(names_of(0))))
    assert owned.feed(log.control(0, EpochBegins(0, 0)))


def test_what_cannot_be_read_is_told_and_registers_all_once_a_step() -> None:
    log = Log()
    owned = owned_edges(log)
    owned.feed(log.control(0, EpochBegins(0, 0)))
    owned.feed(log.control(0, RegisterAll(0, 0)))
    owned.feed(log.subscribe(next(names_of(0))))
    owned.step()
    for value in (None, b"", b"{}", b"\xff"):
        owned.feed(log.record(TOPICS.notifications, 0, None, value))
    losses = owned.losses()
    assert [number for number, _ in losses] == [0] * 4 and owned.losses() == []
    assert "`x.notifications` [0] offset 2 cannot be read: not a control record" in losses[0][1]
    assert [record.topic for record in owned.step().records] == [TOPICS.registrations, TOPICS.edge_state]


def test_clear_forgets_all() -> None:
    log = Log()
    owned = owned_edges(log)
    owned.feed(log.subscribe(next(names_of(0))))
    owned.clear()
    step = owned.step()
    assert (step.records, step.positions, owned.edges) == ([], {}, {})


@pytest.mark.parametrize(("form", "enough"), [("PACKED", True), ("RECORDS", False)])
def test_packed_deliveries_count_by_their_bytes(monkeypatch: pytest.MonkeyPatch, form: str, enough: bool) -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log)
    asking = log.subscribe(next(names_of(0)), f"{SQL} DELIVER {form}")
    owned.feed(asking)
    owned.step()
    monkeypatch.setattr("overlay.process.owned_edges.BYTES_A_RECORD", 1)
    monkeypatch.setattr("overlay.process.owned_edges.STEP_RECORDS", 500)
    one = np.ones(1, np.int64)
    packed = pack_snapshot(Header("snapshot", 0, "t/0", 0, of=1), one * asking.offset, Answers(one, one > 0, {}))
    owned.feed(log.record(TOPICS.notifications, 0, b"t/0", packed))
    assert owned.feed(log.control(0, Progress(0, 0, 0, "t"))) == enough
