"""The horizon of a stream: against its twin, whatever the batches; silences, holes, partitions that come later."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.relation import Column, Relation
from catalog.schema.stream import Stream
from catalog.types.column_type import ColumnType, Kind
from operators.control import Silence
from operators.silenced import Silenced
from operators.wire.header import NO_HORIZON
from shard.horizon import Come, Horizon, Judged
from tests.effort import examples
from tests.oracle.naive_horizon import floors

LATENESS, AHEAD = 2, 6
COLUMNS = (Column("ts", ColumnType(Kind.TIMESTAMP)),)
S = Relation("s", COLUMNS, (), "s", born=3, stream=Stream("ts", LATENESS, AHEAD))
Row = tuple[int, int, int, int]
"""Partition, offset, event time, time of the record."""


def take(
    horizon: Horizon, rows: Sequence[Row] = (), read: dict[int, int] | None = None,
    silences: Sequence[Silence] = (), partitions: int = 0,
) -> Judged:  # fmt: skip
    columns = np.array(rows, np.int64).reshape(len(rows), 4).T.copy()
    ends = {p: max(o + 1 for q, o, *_ in rows if q == p) for p, *_ in rows}
    come = Come(columns[0].astype(np.int32), *columns[1:])
    return horizon.take(S, come, ends | (read or {}), silences, partitions)


def why(judged: Judged) -> list[str]:
    return ["late" if late else "ahead" if ahead else "" for late, ahead in zip(judged.late, judged.ahead, strict=True)]


def test_late_is_a_row_that_comes_behind_what_stood_before_it_in_its_partition() -> None:
    horizon = Horizon()
    judged = take(
        horizon, [(0, 0, 10, 10), (1, 0, 3, 10), (0, 1, 8, 10), (0, 2, 7, 10), (0, 3, 17, 10), (0, 4, 11, 10)]
    )
    assert why(judged) == ["", "", "", "late", "ahead", ""]
    assert horizon.upto == 1 and (horizon.late, horizon.ahead) == (1, 1) and horizon.furthest == 11


def test_a_partition_without_rows_holds_the_stream_until_it_is_silent() -> None:
    horizon = Horizon()
    take(horizon, [(0, 0, 10, 10)], partitions=2)
    assert horizon.upto == NO_HORIZON
    judged = take(horizon, silences=[Silence("s", 1, 0, 9)])
    assert horizon.upto == 7 and judged.silenced == [Silenced("s", 3, 1, 0, 9)]
    assert take(horizon, silences=[Silence("s", 1, 0, 8)]).silenced == [], "it says nothing new"


def test_a_silence_counts_where_its_partition_is_and_waits_if_it_is_not_there_yet() -> None:
    horizon = Horizon()
    take(horizon, [(0, 4, 10, 10)])
    assert take(horizon, silences=[Silence("s", 0, 3, 12)]).silenced == [Silenced("s", 3, 0, 5, 12)]
    assert take(horizon, silences=[Silence("s", 0, 8, 20)]).silenced == [] and horizon.upto == 10
    judged = take(horizon, [(0, 6, 12, 12), (0, 7, 13, 12), (0, 9, 13, 13)])
    assert why(judged) == ["", "", "late"] and judged.silenced == [Silenced("s", 3, 0, 8, 20)]


def test_in_a_hole_the_floor_stands_still_until_the_loss_is_accepted() -> None:
    horizon = Horizon()
    take(horizon, [(0, 0, 10, 10)])
    (hole,) = take(horizon, silences=[Silence("s", 0, 5, 0, True)], read={0: 4}).silenced or [None]
    assert hole is None, "it waits"
    judged = take(horizon, [(0, 5, 14, 14), (0, 6, 8, 14), (0, 7, 7, 14)])
    assert why(judged) == ["", "", "late"] and horizon.upto == 8
    assert judged.silenced == [Silenced("s", 3, 0, 5, 0, True)]
    judged = take(horizon, silences=[Silence("s", 0, 0, 0)])
    assert judged.silenced == [Silenced("s", 3, 0, 8, 0)] and horizon.upto == 12


def test_a_partition_that_comes_later_begins_as_far_as_the_others_are() -> None:
    horizon = Horizon()
    take(horizon, [(0, 0, 10, 10)], partitions=1)
    judged = take(horizon, [(1, 0, 7, 10), (1, 1, 8, 10)], partitions=1)
    assert why(judged) == ["late", ""] and judged.silenced == [Silenced("s", 3, 1, 0, 10)] and horizon.upto == 8
    again = Horizon.of([*judged.silenced, Silenced("s", 2, 1, 0, 99)], 3)
    assert why(take(again, [(1, 0, 7, 10), (1, 1, 8, 10)], partitions=2)) == ["late", ""]


def test_a_silence_of_a_partition_that_is_not_there_waits_for_it() -> None:
    horizon = Horizon()
    take(horizon, [(0, 0, 10, 10)], silences=[Silence("s", 1, 0, 12)], partitions=1)
    assert len(horizon.domains) == 1 and horizon.upto == 8
    judged = take(horizon, [(1, 0, 11, 11), (1, 1, 9, 11)], partitions=2)
    assert why(judged) == ["", "late"]
    assert [one.upto for one in judged.silenced] == [12]


@given(st.integers(0, 2**32))
@settings(max_examples=examples(800), deadline=None)
def test_drawn(seed: int) -> None:
    rng = Random(seed)
    parts = _topic(rng)
    counts = [len(parts)] if rng.random() < 0.5 else [max(1, len(parts) - 1), len(parts)]
    first = _played(rng, parts, [], rng.random() < 0.7, counts)
    for _ in range(3):
        again = _played(rng, parts, first[2], False, [len(parts)])
        assert again[:2] == first[:2], "what is late hangs on the cut"
        assert again[2] == first[2], "silences that were given count once more"
    for p, rows in enumerate(parts):
        quiet = [(one.after, one.hole, one.upto) for one in first[2] if one.partition == p]
        end = max((o + 1 for o, *_ in rows), default=0)
        truth, ends = floors(rows, quiet, end, LATENESS, AHEAD)
        assert {o: first[0][p, o] for o, *_ in rows} == truth
        assert first[1][p] == ends[end]


def _topic(rng: Random) -> list[list[tuple[int, int, int]]]:
    """Return by partition offset, event time and time of the record."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        at, offset, rows = rng.randint(0, 4), 0, []
        for _ in range(rng.randint(0, 12)):
            at, offset = at + rng.choice((0, 0, 1, 1, 3)), offset + rng.choice((1, 1, 1, 3))
            rows.append((offset, at - rng.randint(0, 5) + 8 * (rng.random() < 0.1), at))
        parts.append(rows)
    return parts


