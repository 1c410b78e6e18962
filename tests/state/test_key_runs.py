from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import key_runs as module
from state.key_runs import key_runs
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(module):
        yield


VALUES = st.sampled_from([-(2**63), -1, 0, 1, 2, 2**63 - 1])
CALM = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@CALM
@given(
    rows=st.lists(st.tuples(VALUES, VALUES), max_size=40),
    wanted=st.lists(st.tuples(VALUES, VALUES), max_size=6),
    columns=st.sampled_from([(0,), (1,), (0, 1), (1, 0)]),
)
def test_a_run_has_exactly_the_rows_with_its_key(plain: None, rows, wanted, columns):
    codes = np.array(rows, np.int64).reshape(len(rows), 2).T.copy()
    order = np.lexsort([codes[column] for column in reversed(columns)]).astype(np.int32)
    keys = np.array(wanted, np.int64).reshape(len(wanted), 2)[:, list(columns)]
    first, stop = key_runs(codes, columns, order, keys)
    for i, key in enumerate(keys.tolist()):
        found = order[first[i] : stop[i]].tolist()
        assert sorted(found) == [row for row, values in enumerate(rows) if [values[c] for c in columns] == key]
