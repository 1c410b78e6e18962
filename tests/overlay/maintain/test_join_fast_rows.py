"""The fast way of joins against nested loops: who is told of which rows of each cause, on several virtual edges."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import Box, decode_terms
from catalog.schema.join import place_of
from operators.timeline import Timeline
from overlay.index.join_index import JoinIndex
from overlay.maintain.join_fast_rows import Parts, row_changes
from tests.effort import deep_examples
from tests.overlay.join_timelines import NAMES, TYPES, Bag, Drawn, answer, draw, question, value_of

ALL_TYPES = {name: TYPES[place_of(name)[1]] for name in NAMES}
Told = dict[tuple[int, int], tuple[Bag, Bag]]
"""By cause and slot."""
Own = dict[int, tuple[FilterShape, list[Box]]]


def told(fast: JoinIndex, edge: int, own: Own, drawn: Drawn, timeline: Timeline, record: int | None) -> Told:
    """Return what the fast way says is to be told: of each cause and slot the rows that went and came."""
    shown = [shape.shown for shape, _ in own.values()]
    slots = list(own)
    parts, found = Parts(timeline), Told()
    for step in fast.hits(edge, timeline, drawn.join.name, record):
        lists = np.array([slots.index(slot) for slot in step.hits.slot.tolist()], np.int64)
        made = row_changes(timeline, step, lists, shown, parts)
        where = list(zip(timeline.cause[made.change].tolist(), made.slot.tolist(), strict=True))
        if len(own) and len(where):
            assert where == sorted(where)
        bags: list[tuple[Bag, Bag]] = [(Counter(), Counter()) for _ in made.lists]
        for owner, a, b, came in zip(
            made.rows.owner.tolist(), *(v.tolist() for v in made.rows.versions), made.rows.came.tolist(), strict=True
        ):
            row = drawn.versions[0][a].row, drawn.versions[1][b].row
            bags[owner][came][tuple(value_of(row, name) for name in shown[made.lists[owner]])] += 1
        for one, number in zip(where, made.told.tolist(), strict=True):
            assert one not in found
            assert shown[made.lists[number]] == own[one[1]][0].shown
            found[one] = bags[number]
    return found


def wanted(own: Own, drawn: Drawn) -> Told:
    found = Told()
    for cause, before, now in drawn.states():
        for slot, (shape, boxes) in own.items():
            old, new = answer(shape, boxes, before), answer(shape, boxes, now)
            if old != new:
                found[cause, slot] = old - new, new - old
    return found


class World:
    def __init__(self, seed: int) -> None:
        self.source = Random(seed)
        self.fast = JoinIndex(leaf=2, step=self.source.choice([1, 4, 1_000]))
        self.batches = [draw(self.source) for _ in range(2)]
        self.batches = [one for one in self.batches if one.join == self.batches[0].join]
        self.timelines = [one.timeline for one in self.batches]
        self.edges = range(self.source.randint(1, 3))
        self.own: dict[int, Own] = {edge: {} for edge in self.edges}
        self.at = dict.fromkeys(self.edges, 0)
        self.fitted = 0

    def come(self, edge: int) -> None:
        for slot in self.source.sample(range(12), 5):
            if slot not in self.own[edge]:
                shape, terms = question(self.source, self.batches[0].join, self.batches[0].top)
                (fits,) = self.fast.insert(edge, np.array([slot]), shape, ALL_TYPES, [terms])
                if fits:
                    self.own[edge][slot] = shape, decode_terms(terms)
                    self.fitted += 1

    def go(self, edge: int) -> None:
        gone = self.source.sample(range(12), 3)
        self.fast.remove(edge, np.array(gone))
        self.own[edge] = {slot: one for slot, one in self.own[edge].items() if slot not in gone}

    def step(self, edge: int) -> None:
        at = self.at[edge]
        own, drawn, timeline = self.own[edge], self.batches[at], self.timelines[at]
        record = at if self.source.random() < 0.9 else None
        assert told(self.fast, edge, own, drawn, timeline, record) == wanted(own, drawn)
        self.at[edge] += 1

    def run(self) -> None:
        while waiting := [edge for edge in self.edges if self.at[edge] < len(self.batches)]:
            edge = self.source.choice(waiting)
            self.source.choice([self.come, self.come, self.go])(edge)
            self.step(edge)
            self.fast.check()
        for edge in self.edges:
            assert self.fast.slots(edge).tolist() == sorted(self.own[edge])
            self.fast.forget(edge)
            self.fast.check()
        assert not len(self.fast)


@pytest.mark.deep
@given(st.integers(0, 2**32))
@settings(max_examples=deep_examples(2_000))
def test_who_is_told_of_which_rows(seed: int) -> None:
    World(seed).run()


def test_most_questions_fit() -> None:
    worlds = [World(seed) for seed in range(30)]
    for world in worlds:
        world.run()
    assert sum(world.fitted for world in worlds) > 200
