from __future__ import annotations

import pytest

from catalog.query.filter_shape import FilterShape
from operators.answer_quota import QUOTA
from operators.reply import Later, Refused, Rows
from shard import cell_answers
from shard.cell_answers import cell_snapshots
from shard.snapshot import DIGEST_KEY, Questions, Snapshot
from tests.shard.test_cell_register import CATALOG, GROUP, OTHER, region, stack_of

BYTES = 10**9


def answered(questions: dict[int, Questions], most: int = BYTES, **bounds: int) -> dict[int, Snapshot]:
    """Return the answers of a cell of four rows of a and four of b, all of one key."""
    return cell_snapshots(stack_of().cell(GROUP), CATALOG, questions, most, DIGEST_KEY, QUOTA, **bounds)


def kinds(snapshots: dict[int, Snapshot]) -> dict[int, type]:
    return {
        version: type(snapshot.replies[i])
        for snapshot in snapshots.values()
        for i, version in enumerate(snapshot.version.tolist())
    }


def test_answers_of_several_joins_stand_where_they_were_asked_and_refusals_behind_them():
    other = FilterShape(OTHER.name, ("0.id",), (), ("0.x",), (), ())
    asked = Questions([(9, region(0, 9, other)), (8, region(1, 1)), (7, region(2, 3, other))], [(6, Refused("q", "w"))])
    snapshots = answered({5: asked, 2: Questions([(9, region(0, 0))])})
    assert [*snapshots] == [2, 5] and snapshots[5].version.tolist() == [9, 8, 7, 6]
    replies = snapshots[5].replies
    assert [len(replies[i].rows) for i in range(3)] == [4, 4, 0] and replies[3] == Refused("q", "w")
    assert len(snapshots[2].replies[0].rows) == 4


@pytest.mark.parametrize("bounds", [{"most": 1}, {"most_work": 1}])
def test_what_is_beyond_the_bytes_or_the_work_of_a_batch_comes_later_in_order_of_versions(bounds, monkeypatch):
    monkeypatch.setattr(cell_answers, "_FEW", 1)
    asked = {0: Questions([(3, region(0, 9)), (1, region(1, 1))]), 1: Questions([(2, region(0, 0))])}
    assert kinds(answered(asked)) == {1: Rows, 2: Rows, 3: Rows}
    assert kinds(answered(asked, **bounds)) == {1: Rows, 2: Later, 3: Later}


def test_of_a_version_that_is_asked_twice_the_first_is_answered():
    (snapshot,) = answered({0: Questions([(1, region(0, 0)), (1, region(0, 9))], [(1, Refused("q", "w"))])}).values()
    assert snapshot.version.tolist() == [1] and len(snapshot.replies[0].rows) == 4
