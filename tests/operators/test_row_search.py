from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.coded_terms import CodedRows
from operators.row_search import _by_number, search
from tests.effort import deep_examples
from tests.operators.filter_rows import CHANGES, REGIONS, store_of
from tests.operators.watched import RELATION
from tests.oracle.naive_first_rows import meets


@pytest.mark.deep
@given(changes=CHANGES, regions=st.lists(REGIONS, max_size=5), ranked=st.sets(st.sampled_from([1, 5, 6])))
@settings(max_examples=deep_examples(300), deadline=None)
def test_a_scan_and_an_index_find_the_rows_that_meet_a_filter(changes, regions, ranked):
    store, rows = store_of(changes)
    store.rank({column: column == 6 for column in ranked})
    truth = [[i for i, row in enumerate(rows) if meets(RELATION, region, row)] for region in regions]
    for many in (0, 10):
        found = search(CodedRows(RELATION, store), regions, many)
        assert [found.rows[a:b].tolist() for a, b in zip(found.starts, found.starts[1:], strict=False)] == truth
        assert found.counts.tolist() == [*map(len, truth)]
        which = list(range(0, len(regions), 2))
        part = found.only(which)
        assert [part.rows[a:b].tolist() for a, b in zip(part.starts, part.starts[1:], strict=False)] == truth[::2]
        assert found.sums(found.rows).tolist() == [*map(sum, truth)]


@pytest.mark.parametrize("top", [1, 2**16, 2**20])
def test_slots_are_ordered_and_those_alike_stay_as_they_are(top):
    numbers = np.random.default_rng(top).integers(0, top, 5_000)
    assert _by_number(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
