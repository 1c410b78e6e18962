"""The index of filters against the naive one: tiny domains full of ties, every kind of condition, tiny segments."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from state import box_layout, filter_match
from state import filter_kernels as kernels
from state.filter_columns import FilterColumns
from state.filter_index import FilterIndex, warm
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples
from tests.oracle.naive_filters import NaiveFilters, images

ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, 2, 3, INT64_MAX - 1, INT64_MAX]
ALL = (INT64_MIN, INT64_MAX)


@st.composite
def intervals(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Draw ascending, disjoint intervals: points, ranges, open ends, complements."""
    ends = sorted(draw(st.sets(st.sampled_from(ENDS), min_size=1, max_size=6)))
    pairs, at = [], 0
    while at < len(ends):
        wide = at + 1 < len(ends) and draw(st.booleans())
        pairs.append((ends[at], ends[at + wide]))
        at += 1 + wide
    return pairs


conditions = st.tuples(intervals(), st.booleans()) | st.just(([], True)) | st.just(([ALL], False))


def boxes_of(columns: int) -> st.SearchStrategy:
    some = st.dictionaries(st.integers(0, columns - 1), conditions, max_size=4)
    box = some.map(lambda asked: [(column, *condition) for column, condition in asked.items()])
    return st.lists(box, min_size=1, max_size=4)


def rows_of(columns: int) -> st.SearchStrategy:
    value = st.none() | st.sampled_from(ENDS)
    if columns > 8:
        few = st.dictionaries(st.integers(0, columns - 1), value, max_size=5)
        return few.map(lambda given: tuple(given.get(c, 0) for c in range(columns)))
    return st.tuples(*[value] * columns)


def ask(index: FilterIndex, twin: NaiveFilters, changes: list, told: list[int] | None = None) -> None:
    old, new = (images([change[side] for change in changes], index.columns, 7) for side in (0, 1))
    bits = None if told is None else np.array(told, np.uint64)
    hits = index.match(*old, *new, bits)
    assert (np.diff(hits.change) >= 0).all()
    assert (hits.change.dtype, hits.slot.dtype, hits.kind.dtype) == (np.int32, np.int64, np.int8)
    found = sorted(zip(hits.change.tolist(), hits.slot.tolist(), hits.kind.tolist(), strict=True))
    assert found == twin.match(changes, told)


def ask_in_pieces(index: FilterIndex, changes: list, most: int) -> None:
    """Some hits at a time, each piece of whole changes, they are what they are at once."""
    old, new = (images([change[side] for change in changes], index.columns, 7) for side in (0, 1))
    hits, pieces = index.match(*old, *new), list(index.matches(*old, *new, most=most))
    assert all(0 < len(piece.slot) <= max(most, len(index)) for piece in pieces)
    found = [piece.change.tolist() for piece in pieces]
    assert all(before[-1] < after[0] for before, after in pairwise(found))
    told = [row for piece in pieces for row in zip(*(column.tolist() for column in piece), strict=True)]
    assert sorted(told) == sorted(zip(*(column.tolist() for column in hits), strict=True))
    assert [change for change, _, _ in told] == hits.change.tolist()


