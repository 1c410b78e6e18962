"""Which rows of a stream a view takes, and until when: window by window, by hand."""

from __future__ import annotations

import datetime as dt
import random
from itertools import pairwise

import pytest

from tests.effort import examples
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.declared_views import View
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.stream_walk import Mark, micros
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.stream_windows import kept_rows
from tidewire.verification.recompute.version import Version
from tidewire.verification.records.journal import Record

MINUTE = 60_000_000
START = dt.datetime(2026, 3, 1)
DDL = """CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='0 s'{keep});
CREATE VIEW v AS SELECT DATE_TRUNC('minute', ts) AS minute, COUNT(*) AS n FROM s GROUP BY DATE_TRUNC('minute', ts);
CREATE VIEW whole AS SELECT g, COUNT(*) AS n FROM s GROUP BY g"""


def declared(keep: str) -> tuple[Sequence, dict[str, View]]:
    made = Declared([Record(0, 0, 0, None, DDL.format(keep=keep).encode())], scratch=SCRATCH)
    return Sequence(1, made.at(0)["s"]), made.views_at(0)


KEPT, VIEWS = declared(", 'keep'='2 min'")
FOR_EVER, _ = declared("")


def at(minute: float) -> int:
    return micros(START) + int(minute * MINUTE)


def row(seq: int, minute: float) -> Version:
    return Version(seq, FOREVER, (seq,), ("u", START + dt.timedelta(minutes=minute)))


@pytest.mark.parametrize(
    ("furthest", "first"), [(None, 0), (at(0), 1), (at(0.5), 1), (at(1) - 1, 1), (at(1), 2), (at(1.5), 2)]
)
def test_the_first_window_is_whole(furthest: int | None, first: int) -> None:
    """It begins behind all that the stream had reached before the view was there."""
    rows = [row(n + 1, minute) for n, minute in enumerate([0, 0.5, 1, 1.5, 2, 2.9])]
    found = kept_rows(rows, VIEWS["v"], FOR_EVER, [Mark(3, None, furthest, None)], 3, 0)
    assert found == [one for one in rows if one.row[1] >= START + dt.timedelta(minutes=first)]


def test_a_view_that_was_always_there_takes_all_rows() -> None:
    rows = [row(1, 0), row(2, 0.5)]
    assert kept_rows(rows, VIEWS["v"], FOR_EVER, [], None, 0) == rows
    assert kept_rows(rows, VIEWS["v"], FOR_EVER, [Mark(2, at(9), at(9), None)], 3, 0) == rows


def test_without_windows_rows_count_from_the_creation_on() -> None:
    rows = [row(seq, 0) for seq in (1, 2, 3)]
    for since in range(4):
        assert kept_rows(rows, VIEWS["whole"], KEPT, [], None, since) == rows[since:]


def test_a_window_goes_with_the_last_row_of_the_batch_behind_the_one_that_completed_it() -> None:
    """A minute and two more behind its beginning; where a batch has no row, with that of the next one that has."""
    marks = [Mark(0, at(3) - 1, 0, 1), Mark(1, at(3), 0, 2), Mark(2, at(3), 0, None), Mark(3, at(3), 0, 7)]
    found = kept_rows([row(1, 0), row(2, 1)], VIEWS["v"], KEPT, marks, None, 0)
    assert [one.end for one in found] == [7, FOREVER]


def test_a_row_does_not_end_before_it_begins() -> None:
    marks = [Mark(0, at(3), 0, 1), Mark(1, at(3), 0, 4)]
    assert [one.end for one in kept_rows([row(6, 0)], VIEWS["v"], KEPT, marks, None, 0)] == [6]


def test_windows_are_kept_as_long_as_they_are_by_hand() -> None:
    choose = random.Random(9)
    for _ in range(examples(2_000)):
        marks, upto, seq = [], None, 0
        for batch in range(choose.randrange(1, 7)):
            if choose.random() < 0.8:
                upto = max(upto or 0, at(choose.randrange(10)))
            seq += (counted := choose.randrange(3))
            marks.append(Mark(batch, upto, upto, seq if counted else None))
        rows = [row(n, choose.randrange(8) / 2) for n in range(1, seq + 1)]
        found = kept_rows(rows, VIEWS["v"], KEPT, marks, None, 0)
        assert [one.end for one in found] == [end_of(one, marks) for one in rows]


def end_of(one: Version, marks: list[Mark]) -> int:
    begin = (micros(one.row[1]) // MINUTE) * MINUTE
    for before, mark in pairwise(marks):
        if before.upto is not None and before.upto >= begin + 3 * MINUTE and mark.counted is not None:
            return max(mark.counted, one.start)
    return FOREVER


def test_without_keep_nothing_goes() -> None:
    marks = [Mark(0, at(99), 0, 1), Mark(1, at(99), 0, 4)]
    assert kept_rows([row(1, 0)], VIEWS["v"], FOR_EVER, marks, None, 0) == [row(1, 0)]
