"""What a batch of a stream moves and counts, for its shard and for a copy in a cell alike."""

from __future__ import annotations

from connectors.record import RawRecords
from shard.order import order
from shard.register import take_silences
from shard.state import ShardState
from shard.stream_batch import StreamBatch
from shard.stream_intake import StreamIntake, take_in
from tests.shard.test_pipeline import TOPICS
from tests.shard.test_stream_pipeline import CATALOG, SECOND, SPEC, START, events, silent

S = CATALOG.relations["s"]
BATCHES: list[list[RawRecords]] = [
    [events(("a", 5, 30), ("b", 7, 19), ("a", 5, 31))],
    [],
    [silent(40, 2)],
    [events(("b", 1, 35), ("b", 1, 60), first=3), silent(70, 5)],
]


def taken(member: ShardState, come: list[RawRecords]) -> StreamIntake:
    ordered = order(come, TOPICS.registrations, {"s"})
    take_silences(member, SPEC.epoch, ordered.addressed("s/0"))
    return take_in(SPEC, member, ordered)


def test_a_late_row_counts_as_little_as_none() -> None:
    member = ShardState(S, "cell/s/0/s")
    found = taken(member, BATCHES[0])
    assert found.changes is not None and found.changes.offset.tolist() == [0, 2]
    assert member.horizon is not None and member.horizon.upto == START + 21 * SECOND
    assert member.table.rows == 0


def test_without_records_nothing_came_and_the_horizon_stands() -> None:
    member = ShardState(S, "cell/s/0/s")
    taken(member, BATCHES[0])
    assert member.horizon is not None
    upto, found = member.horizon.upto, taken(member, [])
    assert (found.rows, found.changes, found.silenced) == (None, None, [])
    assert member.horizon.upto == upto


def test_a_copy_is_as_far_as_the_shard_after_every_batch() -> None:
    shard, copy = ShardState(S, "s/0"), ShardState(S, "cell/s/0/s")
    for come in BATCHES:
        ordered = order(come, TOPICS.registrations, {"s"})
        shard.begin()
        batch = StreamBatch(SPEC, 3, shard)
        batch.register(ordered.addressed("s/0"))
        moved, changes = batch.take(ordered), taken(copy, come).changes
        assert shard.horizon is not None and copy.horizon is not None
        assert copy.horizon.upto == shard.horizon.upto
        assert ([] if moved is None else moved.changes.offset.tolist()) == (
            [] if changes is None else changes.offset.tolist()
        )
