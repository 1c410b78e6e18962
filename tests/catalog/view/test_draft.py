"""Stages that are added one after the other: names, keys and columns, and the last one, which has the view's name."""

from __future__ import annotations

import pytest

from catalog.schema.relation import Column, Relation, with_ranges
from catalog.schema.view import Aggregate, By, ColumnOf, Constant, Fold, GroupBy, Joined, Map, TopK, Union
from catalog.types.column_type import ColumnType, Kind
from catalog.view.column_bounds import ColumnBounds
from catalog.view.draft import Draft, Shown

BIGINT, TEXT, DATERANGE = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR), ColumnType(Kind.DATERANGE)
T = Relation("t", (Column("a", BIGINT, False), Column("b", TEXT, False), Column("c", BIGINT)), ("a", "b"), "t")
U = Relation("u", (Column("k", TEXT, False), Column("d", BIGINT, False)), ("k",), "u")
R = Relation("r", with_ranges([Column("k", BIGINT, False), Column("when", DATERANGE)]), ("k",), "r")
COUNT = Aggregate("COUNT", None, BIGINT)


@pytest.fixture
def draft() -> Draft:
    known = {each.name: each for each in (T, U, R)}
    return Draft("v", 7, ColumnBounds(known.get, lambda _: None))


def show(*columns: str, of: Relation = T) -> list[Shown]:
    return [(name, ColumnOf(name, of.column(name).type), of.column(name).nullable) for name in columns]


def names(relation: Relation) -> list[str]:
    return [column.name for column in relation.columns]


def test_stages_are_numbered_and_the_last_one_has_the_views_name(draft: Draft) -> None:
    first = draft.map(T, show("a", "b"))
    second = draft.group(first, [("b", "b")], [("n", COUNT, False)])
    assert (first.name, second.name, first.born, first.topic) == ("stage/v/0", "stage/v/1", 7, "")
    stages = draft.close(second)
    assert [stage.relation.name for stage in stages] == ["stage/v/0", "v"]
    assert stages[1].operator == GroupBy("stage/v/0", ("b",), (COUNT,))


@pytest.mark.parametrize(
    ("shown", "key"), [(("a", "b"), ("a", "b")), (("b", "c", "a"), ("a", "b")), (("a", "c"), ()), (("c",), ())]
)
def test_a_map_has_its_inputs_key_where_all_of_it_is_shown(
    draft: Draft, shown: tuple[str, ...], key: tuple[str, ...]
) -> None:
    made = draft.map(T, show(*shown))
    assert (names(made), made.key) == (list(shown), key)


def test_a_key_is_called_as_it_is_shown_first(draft: Draft) -> None:
    items = [("x", *one[1:]) if one[0] == "a" else one for one in show("a", "b")] + [("y", *show("a")[0][1:])]
    assert draft.map(T, items).key == ("x", "b")


def test_what_is_computed_of_a_key_is_none(draft: Draft) -> None:
    assert draft.map(T, [("a", Constant(1, BIGINT), False), *show("b")]).key == ()


def test_groups_are_the_key_but_for_the_parts_of_ranges(draft: Draft) -> None:
    by = [(name, name) for name in names(R)[1:]]
    made = draft.group(R, by, [("n", COUNT, False)], parts=4)
    assert (made.key, len(made.columns)) == (("when",), 6)
    folded = draft.fold(T, [("b", "x")], [("n", COUNT, False)])
    assert (folded.key, names(folded)) == (("x",), ["x", "n"])
    assert isinstance(draft.stages[-1].operator, Fold)


def test_first_rows_keep_key_and_columns_and_have_a_place_where_it_is_named(draft: Draft) -> None:
    order = [By("c", False, True)]
    plain, ranked = draft.top(T, ["b"], order, 3, None), draft.top(T, ["b"], order, 3, "place")
    assert (names(plain), plain.key) == (["a", "b", "c"], ("a", "b"))
    assert names(ranked) == ["a", "b", "c", "place"]
    assert ranked.column("place") == Column("place", BIGINT, False)
    assert draft.stages[1].operator == TopK("t", ("b",), tuple(order), 3, True)


