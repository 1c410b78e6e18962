import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from operators.packed import Header, PackedImages, pack_images, unpack
from shard.outgoing_images import OutgoingImages
from state.causes import Causes
from tests.effort import examples
from tests.operators.test_row_images import said
from tests.operators.watched import batch_of
from tests.operators.wire.test_images import CHANGE, images_of

HEADER = Header("images", 5, "t/0", 3)


def outgoing_of(changes: list[tuple], starts: list[bool]) -> OutgoingImages:
    batch = batch_of([(i, None) for i in range(len(changes))])
    batch.cause = np.cumsum([0, *starts[1:]]).astype(np.int32)
    images = images_of(changes, list(range(len(changes))))
    return OutgoingImages.of(ImageChannel("t"), images, batch, Causes.of("t", batch), 99)


@given(st.lists(st.tuples(CHANGE, st.booleans()), min_size=1, max_size=12), st.integers(4_000, 12_000))
@settings(max_examples=examples(200), deadline=None)
def test_it_is_cut_without_loss_and_each_record_is_within_the_bytes(changes, most):
    whole = outgoing_of([change for change, _ in changes], [starts for _, starts in changes])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing_images.RECORD_BYTES", most)
        parts = list(whole.split())
    assert [seq for part in parts for seq in part.seq.tolist()] == list(range(100, 100 + len(changes)))
    assert [row for part in parts for row in said(part.images)] == said(whole.images)
    causes = [cause for part in parts for cause in part.images.cause.tolist()]
    assert causes == whole.images.cause.tolist()
    for part in parts:
        value = pack_images(HEADER, part.channel, part.images, part.seq, part.causes, part.several)
        assert len(value) <= most or len(part.seq) == 1 or most < 8_000
        read = unpack(value)
        assert isinstance(read, PackedImages)
        several = np.bincount(whole.images.cause)[read.cause] > 1
        assert (read.several.tolist() if read.several is not None else [False] * len(read)) == several.tolist()


def test_long_texts_are_counted_once_a_record():
    texts = ["a" * 1_000, "b" * 1_000]
    changes = [(0, 1, 2, i // 20 % 2, i // 20 % 2) for i in range(40)]
    whole = outgoing_of(changes, [True] * 40)
    whole.images.columns["name"].texts[:] = [*texts, "c"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing_images.RECORD_BYTES", 6_000 + 20 * 60 + 1_100)
        assert [len(part.seq) for part in whole.split()] == [20, 20]
        patch.setattr("shard.outgoing_images.RECORD_BYTES", 6_000 + 40 * 60 + 2_200)
        assert [part is whole for part in whole.split()] == [True]
