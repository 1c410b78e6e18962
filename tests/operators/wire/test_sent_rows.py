from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import Header, PackedRows, unpack
from operators.timeline import SentColumn, SentRows
from operators.wire.sent_rows import pack_rows, row_sizes
from state.byte_table import Strings
from state.lifetimes import NEVER
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.timelines import JOIN, OTHER, column, said, small

HEADER = Header("", 5, "cell/r+s/0", 3, of=1)
VALUES = st.none() | st.sampled_from([INT64_MIN, -1, 0, 1, 255, 2**40, INT64_MAX])
TEXTS = st.none() | st.sampled_from(["", "a", "é" * 9, "z" * 999])


def of_a_cell(rows: SentRows) -> SentRows:
    """Return rows with their texts as a cell has them."""
    columns = {
        name: each if each.texts is None else SentColumn(each.codes, each.known, strings=Strings.of(each.texts))
        for name, each in rows.columns.items()
    }
    return replace(rows, columns=columns)


def test_a_cells_rows_are_packed_as_an_edges_are():
    rows = small().rows[0]
    packed = pack_rows(HEADER, of_a_cell(rows), 2)
    assert packed == pack_rows(HEADER, rows, 2)
    chunk = unpack(packed)
    assert isinstance(chunk, PackedRows) and said(chunk.rows) == said(rows)
    header = chunk.header
    assert (header.kind, header.table, header.first, header.count) == ("rows", "r", 2, 3)
    assert [channel.relation for channel in header.channels] == sorted((JOIN.name, OTHER.name))


@given(drawn=st.lists(st.tuples(VALUES, VALUES, TEXTS), max_size=9), key=st.sampled_from([0, 2**40]))
@settings(max_examples=examples(60), deadline=None)
def test_rows_take_no_more_than_is_said_of_them(drawn, key):
    rows = drawn * 200
    count = len(rows)
    keys = {(JOIN.name, 0, 0): np.arange(count) * key, (OTHER.name, 0, 0): np.full(count, -1)}
    columns = {f"c{i}": column([row[i] for row in rows], i == 2) for i in range(3)}
    sent = SentRows("r", np.full(count, -1), np.full(count, NEVER), keys, columns)
    sizes = row_sizes(sent)
    assert sizes.tolist() == row_sizes(of_a_cell(sent)).tolist()
    assert len(pack_rows(HEADER, sent, 0)) <= int(sizes.sum()) + 20_000, "what a timeline's chunks leave room for"
