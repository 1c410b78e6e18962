"""Pairs of versions against a look at each value."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.version_pairs import read_pairs
from tests.effort import examples

VALUES = st.lists(st.none() | st.integers(0, 2), min_size=1, max_size=5)


@given(VALUES, st.data())
@settings(max_examples=examples(200), deadline=None)
def test_pairs_are_as_their_values_are(column, data):
    version = st.integers(-1, len(column) - 1)
    pairs = data.draw(st.lists(st.tuples(version, version), max_size=6))
    marked = data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    codes = np.array([value or 0 for value in column], np.int64)
    valid = np.array([value is not None for value in column], np.bool_)
    old, new = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    differ = np.array(marked, np.bool_)
    before, had, after, has = read_pairs(codes, valid, old, new, differ)
    meant = [[None if version < 0 else column[version] for version in pair] for pair in pairs]
    sides = [
        [value if there else None for value, there in zip(values.tolist(), known.tolist(), strict=True)]
        for values, known in ((before, had), (after, has))
    ]
    assert [list(pair) for pair in zip(*sides, strict=True)] == meant
    assert not before[~had].any() and not after[~has].any()
    assert differ.tolist() == [mark or one != two for mark, (one, two) in zip(marked, meant, strict=True)]
