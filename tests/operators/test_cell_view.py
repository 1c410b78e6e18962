from __future__ import annotations

import numpy as np

from operators.batch_view import BatchView
from state.row_store import RowStore
from tests.operators.cell_world import BIGINT, TABLES, CellWorld, catalog_of

ROW = {"k": 1, "j": 1, "x": 1, "y": "a", "v": 1}


def test_changes_of_all_tables_stand_in_one_order_and_those_of_one_record_have_one_cause():
    world = CellWorld(catalog_of((BIGINT, BIGINT, BIGINT)))
    view = world.view(
        [
            [("s", 1, {"id": 1, **ROW})],
            [("r", 1, {"id": 1, **ROW}), ("r", 2, {"id": 2, **ROW})],
            [("s", 1, None), ("r", 1, None)],
        ]
    )
    assert (view.tables, len(view)) == (TABLES, 5)
    assert [each.tolist() for each in view.number] == [[1, 2, 3], [0, 4], []]
    assert [each.tolist() for each in view.cause] == [[1, 1, 2], [0, 2], []]
    assert view.causes.offset.tolist() == [0, 10, 20]
    assert [view.causes.topics[topic] for topic in view.causes.topic] == ["topic of s", "topic of r", "topic of r"]


def test_a_batch_without_changes_has_no_causes():
    world = CellWorld(catalog_of((BIGINT, BIGINT, BIGINT)))
    view = world.view([])
    assert len(view) == 0 and len(view.causes) == 0
    assert isinstance(view.views[0], BatchView) and isinstance(view.views[0].rows, RowStore)
    assert [each.dtype for each in view.cause] == [np.int32] * 3


def test_views_stand_behind_tables_and_so_do_their_changes_of_each_cause():
    world = CellWorld(catalog_of((BIGINT, BIGINT, BIGINT)))
    view = world.view([[("s", 1, {"id": 1, **ROW})], [("r", 1, {"id": 1, **ROW}), ("r", 2, {"id": 2, **ROW})]])
    assert view.beside({}) is view
    beside = view.beside(
        {"v": (view.views[0], np.array([0, 1], np.int32)), "w": (view.views[0], np.zeros(1, np.int32))}
    )
    assert beside.tables == (*TABLES, "v", "w") and beside.causes is view.causes and len(beside) == 6
    assert [each.tolist() for each in beside.number] == [[3, 4], [0], [], [1, 5], [2]]
    assert [each.tolist() for each in beside.cause] == [[1, 1], [0], [], [0, 1], [0]]
