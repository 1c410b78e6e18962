"""Lists come, go and get room that was free; each keeps its rows, which are counted."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.types.column_type import ColumnType, Kind
from operators.reply import encode_row
from overlay.answers import list_record_kernels
from overlay.answers.answer_table import AnswerTable, list_records
from overlay.answers.list_layout import ListLayout
from overlay.answers.list_table import ListTable
from tests.effort import deep_examples
from tests.oracle.plain_kernels import plain_kernels

TEXT = ColumnType(Kind.VARCHAR)
LAYOUTS = [
    ListLayout(BestShape("t", shown, (), None, (Order("k", False, False),), limit, ()), [TEXT] * len(shown))
    for shown in (("s",), ("s", "s"))
    for limit in range(4)
]
ROWS = [encode_row([text, key]) for text in ("a", "b") for key in range(3)]
lists = st.tuples(st.integers(0, 7), st.lists(st.sampled_from(ROWS), max_size=3, unique=True))
steps = st.lists(st.tuples(st.lists(st.integers(0, 5), unique=True, max_size=4), st.none() | lists), max_size=12)


def stored(table: ListTable) -> dict[int, list[bytes]]:
    """Return what reading all lists gives."""
    read = AnswerTable()
    for slot, record in table.records(table.slots(), lambda _: None):
        read.put(slot, record)
    return dict(read.taken_lists())


@pytest.mark.deep
@given(steps)
@settings(max_examples=deep_examples(300), deadline=None)
def test_lists_are_those_that_were_started_last(steps) -> None:  # type: ignore[no-untyped-def]
    table, twin = ListTable(), dict[int, list[bytes]]()
    for slots, asked in steps:
        chosen = np.array(slots, np.int64)
        if asked is None:
            table.drop(chosen)
            twin = {slot: rows for slot, rows in twin.items() if slot not in slots}
            written = []
        else:
            layout, rows = LAYOUTS[asked[0]], asked[1][: LAYOUTS[asked[0]].limit]
            table.start([layout] * len(slots), chosen, [rows] * len(slots))
            twin |= dict.fromkeys(slots, rows)
            written = sorted(slots)
        table.check()
        assert stored(table) == twin and len(table) == len(twin)
        assert {slot: table.answer(slot) for slot in twin} == twin
        assert [slot for slot in range(8) if slot in table] == sorted(twin)
        assert table.are(np.arange(8)).tolist() == [slot in twin for slot in range(8)]
        assert table.changed().tolist() == written and not len(table.changed())
        flat, counts = table.flat(np.array(sorted(twin), np.int64))
        assert table.rows.images(flat) == [row for slot in sorted(twin) for row in twin[slot]]
        assert counts.tolist() == [len(twin[slot]) for slot in sorted(twin)]


def test_a_list_that_is_too_long_is_refused_before_anything_is_written() -> None:
    table = ListTable()
    table.start([LAYOUTS[1]], np.array([3]), [ROWS[:1]])
    with pytest.raises(ValueError, match="a list of 2 rows, expected at most 1"):
        table.restore([LAYOUTS[1]], np.array([3]), [ROWS[:2]])
    table.check()
    assert table.answer(3) == ROWS[:1]


def test_what_was_stored_already_is_no_change_and_what_is_noted_is() -> None:
    table = ListTable()
    table.restore([LAYOUTS[3]], np.array([2]), [ROWS[:2]])
    assert table.changed().tolist() == []
    table.note(np.array([2, 2]))
    assert table.changed().tolist() == [2]
    table.note(np.array([2]))
    table.drop(np.array([2, 9]))
    assert table.changed().tolist() == []


LONG = ListLayout(BestShape("t", ("s",), (), None, (Order("k", False, False),), 20, ()), [TEXT])
widths = st.sampled_from([1, 255, 256, 65_535, 65_536, 300_000])
wide_lists = st.lists(st.tuples(st.lists(widths, max_size=18), st.booleans()), min_size=1, max_size=5)


@pytest.mark.deep
@pytest.mark.parametrize("compiled", [True, False])
@given(asked=wide_lists)
@settings(max_examples=deep_examples(100, few=5), deadline=None)
def test_records_are_what_encoding_them_gives(compiled, asked) -> None:  # type: ignore[no-untyped-def]
    table, slots = ListTable(), np.arange(len(asked))
    lists = [[bytes([i]) * width for i, width in enumerate(rows)] for rows, _ in asked]
    table.start([LONG] * len(asked), slots, lists)
    bounds = [(b"a", b"b") if bounded else None for _, bounded in asked]
    with nullcontext() if compiled else plain_kernels(list_record_kernels):
        found = table.records(slots, lambda slot: bounds[slot])
    assert found == [(i, one) for i in slots.tolist() for one in list_records(bounds[i], lists[i])]