def _played(
    rng: Random, parts: list[list[tuple[int, int, int]]], silenced: list[Silenced], quiet: bool, counts: list[int]
) -> tuple[dict[tuple[int, int], str], list[int], list[Silenced]]:
    """Return why rows do not count, the floor of each partition in the end, and where silences have counted.

    Partitions that are counted later bring rows only then. The state is written and read between batches.
    """
    horizon, at, told, out = Horizon.of(silenced, 3), [0] * len(parts), list(silenced), dict[tuple[int, int], str]()
    stage, highest = 0, NO_HORIZON
    while True:
        known = counts[stage]
        stage = min(stage + (rng.random() < 0.3), len(counts) - 1)
        rows, read = list[Row](), dict[int, int]()
        for p in range(known):
            more = parts[p][at[p] : at[p] + rng.randint(0, 4)]
            at[p] += len(more)
            rows += [(p, *row) for row in more]
            if more and rng.random() < 0.2 and at[p] == len(parts[p]):
                read[p] = more[-1][0] + 1
        silences = [_silence(rng, known) for _ in range(rng.choice((0, 0, 1, 2)) if quiet else 0)]
        judged = take(horizon, rows, read, silences, known)
        out |= {(p, o): said for (p, o, *_), said in zip(rows, why(judged), strict=True)}
        told = list({one.key: one for one in [*told, *judged.silenced]}.values())
        assert horizon.upto >= highest
        highest = horizon.upto
        horizon = msgspec.msgpack.decode(msgspec.msgpack.encode(horizon), type=Horizon)
        if stage == len(counts) - 1 and at == [len(rows) for rows in parts] and known == len(parts):
            ends = [domain.floor(LATENESS) for domain in horizon.domains]
            return out, ends, sorted(told, key=lambda one: one.key)


def _silence(rng: Random, known: int) -> Silence:
    return Silence("s", rng.randrange(known), rng.randint(0, 20), rng.randint(0, 20), rng.random() < 0.25)
