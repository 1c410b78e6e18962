from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from operators.packed import Header, PackedError, PackedImages, pack_images, unpack
from operators.row_images import ImageColumn, Images
from operators.wire.images import width_of
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.test_packed import INT64, rewritten

GOLDEN = Path(__file__).parent.parent / "golden" / "format_2_images.bin"
CHANNEL = ImageChannel("t")
NULLABLE = st.none() | INT64
TEXTS = ["a", "", "é"]
CHANGE = st.tuples(
    st.sampled_from([-1, 0, 0, 1]), NULLABLE, NULLABLE, st.none() | st.integers(0, 2), st.none() | st.integers(0, 2)
)


def column_of(rows: list[int], old: list[int | None], new: list[int | None], texts: list[str] | None) -> ImageColumn:
    had = np.array([r <= 0 and value is not None for r, value in zip(rows, old, strict=True)], np.bool_)
    has = np.array([r >= 0 and value is not None for r, value in zip(rows, new, strict=True)], np.bool_)
    olds, news = (np.array([value or 0 for value in column], np.int64) for column in (old, new))
    return ImageColumn(np.where(had, olds, 0), had, np.where(has, news, 0), has, texts)


def images_of(changes: list[tuple], causes: list[int]) -> Images:
    rows = [change[0] for change in changes]
    columns = {
        "x": column_of(rows, [c[1] for c in changes], [c[2] for c in changes], None),
        "name": column_of(rows, [c[3] for c in changes], [c[4] for c in changes], [*TEXTS]),
    }
    return Images(np.array(causes, np.int32), np.array(rows, np.int64), columns)


def causes_of(count: int) -> Causes:
    return Causes(["t"], np.zeros(count, np.int32), np.arange(count, dtype=np.int32) % 3, np.arange(count) * 7 + 1)


@given(changes=st.lists(st.tuples(CHANGE, st.booleans()), min_size=1, max_size=8), shared=st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_any_images_come_back_exactly(changes, shared):
    number = np.cumsum([0, *[starts for _, starts in changes[1:]]])
    images = images_of([change for change, _ in changes], number.tolist())
    several = np.bincount(number) > 1 if shared else None
    seq = np.arange(len(changes)) * 2 + 5
    header = Header("images", 5, "t/0", 3, int(seq[0]), int(seq[-1]), 1, 2)
    read = unpack(pack_images(header, CHANNEL, images, seq, causes_of(len(changes)), several))
    assert isinstance(read, PackedImages) and len(read) == len(changes)
    assert (read.header.channels, read.header.needed, read.header.topics) == ([CHANNEL], [["x", "name"]], ["t"])
    assert (read.seq.tolist(), read.cause.tolist()) == (seq.tolist(), number.tolist())
    assert (read.partition.tolist(), read.offset.tolist()) == ((number % 3).tolist(), (number * 7 + 1).tolist())
    expected = several is not None and several[number].tolist()
    assert (read.several is not None and read.several.tolist()) == (expected if expected and any(expected) else False)
    assert read.rows.tolist() == images.rows.tolist() and list(read.columns) == ["x", "name"]
    for name, column in images.columns.items():
        other = read.columns[name]
        assert other.texts == column.texts
        for part in ("old", "old_known", "new", "new_known"):
            one, two = getattr(column, part), getattr(other, part)
            assert one.tolist() == two.tolist() and one.dtype == two.dtype, (name, part)


def golden() -> bytes:
    changes = [(1, None, 7, None, 1), (0, 7, INT64_MAX, 1, None), (-1, INT64_MIN, None, 2, None), (0, 3, None, 0, 2)]
    several = np.array([False, False, True])
    header = Header("images", 5, "t/0", 3, 8, 11)
    return pack_images(header, CHANNEL, images_of(changes, [0, 1, 2, 2]), np.arange(8, 12), causes_of(3), several)


def test_golden_bytes_stay_as_they_are():
    assert golden() == GOLDEN.read_bytes()


def test_a_column_that_does_not_change_costs_what_its_values_cost():
    m = 5_000
    kept = np.arange(m) * 2**40
    yes, rows = np.ones(m, np.bool_), np.zeros(m, np.int64)

    def size(old: np.ndarray) -> int:
        images = Images(np.arange(m, dtype=np.int32), rows, {"x": ImageColumn(old, yes, kept, yes)})
        return len(pack_images(Header("images", 5, "t/0", 3), CHANNEL, images, rows, causes_of(m)))

    assert size(kept) < 0.7 * size(kept[::-1].copy())
    assert width_of(ImageColumn(kept, yes, kept, yes)) == 2 + 8 + 8
    assert width_of(ImageColumn(rows, yes, rows + 9, yes)) == 2 + 1 + 2
    assert width_of(ImageColumn(rows, ~yes, rows, ~yes)) == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("needed", []), ("needed", [["x"], ["name"]]), ("needed", [["x", "x"]]), ("channels", []), ("chunk", 9)],
)
def test_a_header_that_does_not_fit_is_refused(field, value):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(rewritten(golden(), lambda header, *_: header.update({field: value})))


@pytest.mark.parametrize(("name", "least"), [("rows", 5), ("new/1", 100), ("back/1", -100), ("cause", -3)])
def test_values_that_cannot_be_are_refused(name, least):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(rewritten(golden(), lambda _, layout, __: layout["least"].update({name: least})))
