"""Changes by themselves have causes without gaps, as messages want them."""

from __future__ import annotations

import numpy as np

from operators.batch_view import BatchView
from shard.moved import Moved
from shard.tables import Table
from state.causes import Causes
from tests.shard.test_image_channel import RELATION, batch_of


def moved_of(cause: list[int], causes: int) -> Moved:
    changes = batch_of([(key, None) for key in range(len(cause))])
    changes.cause = np.array(cause, np.int32)
    view: BatchView = Table(RELATION).still()
    table = Causes(
        ["s", "t"], np.arange(causes, dtype=np.int32) % 2, np.zeros(causes, np.int32), np.arange(causes) * 10
    )
    return Moved(changes, view, changes.cause, table)


def test_causes_that_are_not_named_are_left_out() -> None:
    moved = moved_of([1, 4, 4], 6)
    alone = moved.alone()
    assert alone.cause.tolist() == [0, 1, 1] == alone.changes.cause.tolist() and alone.view is moved.view
    assert (alone.causes.offset.tolist(), alone.causes.topic.tolist()) == ([10, 40], [1, 0])
    several = alone.changes.several
    assert several is not None and several.tolist() == [False, True]
    assert moved.changes.cause.tolist() == [1, 4, 4], "others go by the numbers of the group"


def test_where_each_is_named_once_nothing_is_copied() -> None:
    moved = moved_of([0, 1, 2], 3)
    assert moved.alone().causes is moved.causes and moved.alone().changes.several is None
