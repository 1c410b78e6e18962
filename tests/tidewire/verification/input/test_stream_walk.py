"""Which rows of a stream count, and how far it is complete, against a naive reader of one partition after the other."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Sequence as Many

from tests.effort import examples
from tests.oracle.naive_horizon import NEVER, floors
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.decoding import Row
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.silences import Silences
from tidewire.verification.input.stream_walk import Mark, StreamWalk, StreamWalked, micros
from tidewire.verification.records.batches import Batch, Position
from tidewire.verification.records.journal import Record, TopicLog

SECOND = 1_000_000
START = dt.datetime(2026, 3, 1)
DDL = "CREATE STREAM s (x INTEGER, ts TIMESTAMP) WITH ('topic'='s', 'event_time'='ts', 'lateness'='2 s', 'ahead'='3 s')"
[STREAM] = Declared([Record(0, 0, 0, None, DDL.encode())], scratch=SCRATCH).at(0).values()
Event = tuple[int, int, int | None, int]
"""(partition, offset, second of the event or None for what is no row, second of the record)"""
Quiet = tuple[int, int, bool, int]
"""(partition, after, whether it is a hole, second up to which)"""


def at(second: int) -> int:
    return micros(START) + second * SECOND


def walked(batches: Many[Many[Event]], ends: Many[dict[int, int]], quiet: Many[Quiet] = ()) -> StreamWalked:
    """Walk what was taken in batches, whose partitions then ended there."""
    sequence, rows = Sequence(1, STREAM), dict[int, Row | None]()
    for number, events in enumerate(batches):
        sequence.add(
            number, STREAM, [Record(p, offset, int(at(stamp) // 1_000), None, b"") for p, offset, _, stamp in events]
        )
        for _, offset, second, _ in events:
            text = None if second is None else (START + dt.timedelta(seconds=second)).isoformat()
            rows[len(rows) + 1] = None if text is None else Row("", True, [str(offset), text], [True, True])
    told = [
        Batch(
            Position(1, n),
            0,
            {("s", p): there for p, there in (ends[n - 1] if n else {}).items()},
            {("s", p): there for p, there in its.items()},
        )
        for n, its in enumerate(ends)
    ]
    said = [
        json.dumps({"stream": "s", "born": 0, "partition": p, "after": after, "upto": at(upto), "hole": hole}).encode()
        for p, after, hole, upto in quiet
    ]
    silences = Silences(TopicLog.of("silences", [Record(0, n, 0, None, one) for n, one in enumerate(said)]))
    return StreamWalk(sequence, rows, told, silences).run()


def test_rows_and_marks_are_those_of_a_naive_reader() -> None:
    choose = random.Random(4)
    for _ in range(examples(1_500)):
        partitions = choose.randrange(1, 3)
        batches, ends, there = [], [], dict.fromkeys(range(partitions), 0)
        for _ in range(choose.randrange(1, 5)):
            events = []
            for _ in range(choose.randrange(5)):
                partition = choose.randrange(partitions)
                second = choose.choice([None, *range(8), 15])
                events.append((partition, there[partition], second, choose.randrange(4, 9)))
                there[partition] += 1
            batches.append(events)
            ends.append(dict(there))
        quiet = {
            (p, choose.randrange(there[p] + 1), choose.random() < 0.3, choose.randrange(10))
            for p in there
            for _ in range(choose.randrange(3))
        }
        check(walked(batches, ends, sorted(quiet)), batches, ends, sorted(quiet))


def check(found: StreamWalked, batches: Many[Many[Event]], ends: Many[dict[int, int]], quiet: Many[Quiet]) -> None:
    every = [event for events in batches for event in events]
    late, floor = dict[tuple[int, int], bool](), dict[int, list[int]]()
    for partition in ends[-1]:
        own = [
            (offset, at(second), at(stamp))
            for p, offset, second, stamp in every
            if p == partition and second is not None
        ]
        own_quiet = [(after, hole, at(upto)) for p, after, hole, upto in quiet if p == partition]
        why, floor[partition] = floors(own, own_quiet, ends[-1][partition], 2 * SECOND, 3 * SECOND)
        late |= {(partition, offset): bool(reason) for offset, reason in why.items()}
    dead = {seq: second is None or late[p, offset] for seq, (p, offset, second, _) in enumerate(every, 1)}
    assert found.dead == dead
    counting = {seq: f"{p}/{offset}" for seq, (p, offset, *_) in enumerate(every, 1) if not dead[seq]}
    assert {seq: row.pk for seq, row in found.rows.items()} == counting
    horizon, seq = None, 0
    for number, its in enumerate(ends):
        least = min(floor[partition][end] for partition, end in its.items())
        if least != NEVER:
            horizon = least if horizon is None else max(horizon, least)
        mark = found.marks[number]
        counted = [place for place in range(seq + 1, seq + len(batches[number]) + 1) if not dead[place]]
        seq += len(batches[number])
        assert (mark.batch, mark.upto, mark.counted) == (number, horizon, max(counted, default=None))


def test_the_furthest_time_is_that_of_any_partition() -> None:
    made = walked([[(0, 0, 5, 9)], [(1, 0, 7, 9), (0, 1, 6, 9)]], [{0: 1, 1: 0}, {0: 2, 1: 1}])
    assert made.marks == [Mark(0, None, at(5), 1), Mark(1, at(4), at(7), 3)]


def test_a_partition_that_is_new_holds_the_stream_where_it_is() -> None:
    made = walked([[(0, 0, 5, 9)], [(0, 1, 9, 9)], [(1, 0, 4, 9)]], [{0: 1}, {0: 2, 1: 0}, {0: 2, 1: 1}])
    assert [mark.upto for mark in made.marks] == [at(3), at(3), at(3)]


def test_what_is_too_far_ahead_counts_for_nothing() -> None:
    made = walked([[(0, 0, 8, 4), (0, 1, 7, 4), (0, 2, 5, 4)]], [{0: 3}])
    assert made.dead == {1: True, 2: False, 3: False} and made.marks == [Mark(0, at(5), at(7), 3)]


def test_which_batch_heard_a_silence_is_known_where_the_registrations_are() -> None:
    assert not walked([], [{0: 0}]).exact
    assert StreamWalk(Sequence(1, STREAM), {}, [], Silences(None, TopicLog("registrations"))).run().exact
