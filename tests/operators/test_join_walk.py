from __future__ import annotations

from catalog.schema.join import Join
from operators.join_walk import Step, columns_at, sought, walk

STAR, _ = Join.of(["filing", "quote", "trade"], [((0, "symbol"), (1, "symbol")), ((1, "id"), (2, "quote"))])
TWICE, _ = Join.of(["r", "s"], [((0, "k"), (1, "k")), ((0, "k"), (1, "j")), ((0, "id"), (1, "id"))])
CYCLE, _ = Join.of(["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j")), ((2, "v"), (0, "v"))])


def test_each_table_hangs_on_one_that_was_visited_before():
    assert walk(STAR, 0) == (Step(0, 1, ("symbol",), ("symbol",)), Step(1, 2, ("id",), ("quote",)))
    assert walk(STAR, 1) == (Step(1, 0, ("symbol",), ("symbol",)), Step(1, 2, ("id",), ("quote",)))
    assert walk(STAR, 2) == (Step(2, 1, ("quote",), ("id",)), Step(1, 0, ("symbol",), ("symbol",)))


def test_a_step_goes_by_one_column_of_each_class_that_both_have():
    assert walk(TWICE, 0) == (Step(0, 1, ("id", "k"), ("id", "j")),)
    assert columns_at(TWICE, 1) == (("id",), ("j", "k"))
    assert columns_at(CYCLE, 1) == (("k",), (), ("j",))


def test_a_cycle_is_walked_as_a_tree():
    for root in range(3):
        steps = walk(CYCLE, root)
        assert sorted([root, *(step.child for step in steps)]) == [0, 1, 2]
        assert all(len(step.come) == len(step.go) == 1 for step in steps)


def test_what_any_walk_looks_rows_up_by():
    assert set(sought(STAR)) == {
        ("quote", ("symbol",)),
        ("quote", ("id",)),
        ("trade", ("quote",)),
        ("filing", ("symbol",)),
    }
