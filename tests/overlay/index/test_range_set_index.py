"""One index for all virtual edges of a process: each gets what an index of its own would give it, in any interleaving.

Virtual edges go through the batches at their own pace, their slots are given again, and some are begun anew.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index.range_set_index import Asked, RangeSetIndex
from tests.effort import examples

Range = tuple[int, int]
SLOTS = 5
BATCHES = 4
TOP = 4


def values_of(record: list[Range]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([value for pair in record for value in sorted(pair)], np.int64)
    starts = np.array([[[2 * i, 2 * i + 2]] for i in range(len(record))], np.int64).reshape(-1, 1, 2)
    return values, starts


class Edge:
    """A virtual edge, which remembers what it has itself."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.at = 0
        self.own: dict[int, tuple[int, Range]] = {}


class World:
    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.index = RangeSetIndex(leaf=2)
        self.forms = [self.index.open(1), self.index.open(1)]
        self.edges = [Edge(number) for number in range(data.draw(st.integers(1, 3)))]
        pair = st.tuples(st.integers(0, TOP), st.integers(0, TOP))
        self.records = [data.draw(st.lists(pair, max_size=3)) for _ in range(BATCHES)]
        self.readings: dict[tuple[int, int], Asked] = {}

    def churn(self, edge: Edge) -> None:
        draw = self.data.draw
        kind = draw(st.sampled_from(["come", "come", "go", "anew"]))
        if kind == "anew":
            self.index.forget(edge.number)
            kept, edge.own = edge.own, {}
            edge.at = draw(st.integers(0, edge.at))
            for slot, (form, one) in kept.items():  # restored: the same slots, the same constants
                self.put(edge, [slot], form, one)
            return
        slots = draw(st.lists(st.integers(0, SLOTS - 1), unique=True, max_size=3))
        if kind == "go":
            self.index.remove(edge.number, np.array(slots, np.int64))
            edge.own = {slot: one for slot, one in edge.own.items() if slot not in slots}
            return
        ends = sorted(draw(st.tuples(st.integers(0, TOP), st.integers(0, TOP))))
        free = [slot for slot in slots if slot not in edge.own]
        self.put(edge, free, draw(st.sampled_from(self.forms)), (ends[0], ends[1]))

    def put(self, edge: Edge, slots: list[int], form: int, one: Range) -> None:
        points = np.array([one] * len(slots), np.int64).reshape(-1, 2)
        self.index.insert(edge.number, form, np.array(slots, np.int64), points)
        edge.own |= dict.fromkeys(slots, (form, one))

    def step(self, edge: Edge) -> None:
        """Let an edge go through its next batch."""
        values, starts = values_of(self.records[edge.at])
        found = set[tuple[int, int]]()
        for form in self.forms:
            if (edge.at, form) not in self.readings:
                self.readings[edge.at, form] = self.index.ask(form, values, starts)
            asked = self.readings[edge.at, form]
            parts = [(asked, *self.index.mine(edge.number, asked))]
            if self.index.has_later(edge.number, asked):
                parts.append(self.index.later(edge.number, asked, values, starts))
            for one, which, slots in parts:
                pairs = list(zip(one.met.query[which].tolist(), slots.tolist(), strict=True))
                assert not found & set(pairs) and len(set(pairs)) == len(pairs)
                found |= set(pairs)
        wanted = {
            (i, slot)
            for i, pair in enumerate(self.records[edge.at])
            for slot, (_, (lo, hi)) in edge.own.items()
            if any(lo <= value <= hi for value in pair)
        }
        assert found == wanted
        edge.at += 1


@given(st.data())
@settings(max_examples=examples(400))
def test_each_gets_what_its_own_index_would_give(data: st.DataObject) -> None:
    world = World(data)
    for _ in range(40):
        waiting = [edge for edge in world.edges if edge.at < BATCHES]
        if not waiting:
            break
        edge = data.draw(st.sampled_from(waiting))
        for _ in range(data.draw(st.sampled_from([0, 0, 1, 2]))):
            world.churn(edge)
        if edge.at < BATCHES:
            world.step(edge)
        world.index.check()
        for one in world.edges:
            assert world.index.slots(one.number).tolist() == sorted(one.own)


def test_an_entry_that_is_given_again_speaks_for_nobody_else() -> None:
    index = RangeSetIndex()
    form = index.open(1)
    (entry,) = index.insert(0, form, np.array([7]), np.array([[0, 9]]))
    asked = index.ask(form, np.array([5]), np.array([[[0, 1]]]))
    assert index.mine(0, asked)[1].tolist() == [7]
    index.remove(0, np.array([7]))
    (again,) = index.insert(0, form, np.array([7]), np.array([[8, 9]]))
    assert again == entry
    assert index.mine(0, asked)[1].tolist() == []
    assert index.later(0, asked, np.array([5]), np.array([[[0, 1]]]))[2].tolist() == []


def test_a_form_that_is_closed_is_gone() -> None:
    index = RangeSetIndex()
    first = index.open(1)
    index.close(first)
    assert index.open(2) != first
    assert index.remove(3, np.array([1])) == [] and index.forget(3) == []
    assert len(index) == 0 and index.nbytes > 0