class Filters(RuleBasedStateMachine):
    """Filters come and go, one by one and many at once; rows change; the index is laid anew at any time."""

    slots = Bundle("slots")

    @initialize(columns=st.sampled_from([1, 2, 5, 70]))
    def begin(self, columns: int) -> None:
        self.index, self.twin, self.next = FilterIndex(columns, segment=64), NaiveFilters(), 0

    def draw_filter(self, data: st.DataObject) -> tuple:
        columns = self.index.columns
        boxes = data.draw(boxes_of(columns))
        shown = data.draw(st.sets(st.integers(0, columns + 3), min_size=1, max_size=3))
        self.next += 1
        return self.next, boxes, shown

    @rule(target=slots, data=st.data())
    def insert(self, data: st.DataObject) -> int:
        one = self.draw_filter(data)
        self.index.insert(*one)
        self.twin.insert(*one)
        return one[0]

    @rule(data=st.data(), many=st.integers(1, 90))
    def insert_many(self, data: st.DataObject, many: int) -> None:
        _, boxes, shown = self.draw_filter(data)
        filters = [(self.next + i, boxes, shown) for i in range(many)]
        self.next += many
        self.index.insert_all(FilterColumns.of(filters))
        for one in filters:
            self.twin.insert(*one)

    @rule(slot=consumes(slots))
    def remove(self, slot: int) -> None:
        assert self.index.remove(slot) == self.twin.remove(slot)
        assert not self.index.remove(slot) and slot not in self.index

    @rule(part=st.integers(1, 3))
    def remove_many(self, part: int) -> None:
        for slot in list(self.twin.filters)[::part]:
            assert self.index.remove(slot) and self.twin.remove(slot)

    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        row = st.none() | rows_of(self.index.columns)
        changes = data.draw(st.lists(st.tuples(row, row), max_size=5))
        changes += [(new, new) for _, new in changes[:1]]
        told = data.draw(st.none() | st.just([0] * len(changes)) | st.just([1 << 63 | 1] * len(changes)))
        ask(self.index, self.twin, changes, told)
        ask_in_pieces(self.index, changes, data.draw(st.integers(1, 9)))

    @rule(data=st.data())
    def lay_anew(self, data: st.DataObject) -> None:
        rows = data.draw(st.none() | st.lists(rows_of(self.index.columns), min_size=1, max_size=9))
        self.index.relay(None if rows is None else images(rows, self.index.columns)[:2])

    @rule(more=st.integers(0, 2))
    def widen(self, more: int) -> None:
        self.index.widen(self.index.columns + more)

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "index"):
            self.index.check()
            assert self.index.slots().tolist() == sorted(self.twin.filters) and len(self.index) == len(
                self.twin.filters
            )
            for slot, (boxes, _) in [*self.twin.filters.items()][-3:]:
                kept = [[(c, [tuple(pair) for pair in pairs], null) for c, pairs, null in box] for box in boxes]
                assert self.index.boxes(slot) == [sorted(box) for box in kept]


Filters.TestCase.settings = settings(max_examples=deep_examples(100), stateful_step_count=20, deadline=None)
TestFilters = pytest.mark.deep(Filters.TestCase)


def filled(columns: int, filters: list, segment: int = 64) -> tuple[FilterIndex, NaiveFilters]:
    index, twin = FilterIndex(columns, segment), NaiveFilters()
    index.insert_all(FilterColumns.of(filters))
    for one in filters:
        twin.insert(*one)
    return index, twin


def test_many_equal_boxes_and_one_that_everybody_meets() -> None:
    equal = [(slot, [[(0, [(5, 5)], False)]], [0]) for slot in range(1_200)]
    index, twin = filled(2, [*equal, (2_000, [[]], [0])], segment=512)
    for _ in range(2):
        ask(index, twin, [((5, 1), (6, 1)), ((6, 1), (5, 1)), (None, (5, None)), ((5, 1), (5, 2))])
        index.check()
        index.relay()


def test_a_new_segment_whose_boxes_ask_for_nothing() -> None:
    index, twin = filled(1, [(slot, [[(0, [(slot, slot)], False)]], [0]) for slot in range(64)])
    ask(index, twin, [(None, (3,))])
    for slot in range(64, 72):
        index.insert(slot, [[]], [0])
        twin.insert(slot, [[]], [0])
        ask(index, twin, [(None, (3,)), ((3,), (4,)), ((None,), None)])
        index.check()


def test_a_row_that_meets_all_boxes_of_a_filter_is_told_once() -> None:
    boxes = [[(0, [(INT64_MIN, i)], False)] for i in range(64)]
    index, twin = filled(1, [(0, boxes, [0]), (1, boxes[:1], [0])])
    ask(index, twin, [((-1,), (-2,)), ((0,), (63,)), ((63,), (64,)), ((64,), (0,))])


