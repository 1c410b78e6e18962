from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import Header, PackedImages, pack_images, unpack
from state.causes import Causes
from tests.effort import examples
from tests.operators.test_packed import INT64
from tests.operators.wire.test_images import CHANNEL, images_of


@given(st.lists(st.tuples(INT64, st.booleans(), st.integers(0, 3)), min_size=1, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_only_causes_that_are_named_are_told_and_each_is_where_it_was(causes):
    cause = [i for i, (_, _, times) in enumerate(causes) for _ in range(times)]
    if not cause:
        return
    offsets = np.array([offset for offset, _, _ in causes], np.int64)
    several = np.array([many for _, many, _ in causes], np.bool_)
    partition = np.arange(len(causes), dtype=np.int32) % 3
    table = Causes(["t", "u"], partition % 2, partition, offsets)
    images = images_of([(0, 1, 2, None, None)] * len(cause), cause)
    packed = pack_images(Header("images", 5, "t/0", 3), CHANNEL, images, np.arange(len(cause)), table, several)
    read = unpack(packed)
    assert isinstance(read, PackedImages) and read.header.topics == ["t", "u"]
    assert read.cause.tolist() == cause and read.offset.tolist() == offsets[cause].tolist()
    assert read.partition.tolist() == partition[cause].tolist()
    told = read.several.tolist() if read.several is not None else [False] * len(cause)
    assert told == several[cause].tolist()
