"""Byte bounds in the index: whom a message's half-open cuts meet, also after labels were given anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.types.column_type import ColumnType, Kind
from operators.operator import Messages
from overlay.answers.answer_table import AnswerTable
from overlay.index.range_index import RangeIndex

TEXT = ColumnType(Kind.VARCHAR)
texts = st.text("ab", max_size=3)
bounds = st.tuples(texts.map(str.encode) | st.just(LOWEST_KEY), texts.map(str.encode) | st.just(BEYOND_KEYS))
cut = st.integers(-1, 3)


def messages(words: list[str], rectangles: list[tuple[int, int, int, int]]) -> Messages:
    m = len(rectangles)
    columns = np.array(rectangles, np.int64).reshape(m, 4).T
    zeros, nothing, no = np.zeros(m, np.int32), np.zeros(m, np.int64), np.zeros(m, np.bool_)
    return Messages([], [b""], zeros, zeros, zeros, nothing, nothing, no, nothing, no, *columns, texts=words)


def put(index: RangeIndex, answers: AnswerTable, slots: dict[int, tuple[bytes, bytes]], domain: int = 0) -> None:
    for slot, (lo, hi) in slots.items():
        answers.bound(slot, lo, hi)
    numbers, zeros = np.array(list(slots), np.int64), np.zeros(len(slots), np.int64)
    index.insert(numbers, zeros + domain, [b"g"] * len(slots), zeros + domain, zeros, zeros)


def met(index: RangeIndex, asked: Messages) -> set[tuple[int, int]]:
    which = np.arange(len(asked))
    rectangles = index.rectangles(0, TEXT, asked, which)
    groups = np.full(len(asked), index.groups.number(0, b"g", 0), np.int64)
    message, slot = index.query(groups, *rectangles)
    return set(zip(message.tolist(), slot.tolist(), strict=True))


@given(
    st.lists(bounds, min_size=1, max_size=8),
    st.lists(texts, min_size=4, max_size=4),
    st.lists(st.tuples(cut, cut, cut, cut), min_size=1, max_size=6),
    st.data(),
)
def test_a_message_meets_whom_its_cuts_say(held: list, words: list[str], rectangles: list, data: st.DataObject) -> None:
    answers = AnswerTable()
    index = RangeIndex(answers)
    there = dict(enumerate(held))
    put(index, answers, there)
    for slot in data.draw(st.sets(st.sampled_from(sorted(there)), max_size=len(there) - 1)):
        assert index.remove(slot)
        del there[slot]
    index.check()

    def above(key: bytes, place: int) -> bool:
        return place < 0 or key > words[place].encode()

    def up_to(key: bytes, place: int) -> bool:
        return place < 0 or key <= words[place].encode()

    expected = {
        (i, slot)
        for i, (a, b, c, d) in enumerate(rectangles)
        for slot, (lo, hi) in there.items()
        if above(lo, a) and up_to(lo, b) and above(hi, c) and up_to(hi, d)
    }
    assert met(index, messages(words, rectangles)) == expected


def test_labels_given_anew_move_all_points_of_their_domain() -> None:
    answers = AnswerTable()
    index = RangeIndex(answers)
    put(index, answers, {0: (b"a", b"c")})
    for i in range(1, 60):
        put(index, answers, {i: (b"b" * i, b"c")})
        index.check()
    asked = messages(["b", "bbb"], [(0, 1, -1, -1)])
    assert met(index, asked) == {(0, 2), (0, 3)}


def test_orders_are_of_one_domain_and_go_with_the_last_of_it() -> None:
    answers = AnswerTable()
    index = RangeIndex(answers)
    put(index, answers, {0: (b"a", b"c")})
    put(index, answers, {1: (b"b", b"d")}, domain=1)
    zeros = np.zeros(1, np.int64)
    index.insert(np.array([2]), zeros + 2, [b"g"], zeros + 2, zeros + 5, zeros + 7)
    index.check()
    assert index.remove(1) and not index.remove(1) and index.remove(2)
    index.check()
    assert index.slots() == [0] and len(index) == 1 and 1 not in index
    index.clear()
    index.check()
    assert len(index) == 0


@given(
    st.lists(bounds, min_size=1, max_size=8),
    st.lists(texts, min_size=1, max_size=6),
    st.data(),
)
def test_texts_stand_to_bounds_by_labels_as_they_do_by_themselves(
    held: list, words: list[str], data: st.DataObject
) -> None:
    answers = AnswerTable()
    index = RangeIndex(answers)
    put(index, answers, dict(enumerate(held)))
    which = np.array(data.draw(st.lists(st.integers(0, len(words) - 1), max_size=9)), np.int64)
    slots, zeros = np.arange(len(held)), np.zeros(len(held), np.int64)
    lo, hi = index.points(slots, zeros, zeros)
    low, high = (index.cuts(0, TEXT, words, which, above) for above in (False, True))
    for slot, (first, last) in enumerate(held):
        keys = [words[place].encode() for place in which]
        assert (low >= lo[slot]).tolist() == [key >= first for key in keys]
        assert (high <= hi[slot]).tolist() == [key < last for key in keys]


def test_points_are_those_of_the_columns_where_bounds_are_order_codes() -> None:
    answers = AnswerTable()
    index = RangeIndex(answers)
    slots, lo, hi = np.array([0, 1]), np.array([3, 0]), np.array([9, 0])
    assert [column.tolist() for column in index.points(slots, lo, hi)] == [[3, 0], [9, 0]]
    put(index, answers, {1: (b"a", b"b")})
    (low, label), (high, other) = (column.tolist() for column in index.points(slots, lo, hi))
    assert (low, high) == (3, 9) and label < other
    assert (lo.tolist(), hi.tolist()) == ([3, 0], [9, 0])


def test_where_nobody_is_in_a_domain_all_texts_are_alike() -> None:
    index = RangeIndex(AnswerTable())
    assert index.cuts(5, TEXT, ["a", "b"], np.array([1, 0]), True).tolist() == [0, 0]
