"""The index of joins: asked once a record for all virtual edges, whoever came since is asked for by itself.

Whether it finds the right ones is tested where rows are made of what it finds (`maintain/test_join_fast_rows.py`).
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.value_set import ValueSet
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after, order_key
from operators.timeline import SentColumn, SentRows, Timeline
from overlay.index.join_index import EdgeJoins, JoinIndex
from overlay.index.range_set_index import RangeSetIndex
from state.lifetimes import NEVER
from tests.overlay.join_timelines import NUMBER, draw

DRAWN = next(one for one in (draw(Random(seed), 30) for seed in range(9)) if len(one.join.classes) == 1)
TIMELINE, JOIN = DRAWN.timeline, DRAWN.join.name
SHAPE = FilterShape(JOIN, ("0.x",), (), ("0.x", "1.x"), (), ())
TYPES = {"0.x": NUMBER, "1.x": NUMBER}
ALL = ValueSet(((0, 9),))
WIDE, ONE = ColumnType(Kind.DECIMAL, 20, 2), np.ones(1, np.int64)


def ask(index: JoinIndex, edge: int, slots: list[int], **conditions: ValueSet) -> None:
    box = {int(name[1]): values for name, values in conditions.items()} or {0: ALL, 1: ALL}
    assert index.insert(edge, np.array(slots), SHAPE, TYPES, [encode_terms([box])] * len(slots)).all()


def met(index: JoinIndex, edge: int, record: object = None) -> set[int]:
    return {slot for step in index.hits(edge, TIMELINE, JOIN, record) for slot in step.hits.slot.tolist()}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The forms that were asked for, in order."""
    forms, whole = list[int](), RangeSetIndex.ask

    def ask(index: RangeSetIndex, form: int, *lists: np.ndarray) -> object:
        forms.append(form)
        return whole(index, form, *lists)

    monkeypatch.setattr(RangeSetIndex, "ask", ask)
    return forms


def test_a_record_is_asked_for_once(asked: list[int]) -> None:
    index = JoinIndex()
    for edge in range(3):
        ask(index, edge, [edge, 7])
    assert [met(index, edge, "one") for edge in range(3)] == [{0, 7}, {1, 7}, {2, 7}]
    assert len(asked) == 1
    assert met(index, 0, "another") == met(index, 0) == met(index, 0) == {0, 7}
    assert len(asked) == 4


def test_who_came_since_is_asked_for_alone_and_who_went_is_left_out(asked: list[int]) -> None:
    index = JoinIndex()
    ask(index, 0, [1, 2])
    ask(index, 1, [1, 2])
    assert met(index, 0, "one") == {1, 2}
    index.remove(1, np.array([2, 5]))
    ask(index, 1, [3])
    assert met(index, 1, "one") == {1, 3} and len(asked) == 2
    index.forget(1)
    assert met(index, 1, "one") == set() and len(asked) == 2
    index.check()


def test_of_few_records_only_is_it_kept_what_was_asked(asked: list[int]) -> None:
    index = JoinIndex()
    ask(index, 0, [1])
    for record in range(5):
        met(index, 0, record)
    met(index, 0, 4)
    assert len(asked) == 5
    met(index, 0, 0)
    assert len(asked) == 6


def test_what_takes_several_steps_is_not_kept(asked: list[int]) -> None:
    index = JoinIndex(step=2)
    ask(index, 0, [1])
    assert met(index, 0, "one") == {1}
    steps = len(asked)
    assert met(index, 0, "one") == {1} and len(asked) == 2 * steps > 2


def test_a_form_goes_with_its_last_subscription() -> None:
    index = JoinIndex()
    ask(index, 0, [1], _0=ALL)
    ask(index, 0, [2], _1=ValueSet(((4, 4),)))
    index.check()
    index.remove(0, np.array([2]))
    index.check()
    ask(index, 0, [2], _1=ValueSet(((3, 3),)))
    assert len(index) == 2 and index.slots(0).tolist() == [1, 2]


def test_tables_and_other_joins_are_none_of_its() -> None:
    index = JoinIndex()
    shape = FilterShape("stock", ("x",), (), ("x",), (), ())
    assert not index.insert(0, np.array([1]), shape, {"x": NUMBER}, [encode_terms([{0: ALL}])]).any()
    ask(index, 0, [1])
    assert not list(index.hits(0, TIMELINE, "another"))


def test_a_virtual_edge_begins_with_nothing() -> None:
    index = JoinIndex()
    mine = EdgeJoins(index, 0)
    assert mine.insert(np.array([4, 6]), SHAPE, TYPES, [encode_terms([{0: ALL}])] * 2).all()
    assert mine.slots().tolist() == [4, 6] and mine.bytes_each > 0
    assert mine.remove(np.array([4, 5])).tolist() == [True, False]
    assert EdgeJoins(index, 1).slots().tolist() == [] and mine.slots().tolist() == [6]
    assert EdgeJoins(index, 0).slots().tolist() == [] and len(index) == 0
    mine.clear()
    assert mine.bytes_each == index.nbytes


@pytest.mark.parametrize("values", [ALL, ValueSet(((0, 1), (3, 4))), ValueSet(((3, 3),))])
def test_what_another_virtual_edge_asks_ahead_needs_not_be_told_yet(values: ValueSet) -> None:
    index = JoinIndex()
    ask(index, 0, [1], _0=ALL)
    shape = FilterShape(JOIN, ("0.x",), (), ("0.later", "0.x"), (), ())
    types = TYPES | {"0.later": NUMBER}
    assert index.insert(1, np.array([5]), shape, types, [encode_terms([{0: values, 1: ALL}])]).all()
    assert met(index, 0, "one") == {1}
    index.remove(1, np.array([5]))
    assert met(index, 1, "one") == set()


def test_a_table_may_come_again_with_other_types_while_some_virtual_edge_has_the_old_one() -> None:
    """Each virtual edge hears of a catalog by itself, so subscriptions of before and after are there together."""
    shape, old, new = FilterShape(JOIN, ("0.x",), (), ("0.s",), (), ()), ColumnType(Kind.VARCHAR), WIDE
    terms = {
        type_: [encode_terms([{0: ValueSet(((key, after(key)),))}])]
        for type_, key in ((old, b"0.50"), (new, order_key(new, "0.50")))
    }
    column = SentColumn(ONE - 1, ONE > 0, ["0.50"])
    first = SentRows("a", ONE - 2, ONE + NEVER, {(JOIN, 0, 0): ONE}, {"s": column, "x": SentColumn(ONE, ONE > 0)})
    second = SentRows("b", ONE - 2, ONE + NEVER, {(JOIN, 0, 1): ONE}, {})
    timeline = Timeline((first, second), ONE, ONE - 1, ONE - 2, ONE - 1, ONE, ONE, ["a"], ONE - 1, ONE, ONE)
    for types in ((old, new), (new, old)):
        index = JoinIndex()
        for edge, type_ in enumerate(types):
            assert index.insert(edge, np.array([edge]), shape, {"0.s": type_}, terms[type_]).all()
        index.check()
        for edge in (0, 1):
            (hits,) = (step.hits for step in index.hits(edge, timeline, JOIN, "one"))
            assert hits.slot.tolist() == [edge]
            index.forget(edge)
