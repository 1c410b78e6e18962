"""One batch of a stream's member, by itself: what it takes, tells and counts."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from connectors.record import OutRecord, RawRecords
from operators.silenced import Silenced
from shard.order import order
from shard.state import ShardState
from shard.stream_batch import StreamBatch
from tests.shard.test_pipeline import TOPICS
from tests.shard.test_stream_pipeline import CATALOG, SECOND, SPEC, START, events, silent

S = CATALOG.relations["s"]


class Played:
    """What a batch of a stream does to a member: the rows that count, and its records."""

    def __init__(self, member: ShardState, *come: RawRecords, spec=SPEC) -> None:  # type: ignore[no-untyped-def]
        ordered = order(come, TOPICS.registrations, {"s"})
        member.begin()
        batch = StreamBatch(spec, 3, member)
        batch.register(ordered.addressed("s/0"))
        self.moved = batch.take(ordered)
        self.records = list(batch.records())

    def of(self, topic: str) -> list[OutRecord]:
        return [record for record in self.records if record.topic == topic]

    def stream(self) -> dict[str, object]:
        (told,) = self.of(TOPICS.engines)
        found: dict[str, object] = msgspec.json.decode(told.value or b"")["stream"]
        return found


def test_each_row_that_counts_is_a_cause_and_none_is_kept() -> None:
    member = ShardState(S, "s/0")
    played = Played(member, events(("a", 5, 30), ("b", 7, 19), ("a", 5, 31)))
    assert played.moved is not None
    assert played.moved.cause.tolist() == [0, 1] and played.moved.causes.offset.tolist() == [0, 2]
    assert len(set(played.moved.changes.keys)) == 2 and played.moved.changes.live.all()
    assert member.table.rows == 0
    assert [msgspec.json.decode(letter.value or b"")["code"] for letter in played.of(TOPICS.dead_letters)] == ["late"]


def test_without_a_row_that_counts_nothing_moves() -> None:
    member = ShardState(S, "s/0")
    assert Played(member).moved is None and member.horizon is not None
    assert Played(member, events(("a", 5, None), None)).moved is None
    assert (member.counters.decoded, member.counters.dead) == (0, 2)


def test_silences_are_told_once_behind_the_dead_letters() -> None:
    member = ShardState(S, "s/0")
    played = Played(member, events(("a", 5, 30), ("a", 5, 1)), silent(40, 2))
    (told,) = played.of(TOPICS.silences)
    assert msgspec.json.decode(told.value or b"", type=Silenced) == Silenced("s", 0, 0, 2, START + 40 * SECOND)
    assert [record.topic for record in played.records] == [TOPICS.dead_letters, TOPICS.silences, TOPICS.engines]
    assert Played(member).of(TOPICS.silences) == []


def test_it_tells_how_far_each_partition_is() -> None:
    member = ShardState(S, "s/0")
    two = replace(SPEC, counts={"s": 2})
    first = Played(member, events(("a", 5, 30)), spec=two).stream()
    assert first["partitions"] == [[1, START + 30 * SECOND, START + 20 * SECOND, False], [0, None, None, False]]
    assert first["upto"] is None
    then = Played(member, events(("a", 5, 25), partition=1, first=4), spec=two).stream()
    assert then["upto"] == START + 15 * SECOND and then["partitions"][1][0] == 5  # type: ignore[index]


def test_where_silences_counted_before_there_was_a_state_they_count_again() -> None:
    spec = replace(SPEC, silenced={"s": (Silenced("s", 0, 0, 1, START + 80 * SECOND),)})
    member = ShardState(S, "s/0")
    played = Played(member, events(("a", 5, 30), ("a", 5, 69)), spec=spec)
    assert played.moved is not None and len(played.moved.changes) == 1 and played.of(TOPICS.silences) == []
    assert played.stream()["late"] == 1
