from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from operators import row_images
from operators.batch_view import BatchView
from operators.channel_binding import ChannelError
from operators.channel_kinds import bind
from operators.row_images import ImageColumn, Images
from tests.effort import examples
from tests.operators.filter_rows import CHANGES, store_of
from tests.operators.watched import RELATION, Change, batch_of
from tests.oracle.naive_first_rows import Row, Scalar

NAMES = [column.name for column in RELATION.columns]
Image = tuple[int, int, list[Scalar | str], list[Scalar | str]]


def values_of(values: np.ndarray, known: np.ndarray, texts: list[str] | None) -> list[Scalar]:
    """Return values as they are meant; what is not known is 0."""
    assert not values[~known].any()
    meant = [texts[i] if texts is not None else i for i in values[known].tolist()]
    rest = iter(meant)
    return [next(rest) if there else None for there in known.tolist()]


def said(images: Images) -> list[tuple[int, int, dict[str, Scalar], dict[str, Scalar]]]:
    """Return cause, rows, old and new image of each change."""
    told = {
        name: (values_of(c.old, c.old_known, c.listed), values_of(c.new, c.new_known, c.listed))
        for name, c in images.columns.items()
    }
    return [
        (cause, rows, {n: old[i] for n, (old, _) in told.items()}, {n: new[i] for n, (_, new) in told.items()})
        for i, (cause, rows) in enumerate(zip(images.cause.tolist(), images.rows.tolist(), strict=True))
    ]


def naive(stored: Sequence[Row], changes: Sequence[Change], needed: Sequence[str]) -> list:
    """Return the images of changes by looking at each row before and after."""
    rows = {row["id"]: row for row in stored}
    told = []
    for i, (pk, row) in enumerate(changes):
        old, new = rows.pop(pk, None), None if row is None else {"id": pk, **row}
        if new is not None:
            rows[pk] = new
        images = [{n: None if image is None else image[n] for n in needed} for image in (old, new)]
        change = (new is not None) - (old is not None)
        if change or images[0] != images[1]:
            told.append((i, change, *images))
    return told


@given(stored=CHANGES, changes=CHANGES, needed=st.lists(st.sampled_from(NAMES), unique=True), data=st.data())
@settings(max_examples=examples(300), deadline=None)
def test_each_change_of_a_needed_column_is_told_with_both_images(stored, changes, needed, data):
    store, rows = store_of(stored)
    view = BatchView(RELATION, store, {}, store.replay(batch_of(changes)))
    images = row_images.find(view, needed)
    truth = naive(rows, changes, needed)
    assert said(images) == truth and list(images.columns) == needed
    for column in images.columns.values():
        assert column.listed is None or len(set(column.listed)) == len(column.listed)
    which = sorted(data.draw(st.sets(st.integers(0, len(truth) - 1)))) if truth else []
    part = images.take(np.array(which, np.int64))
    assert said(part) == [truth[i] for i in which]
    for column in part.columns.values():
        named = {*column.old[column.old_known].tolist(), *column.new[column.new_known].tolist()}
        assert column.texts is None or named == {*range(len(column.texts))}


def test_it_needs_no_ordering_and_fits_its_table_alone():
    bound = bind(ImageChannel("t"), RELATION)
    assert (bound.orderings, bound.ranked, bound.column) == ((), {}, None)
    with pytest.raises(ChannelError, match="does not fit table `t`"):
        bind(ImageChannel("u"), RELATION)


def test_texts_that_nobody_names_are_left_out():
    yes = np.ones(2, np.bool_)
    column = ImageColumn(np.array([0, 2]), yes, np.array([1, 2]), yes, ["a", "b", "c"])
    assert column.take(slice(1, 2)).texts == ["c"]
    assert column.take(slice(0, 1)).texts == ["a", "b"]
