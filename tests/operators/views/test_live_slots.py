import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.views import live_slots
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=examples(500), deadline=None)
@given(
    there=st.lists(st.booleans(), min_size=1, max_size=9),
    moved=st.lists(st.integers(0, 8), max_size=5),
)
def test_the_first_and_last_rows_of_each_span_are_found(compiled: bool, there: list[bool], moved: list[int]) -> None:
    slots = len(there)
    size = 1 << (slots - 1).bit_length()
    live = np.zeros(2 * size, np.int32)
    live[size : size + slots] = there
    with plain_kernels(*[] if compiled else [live_slots]):
        live_slots.count_up(live)
        for slot in (each % slots for each in moved):
            live_slots.shift(live, slot, -1 if there[slot] else 1)
            there[slot] = not there[slot]
        assert live[1] == sum(there)
        for begin in range(slots):
            for end in range(begin, slots + 1):
                rows = [slot for slot in range(begin, end) if there[slot]]
                assert live_slots.first_live(live, begin, end) == (rows[0] if rows else end)
                assert live_slots.last_live(live, begin, end) == (rows[-1] if rows else begin - 1)
