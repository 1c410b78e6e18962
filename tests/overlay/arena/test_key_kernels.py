"""The compiled partitioner is the one that everyone else uses."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.partitioner import home_partition
from overlay.arena.key_kernels import homes
from overlay.arena.text_arena import sizes_of
from tests.effort import examples


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1), st.integers(1, 50))
def test_homes(keys: list[bytes], partitions: int) -> None:
    sizes = sizes_of(keys)
    out = np.empty(len(keys), np.int64)
    homes(np.frombuffer(b"".join(keys), np.uint8), np.cumsum(sizes) - sizes, sizes, partitions, out)
    assert out.tolist() == [home_partition(key, partitions) for key in keys]