def test_leaving_by_one_box_and_entering_by_another_is_staying() -> None:
    index, twin = filled(2, [(0, [[(0, [(1, 1)], False)], [(1, [(2, 2)], False)]], [0, 1])])
    ask(index, twin, [((1, 0), (0, 2)), ((1, 0), (1, 0)), ((1, 0), (0, 0)), ((0, 0), (1, 2))])


def test_more_hits_than_there_is_room_for() -> None:
    index, twin = filled(1, [(slot, [[], []], [0]) for slot in range(3_000)])
    changes = [((i,), (i + 1,)) for i in range(3)]
    ask(index, twin, changes)
    for most in (1, 6_000, 8_999):
        ask_in_pieces(index, changes, most)


def test_more_changes_than_are_taken_together_and_more_segments_than_a_word_has_bits() -> None:
    """Hits come in the order of changes, whatever is judged first; some hear of many, so that room is wanted anew."""
    source, m, n = np.random.default_rng(5), filter_match.TOGETHER + 77, 70 * 64
    lo = source.integers(0, 90, (n, 2))
    hi = lo + np.where(source.random((n, 2)) < 0.05, 90, source.integers(0, 9, (n, 2)))
    columns = np.where(source.random((n, 2)) < 0.1, -1, np.array([0, 1]))
    interest = source.choice([1, 2, 3, 4], n).astype(np.uint64)
    index = FilterIndex(3, segment=64)
    index.insert_all(FilterColumns.of_intervals(np.arange(n), interest, columns, lo, hi))
    old = source.integers(0, 99, (m, 3))
    new = np.where(source.random((m, 3)) < 0.4, source.integers(0, 99, (m, 3)), old)
    had, has, there = source.random(m) < 0.8, source.random(m) < 0.8, np.ones((m, 3), np.bool_)
    differs = ((old != new) << np.arange(3)).sum(axis=1).astype(np.uint64)
    heard = (interest & differs[:, None] != 0) | ~(had & has)[:, None]
    was, now = (
        side[:, None] & ((columns < 0) | (lo <= rows[:, None, :2]) & (rows[:, None, :2] <= hi)).all(axis=2)
        for side, rows in ((had, old), (has, new))
    )
    kinds = np.where(heard, was + 2 * now, 0)
    for _ in range(2):
        hits = index.match(old, there, had, new, there, has)
        assert (np.diff(hits.change) >= 0).all()
        order = np.lexsort((hits.slot, hits.change))
        change, slot = kinds.nonzero()
        assert (hits.change[order].tolist(), hits.slot[order].tolist()) == (change.tolist(), slot.tolist())
        assert hits.kind[order].tolist() == kinds[change, slot].tolist()
        pieces = list(index.matches(old, there, had, new, there, has, most=n))
        assert len(pieces) > 10 and max(len(piece.slot) for piece in pieces) <= n
        for column, whole in zip(zip(*pieces, strict=True), hits, strict=True):
            assert np.concatenate(column)[order].tolist() == whole[order].tolist()
        index.relay((new, there))
    index.check()


def test_rows_without_columns_of_which_one_is_asked() -> None:
    index, twin = filled(0, [(4, [[]], [0])])
    ask(index, twin, [(None, ()), ((), ()), ((), None)], [0, 1, 0])


def test_a_change_that_only_the_caller_knows_of() -> None:
    index, twin = filled(1, [(0, [[(0, [(1, 3)], False)]], [0, 5])])
    changes = [((1,), (1,)), ((1,), (1,)), ((9,), (9,))]
    ask(index, twin, changes, [0, 1 << 5, 1 << 5])