@pytest.mark.parametrize(
    ("left", "right", "equal", "key", "lookup"),
    [
        (T, U, [("b", "k")], ("0.a", "0.b"), True),
        (T, U, [("c", "d")], ("0.a", "0.b", "1.k"), False),
        (U, T, [("k", "b")], ("0.k", "1.a", "1.b"), False),
        (U, T, [("k", "b"), ("d", "a")], ("0.k",), True),
    ],
)
def test_joined_rows_are_known_by_both_keys_where_the_right_one_is_not_looked_up(
    draft: Draft, left: Relation, right: Relation, equal: list[tuple[str, str]], key: tuple[str, ...], lookup: bool
) -> None:
    called = tuple([f"{i}.{name}" for name in names(side)] for i, side in enumerate((left, right)))
    made = draft.join(left, right, equal, False, called)
    assert (made.key, names(made)) == (key, [*called[0], *called[1]])
    operator = draft.stages[-1].operator
    assert isinstance(operator, Joined) and operator.lookup is lookup


def test_without_a_key_on_one_side_joined_rows_have_none(draft: Draft) -> None:
    keyless = draft.map(T, show("c"))
    assert draft.join(keyless, U, [("c", "d")], False, (["c"], ["k", "d"])).key == ()
    assert draft.join(U, keyless, [("d", "c")], False, (["k", "d"], ["c"])).key == ()


@pytest.mark.parametrize("outer", [False, True])
def test_the_right_side_of_an_outer_join_may_be_null(draft: Draft, outer: bool) -> None:
    made = draft.join(T, U, [("b", "k")], outer, (["a", "b", "c"], ["k", "d"]))
    assert [column.nullable for column in made.columns] == [False, False, True, outer, outer]


def test_a_union_has_no_key_and_null_where_a_branch_has(draft: Draft) -> None:
    one, other = draft.map(T, show("a", "c")), draft.map(U, [("x", ColumnOf("d", BIGINT), False)] * 2)
    made = draft.union([one, other], ["p", "q"])
    assert (names(made), made.key, [column.nullable for column in made.columns]) == (["p", "q"], (), [False, True])
    assert draft.stages[-1].operator == Union(("stage/v/0", "stage/v/1"))


def test_what_shows_just_the_last_stage_only_names_it(draft: Draft) -> None:
    last = draft.group(T, [("b", "b")], [("COUNT(*)", COUNT, False)])
    made = draft.project(last, [("x", ColumnOf("b", TEXT), False), ("n", ColumnOf("COUNT(*)", BIGINT), False)])
    assert (made.name, names(made), made.key, len(draft.stages)) == ("stage/v/0", ["x", "n"], ("x",), 1)


@pytest.mark.parametrize("shown", [("COUNT(*)", "b"), ("b",), ("b", "COUNT(*)", "b")])
def test_any_other_choice_is_a_map(draft: Draft, shown: tuple[str, ...]) -> None:
    last = draft.group(T, [("b", "b")], [("COUNT(*)", COUNT, False)])
    items = [(f"x{i}", *one[1:]) for i, one in enumerate(show(*shown, of=last))]
    assert (draft.project(last, items).name, len(draft.stages)) == ("stage/v/1", 2)
    assert isinstance(draft.stages[1].operator, Map)


def test_a_fold_is_always_shown_by_a_map(draft: Draft) -> None:
    last = draft.fold(T, [("b", "b")], [("n", COUNT, False)])
    draft.project(last, show("b", "n", of=last))
    assert [type(stage.operator) for stage in draft.stages] == [Fold, Map]


def test_what_is_declared_keeps_its_name_until_the_view_is_closed(draft: Draft) -> None:
    made = draft.project(T, show("a", "b", "c"))
    assert made is T and not draft.stages
    (stage,) = draft.close(made)
    assert (stage.relation.name, stage.relation.key, names(stage.relation)) == ("v", ("a", "b"), ["a", "b", "c"])
    assert isinstance(stage.operator, Map)


def test_a_stage_that_is_not_the_last_is_mapped_in_the_end(draft: Draft) -> None:
    first = draft.map(T, show("a", "b"))
    draft.map(T, show("c"))
    *_, last = draft.close(first)
    assert last.operator == Map("stage/v/0", (ColumnOf("a", BIGINT), ColumnOf("b", TEXT)))


def test_parts_of_a_range_are_known_by_what_they_are_called(draft: Draft) -> None:
    shown = [
        (name.replace("when", "then"), *one[1:]) for name, *_ in [(n,) for n in names(R)] for one in show(name, of=R)
    ]
    made = draft.map(R, shown)
    assert {column.of for column in made.columns} == {"", "then"}
    without = draft.map(R, [one for one in shown if one[0] != "then"])
    assert {(column.of, column.role) for column in without.columns} == {("", "")}
