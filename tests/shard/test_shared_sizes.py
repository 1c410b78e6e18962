import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shard.shared_sizes import SharedSizes

NAMES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=12).map(sorted)


@given(NAMES, st.integers(0, 7), st.integers(0, 7))
def test_each_thing_that_a_stretch_names_counts_once(names, start, end):
    by, thing = (np.array([name[i] for name in names], np.int64) for i in (0, 1))
    sizes = np.array([1, 10, 100, 1000], np.int64)
    named = {what for who, what in names if start <= who < end}
    assert SharedSizes(by, thing, sizes).of(start, end) == sum(sizes[what] for what in named)
