from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from state.occurrences import occurrences


@given(st.lists(st.integers(0, 4), max_size=12))
def test_each_is_counted_among_its_own(numbers: list[int]) -> None:
    nth, distinct, times = occurrences(np.array(numbers, np.int64))
    assert nth.tolist() == [numbers[:i].count(number) for i, number in enumerate(numbers)]
    assert dict(zip(distinct.tolist(), times.tolist(), strict=True)) == Counter(numbers)
    assert distinct.tolist() == sorted(set(numbers))