def test_values_that_grow_are_cut_anew() -> None:
    """A column like a clock leaves its cells; after 10,000 changes with too many candidates they are cut again."""
    filters = [(slot, [[(0, [(20 * slot, 20 * slot + 19)], False)]], [0]) for slot in range(2_000)]
    index, _ = filled(1, filters, segment=512)
    there = np.ones((5_000, 1), np.bool_)

    def batch(first: int) -> float:
        codes = np.arange(first, first + 5_000).reshape(-1, 1)
        hits = index.match(codes, there, np.zeros(5_000, np.bool_), codes, there, there[:, 0])
        assert hits.slot.tolist() == (codes[:, 0] // 20).tolist()
        return index.candidates_per_hit

    assert batch(0) < 64
    late = [batch(30_000 + i % 5_000) for i in range(30)]
    assert max(late) > 64 and late[-1] < 64 and not index.crowded
    index.check()


def test_it_is_crowded_where_laying_anew_does_not_help() -> None:
    """Filters of even points and rows of odd ones: a cell of 63 has 95 of 6,000 filters, whatever the cuts are."""
    index, _ = filled(1, [(slot, [[(0, [(2 * slot, 2 * slot)], False)]], [0]) for slot in range(6_000)], segment=512)
    codes, there = np.arange(1, 12_000, 2).reshape(-1, 1), np.ones((6_000, 1), np.bool_)
    told = []
    for _ in range(4):
        assert not len(index.match(codes, there, ~there[:, 0], codes, there, there[:, 0]).slot)
        told.append((index.candidates_per_hit > 64, index.crowded))
    assert told == [(True, False), (True, False), (True, True), (True, True)]


def test_rows_that_come_later_cut_better_than_constants_do() -> None:
    """Constants lie far apart, rows close together; once there are rows, cells are cut between these."""
    filters = [
        (slot, [[(0, [(slot, slot)], False), (1, [(-(10**9) * slot, 10**9 * slot)], False)]], [0])
        for slot in range(500)
    ]
    index, twin = filled(2, filters, segment=512)
    ask(index, twin, [(None, (1, 1))])
    assert index._learned == 0
    for first in range(0, 4_200, 300):
        ask(index, twin, [(None, (i % 3, i)) for i in range(first, first + 300)])
        assert index._learned in (301, 4096) or first == 0
    assert index._learned == 4_096
    index.check()


def test_other_codes_for_the_same_bounds() -> None:
    """Intervals of every form keep their meaning when each end moves to where its code has moved."""
    boxes = [[(0, [(2, 5)], False), (1, [(2, 3), (6, 9)], True)], [(0, [(4, 5)], True)]]
    index, twin = filled(3, [(0, boxes, [0]), (1, [[(2, [(2, 5)], False)]], [0])])
    moved = {2: 20, 3: 21, 4: 40, 5: 49, 6: 60, 9: 99}
    codes = np.array([[*moved], [*moved.values()]])
    for column in (0, 1):
        index.recode(column, *codes)
        index.check()
    far = [[(c, [(moved[a], moved[b]) for a, b in pairs], n) for c, pairs, n in box] for box in boxes]
    twin.remove(0)
    twin.insert(0, far, [0])
    assert index.boxes(0) == far and index.boxes(1) == [[(2, [(2, 5)], False)]]
    ask(index, twin, [((20, 21, 0), (19, 21, 0)), (None, (49, None, 3)), (None, (49, 60, None)), ((None, 5, 0), None)])


@pytest.mark.parametrize(
    "boxes",
    [
        [],
        [[(0, [], False)]],
        [[(0, [(3, 1)], False)]],
        [[(0, [(1, 2), (2, 3)], False)]],
        [[(0, [(1, 1)], False), (0, [(2, 2)], False)]],
        [[(2, [(1, 1)], False)]],
        [[(-1, [(1, 1)], False)]],
        [[(0, [(0, INT64_MAX + 1)], False)]],
    ],
)
def test_what_is_not_sound_is_refused_and_changes_nothing(boxes: list) -> None:
    index = FilterIndex(2, segment=64)
    with pytest.raises(ValueError, match="cannot"):
        index.insert(0, boxes, [0])
    index.check()
    assert len(index) == 0 and 0 not in index


def test_a_slot_that_is_in_is_refused() -> None:
    index, _ = filled(1, [(3, [[]], [0])])
    with pytest.raises(ValueError, match="not in"):
        index.insert(3, [[]], [0])
    with pytest.raises(ValueError, match="each once"):
        index.insert_all(FilterColumns.of([(4, [[]], [0]), (4, [[]], [0])]))
    with pytest.raises(ValueError, match="segments"):
        FilterIndex(1, segment=100)


def test_a_cleared_index_is_empty_and_takes_filters_again() -> None:
    index, _ = filled(1, [(slot, [[(0, [(slot, slot)], False)]], [0]) for slot in range(200)])
    index.clear()
    index.check()
    assert len(index) == 0 and not len(index.match(*images([None], 1), *images([(1,)], 1)).slot)
    index.insert(1, [[]], [0])
    assert index.match(*images([None], 1), *images([(1,)], 1)).slot.tolist() == [1]
    assert index.nbytes > 0


@pytest.mark.deep
@settings(max_examples=deep_examples(20), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 6, 20]), st.sampled_from([2, 9, 300]))
def test_thousands_of_filters_of_every_kind(seed: int, columns: int, values: int) -> None:
    source = np.random.default_rng(seed)
    index, twin = filled(columns, [random_filter(source, slot, columns, values) for slot in range(1_500)])
    for turn in range(3):
        for slot in source.choice(1_500, 150, replace=False).tolist():
            assert index.remove(slot) == twin.remove(slot)
        for slot in source.choice(1_500, 100, replace=False).tolist():
            if slot not in index:
                one = random_filter(source, slot, columns, values)
                index.insert(*one)
                twin.insert(*one)
        changes = [random_change(source, columns, values) for _ in range(6)]
        ask(index, twin, changes)
        if turn == 1:
            index.check()


