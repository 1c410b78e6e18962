"""One batch of one member by itself: what its records are, in which order, how they are numbered, what is counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.schema.stream import HOUR, Closing
from connectors.record import OutRecord, RawRecords
from operators.packed import Header, PackedMessages, PackedSnapshot, unpack
from operators.record_error import HORIZON_FORMAT
from operators.wire.header import NO_HORIZON
from shard.member_batch import Horizons, MemberBatch, Told, count_messages, outgoing_of, said
from shard.order import order
from shard.route import Route
from shard.state import ShardState
from state.boxes import Boxes
from tests.shard.test_pipeline import CATALOG, SHAPE, SPEC, TOPICS, registration, rows

T = CATALOG.relations["t"]
(LOW,) = SHAPE.channels


class Played:
    """What a batch does to a member, and the records that it makes."""

    def __init__(self, member: ShardState, *come: RawRecords, number: int = 3, closed: Horizons | None = None) -> None:
        ordered = order(come, TOPICS.registrations, {"t"})
        member.begin()
        batch = MemberBatch(SPEC, number, member)
        batch.register(ordered.addressed("t/0"))
        self.moved = batch.take(ordered)
        if self.moved is not None:
            batch.tell(self.moved)
        if closed is not None:
            batch.close(closed)
        self.viewers = batch.viewers
        self.records = list(batch.records())

    def of(self, topic: str) -> list[OutRecord]:
        return [record for record in self.records if record.topic == topic]

    @property
    def sent(self) -> list[Any]:
        return [unpack(record.value or b"") for record in self.of(TOPICS.notifications)]

    @property
    def counters(self) -> dict[str, Any]:
        told: dict[str, Any] = msgspec.json.decode(self.records[-1].value or b"")
        return told


def fresh() -> ShardState:
    return ShardState(T, "t/0")


def test_notifications_stand_before_dead_letters_and_the_counters_stand_last() -> None:
    bad = replace(rows((7, 1, 1), first=5), values=[b"{"])
    played = Played(fresh(), registration(), rows((1, 3, 30)), bad)
    topics = [record.topic for record in played.records]
    assert topics == [TOPICS.notifications] * 2 + [TOPICS.dead_letters, TOPICS.engines]
    snapshot, messages = played.sent
    assert isinstance(snapshot, PackedSnapshot) and isinstance(messages, PackedMessages)
    assert not snapshot.has_new[0]
    assert messages.messages.new.tolist() == [30]
    assert {record.partition for record in played.of(TOPICS.notifications)} == {2}


def test_a_batch_that_has_nothing_for_it_tells_the_counters_alone() -> None:
    played = Played(fresh())
    assert played.moved is None
    assert [record.topic for record in played.records] == [TOPICS.engines]
    assert (played.records[0].partition, played.records[0].key) == (0, b"t/0")
    assert (played.counters["epoch"], played.counters["shard"], played.counters["batch"]) == (7, "t/0", 3)


def test_rows_are_counted_by_what_became_of_them() -> None:
    member = fresh()
    gone = replace(rows((1, 0, 0), first=3), values=[None])
    bad = replace(rows((7, 1, 1), (8, 1, 1), first=5), values=[b"{", b"5"])
    counters = Played(member, rows((1, 3, 30), (2, 4, 40)), gone, bad).counters
    assert [counters[name] for name in ("decoded", "deletes", "dead", "ignored", "rows")] == [3, 1, 2, 0, 1]
    assert counters["seen"] == {"id": 2, "x": 2, "y": 2}
    counters = Played(member, rows((3, 3, 30), first=9), number=4).counters
    assert [counters[name] for name in ("decoded", "deletes", "dead", "rows", "batch")] == [4, 1, 2, 2, 4]


def test_a_message_that_nobody_asks_for_is_suppressed_and_numbered_all_the_same() -> None:
    member = fresh()
    Played(member, registration(lo=0, hi=2))
    played = Played(member, rows((1, 9, 30), (2, 1, 20), (3, 9, 10)))
    (messages,) = played.sent
    assert isinstance(messages, PackedMessages)
    assert messages.seq.tolist() == [1]
    assert member.seq == 2
    assert [played.counters[name] for name in ("messages", "suppressed", "routed")] == [3, 2, 1]


def test_viewers_are_those_who_listen_to_anything_and_are_there() -> None:
    member = fresh()
    member.listeners = {LOW: {3: Boxes.none(), 1: Boxes.none()}, ImageChannel("t"): {1: Boxes.none(), 4: Boxes.none()}}
    assert MemberBatch(SPEC, 3, member).viewers == [1, 3]


CROSSED = Horizons(5, 2 * HOUR, True)


@pytest.mark.parametrize(("closed", "edges"), [(None, []), (CROSSED, [1, 3]), (replace(CROSSED, crossed=False), [])])
def test_who_listens_hears_that_a_window_has_ended_though_nothing_is_told(
    closed: Horizons | None, edges: list[int]
) -> None:
    member = fresh()
    member.listeners = {LOW: {3: Boxes.none(), 1: Boxes.none()}}
    played = Played(member, closed=closed)
    assert [record.partition for record in played.of(TOPICS.notifications)] == edges
    assert {found.header.horizon for found in played.sent} == ({2 * HOUR} if edges else set())


def test_a_snapshot_says_how_far_event_time_was_before_the_batch() -> None:
    played = Played(fresh(), registration(), rows((1, 3, 30)), closed=replace(CROSSED, crossed=False))
    assert [(type(found).__name__, found.header.horizon) for found in played.sent] == [
        ("PackedSnapshot", 5),
        ("PackedMessages", 2 * HOUR),
    ]


def test_all_that_a_batch_sends_has_one_format_though_event_time_begins_in_it() -> None:
    """Of two formats an edge takes the lower for what the release before wrote, and the batch for incomplete."""
    closed = Horizons(NO_HORIZON, 2 * HOUR, False)
    played = Played(fresh(), registration(), rows((1, 3, 30)), closed=closed)
    assert [(found.header.horizon, found.header.format) for found in played.sent] == [
        (NO_HORIZON, HORIZON_FORMAT),
        (2 * HOUR, HORIZON_FORMAT),
    ]


@given(st.integers(-3 * HOUR, 3 * HOUR), st.integers(0, 2 * HOUR))
def test_a_window_has_ended_where_an_hour_begins_in_between(before: int, by: int) -> None:
    made = Horizons.of(Closing("hour", "hour"), before, before + by)
    ends = range(-4 * HOUR, 6 * HOUR, HOUR)
    assert made == Horizons(before, before + by, any(before < end <= before + by for end in ends))


def test_nothing_is_said_of_a_horizon_that_is_nowhere() -> None:
    header = Header("messages", 7, "t/0", 3)
    assert said(header, NO_HORIZON) is header
    assert said(header, -1) == msgspec.structs.replace(header, horizon=-1, format=HORIZON_FORMAT)
    assert header.horizon == NO_HORIZON


def test_images_are_numbered_behind_messages_and_the_table_takes_all_over() -> None:
    member = fresh()
    member.table.listen([LOW])
    member.listeners = {ImageChannel("t"): {1: Boxes.none()}}
    member.needed = {1: {"x"}}
    member.seq = 10
    batch = MemberBatch(SPEC, 3, member)
    moved = batch.take(order((rows((1, 3, 30), (2, 4, 40)),), TOPICS.registrations, {"t"}))
    assert moved is not None
    outgoing, images, best = outgoing_of(member, moved)
    assert images is not None and best is None
    assert np.concatenate([outgoing.seq, images.seq]).tolist() == list(range(11, 11 + len(outgoing.seq) + 2))
    member.table.check()
    assert (member.seq, member.table.rows) == (10 + len(outgoing.seq) + 2, 2)


@pytest.mark.parametrize(("viewers", "suppressed", "routed"), [([], 2, 0), ([4], 0, 2), ([0, 4, 5], 0, 6)])
def test_images_go_to_all_who_see_them_or_are_suppressed(viewers: list[int], suppressed: int, routed: int) -> None:
    member, images = fresh(), type("Images", (), {"seq": np.arange(2)})()
    count_messages(member, Told(images=images, viewers=viewers))
    counters = member.counters
    assert (counters.messages, counters.suppressed, counters.routed) == (2, suppressed, routed)


def test_messages_and_first_rows_are_counted_by_their_own_ways() -> None:
    member, told = fresh(), type("Outgoing", (), {"seq": np.arange(3)})()
    ways = Route([], 1, 5, 2), Route([], 2, 1, 4)
    count_messages(member, Told(outgoing=told, routed=ways[0], best=told, best_routed=ways[1]))
    counters = member.counters
    assert (counters.messages, counters.suppressed, counters.routed, counters.spared) == (6, 3, 6, 6)
