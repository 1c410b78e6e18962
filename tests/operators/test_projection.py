from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.projection import VALUE_BYTES, Projection
from operators.reply import decode_row
from tests.effort import examples
from tests.operators.filter_rows import CHANGES, store_of
from tests.operators.watched import RELATION

NAMES = [column.name for column in RELATION.columns]


@given(CHANGES, st.lists(st.sampled_from(NAMES), min_size=1, max_size=5), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_rows_are_projected_in_the_order_of_the_select_list(changes, shown, data):
    store, rows = store_of(changes)
    which = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6)) if rows else []
    projection = Projection(RELATION, store, store.still(), shown)
    numbers = np.array(which, np.int64)
    told = [[rows[i][n] for n in shown] for i in which]
    assert [decode_row(row) for row in projection.encoded(numbers)] == told
    sizes = [sum(len(msgspec.json.encode(v)) + 1 if isinstance(v, str) else VALUE_BYTES for v in row) for row in told]
    assert projection.sizes(numbers).tolist() == sizes
    low, high = projection.hashes(bytes(16), numbers)
    alike = {}
    for i, number in zip(which, zip(low.tolist(), high.tolist(), strict=True), strict=True):
        assert alike.setdefault(tuple(rows[i][n] for n in shown), number) == number
    assert len(set(alike.values())) == len(alike)
