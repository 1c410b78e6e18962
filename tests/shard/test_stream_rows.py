"""Rows of a stream in every format that is read row by row: the Kafka key says nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from shard.horizon import Horizon
from shard.stream_rows import StreamRows
from tests.shard.test_pipeline import records

RELATION = apply_ddl(
    Catalog(), "CREATE STREAM s (ts TIMESTAMP, x INTEGER, g VARCHAR) WITH ('event_time'='ts', 'lateness'='10 s')", 0
).relations["s"]
SECOND = 1_000_000


@pytest.mark.parametrize(
    ("format_", "values"),
    [
        ("json", [b'{"ts":"1970-01-01T00:01:0%d","x":%d,"g":"a"}' % (i, i) for i in range(3)]),
        ("csv", [b"1970-01-01T00:01:0%d,%d,a" % (i, i) for i in range(3)]),
    ],
)
def test_whatever_its_format(format_: str, values: list[bytes]) -> None:
    relation = replace(RELATION, format=format_)
    come = records(
        "s", [(b"\xff", values[0]), (None, b"nonsense"), (b'"k"', values[1]), (b"k", None), (None, values[2])]
    )
    rows = StreamRows.of(relation, come)
    assert rows.place.tolist() == [0, 2, 4] and rows.come.time.tolist() == [60 * SECOND, 61 * SECOND, 62 * SECOND]
    assert [letter.key for letter in rows.letters] == [None, b"k"] and rows.letters[1].code == "tombstone"
    judged = Horizon().take(relation, rows.come, {0: 5}, (), 1)
    changes = rows.counting(judged)
    assert len(changes) == 3 and len(set(changes.keys)) == 3 and changes.cause.tolist() == [0, 1, 2]
    assert changes.codes[1].tolist() == [0, 1, 2] and list(changes.texts[2]) == ["a"] * 3


def test_what_a_batch_leaves_has_its_texts_and_places() -> None:
    values = [b'{"ts":"1970-01-01T00:%02d:00","x":1,"g":"g%d"}' % (minute, minute) for minute in (5, 1, 6, 2, 7)]
    come = replace(records("s", [(None, value) for value in values]), timestamp=np.full(5, 3_600 * SECOND))
    rows = StreamRows.of(RELATION, come)
    changes = rows.counting(Horizon().take(RELATION, rows.come, {0: 5}, (), 1))
    assert list(changes.texts[2]) == ["g5", "g6", "g7"] and changes.offset.tolist() == [0, 2, 4]
    assert [(letter.code, letter.offset) for letter in rows.letters] == [("late", 1), ("late", 3)]