def random_filter(source: np.random.Generator, slot: int, columns: int, values: int) -> tuple:
    boxes = []
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        asked = source.choice(columns, source.integers(0, min(columns, 5) + 1), replace=False).tolist()
        boxes.append([(column, *random_condition(source, values)) for column in asked])
    return slot, boxes, source.choice(columns, 2).tolist()


def random_condition(source: np.random.Generator, values: int) -> tuple:
    point, pair = int(source.integers(values)), sorted(source.integers(values, size=2).tolist())
    draw = source.integers(8)
    if draw < 3:
        return [(point, point)], False
    if draw < 5:
        return [(pair[0], pair[1])], bool(source.integers(5) == 0)
    if draw < 6:
        return [(INT64_MIN, point - 1), (point + 1, INT64_MAX)], False
    if draw < 7:
        return [(v, v) for v in sorted({*source.integers(values, size=3).tolist()})], False
    return [], True


def random_change(source: np.random.Generator, columns: int, values: int) -> tuple:
    old = [None if source.random() < 0.1 else int(v) for v in source.integers(values, size=columns)]
    new = list(old)
    for c in source.choice(columns, source.integers(0, 3)).tolist():
        new[c] = int(source.integers(values))
    kind = source.integers(6)
    return None if kind == 0 else tuple(old), None if kind == 1 else tuple(new)


def test_warm_leaves_one_specialisation_of_each_kernel() -> None:
    warm()
    index, twin = filled(1, [(slot, [[(0, [(slot, slot), (99, 99)], True)]], [0]) for slot in range(99)])
    ask(index, twin, [((1,), (2,))])
    index.remove(1)
    entries = (*kernels.ENTRIES, *filter_match.ENTRIES, *box_layout.ENTRIES)
    assert [len(kernel.signatures) for kernel in entries] == [1] * len(entries)
