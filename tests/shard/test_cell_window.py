"""A cell with a window against nested loops: edges that keep what they were sent can rebuild their joins all the same.

Edges lose all and say so, what is needed grows and shrinks, the setting changes, epochs begin; the bound is met.
Mistakes in what the cell remembers must show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.join import join_of_name
from operators.counters import Counters
from operators.packed import PackedError
from operators.row_window import RowWindow, WindowBounds
from shard.bounds import Bounds
from tests.effort import deep_examples
from tests.operators.cell_world import draw_parts, draw_region
from tests.operators.named_rows import NaiveReader
from tests.oracle.join_twin import JoinTwin
from tests.shard.cell_stack import CellStack
from tests.shard.test_cell_pipeline import (
    EDGES,
    TYPES,
    Readers,
    answers_of,
    heard,
    notified,
    publish,
    timelines_of,
    with_cells,
    withdraw,
)


class World:
    """Cells of r, s and t, edges that follow joins of them, and the truth."""

    def __init__(self, rng: Random, types=TYPES[0], most: int = 64_000_000) -> None:
        self.rng = rng
        self.catalog = with_cells(types)
        self.most = most
        self.stack = CellStack(self.catalog, EDGES, rng, self.bounds())
        self.twin = JoinTwin(self.catalog)
        self.edges: dict[str, int] = {}
        self.readers: Readers = defaultdict(NaiveReader)
        self.names = 0

    def bounds(self) -> Bounds:
        return Bounds(window=WindowBounds(self.rng.choice((0, 2, 3, 3, 5)), self.most))

    def run(self) -> None:
        """Run a batch, and compare all that edges make of it."""
        rng, fresh = self.rng, {}
        if rng.random() < 0.05:
            self.stack.bounds = self.bounds()
        if rng.random() < 0.03:
            self.stack.epoch += 1
            self.readers.clear()
        for _ in range(rng.choice((0, 0, 0, 1)) if self.edges else 4):
            self.ask(draw_region(rng, self.catalog, 3, 1), rng.randrange(EDGES), fresh)
        if self.edges and rng.random() < 0.1:
            withdraw(rng, self.stack, self.twin, self.edges, fresh)
        if rng.random() < 0.1:
            self.lose(rng.randrange(EDGES), fresh)
        told = []
        for _ in range(rng.choice((0, 1, 1, 3))):
            parts = draw_parts(rng, self.catalog, self.twin.tables, 3, 1)
            topic = self.catalog.relations[parts[0][0]].topic
            told.append(((topic, len(self.stack.logs[topic, 0])), self.twin.publish(parts)))
            publish(self.stack, parts)
        sent = [*notified(self.stack.run())]
        assert answers_of(sent) == fresh
        timelines = timelines_of(sent, self.readers)
        for name, ve in self.edges.items():
            expected = [(place, each[name]) for place, each in told if name in each]
            assert heard(self.catalog, timelines, ve, self.twin.regions[name]) == expected
        for cell in (self.stack.cell(each.name) for each in self.catalog.cells.values()):
            cell.window.check({table: cell.copies[table].table.rows for table in cell.copies})

    def ask(self, region, ve: int, fresh: dict, anew: bool = False) -> None:
        self.names += 1
        cell = join_of_name(region.shape.relation).cell
        self.stack.register(cell, ve, [self.names], [region], anew)
        fresh[ve, self.names] = self.twin.subscribe(f"{self.names}", region)
        self.edges[f"{self.names}"] = ve

    def lose(self, ve: int, fresh: dict) -> None:
        """Let an edge lose all that it has; it says so to each cell that it follows."""
        mine = {
            join_of_name(self.twin.regions[name].shape.relation).cell: name
            for name, at in self.edges.items()
            if at == ve
        }
        for place in [place for place in self.readers if place[0] == ve]:
            del self.readers[place]
        for name in mine.values():
            self.ask(self.twin.regions[name], ve, fresh, anew=True)

    @property
    def counters(self) -> list[Counters]:
        return [self.stack.cell(each.name).counters for each in self.catalog.cells.values()]


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(TYPES), most=st.sampled_from([64_000_000, 60]))
@settings(max_examples=deep_examples(400), deadline=None)
def test_edges_that_keep_what_they_were_sent_can_rebuild_their_joins(rng: Random, types, most):
    world = World(rng, types, most)
    for _ in range(rng.randint(2, 10)):
        world.run()


def run(seeds: Iterable[int]) -> int:
    """Run a world for each seed; return how many rows were only named."""
    named = 0
    for seed in seeds:
        world = World(Random(seed))
        for _ in range(10):
            world.run()
        named += sum(each.named for each in world.counters)
    return named


def test_the_window_is_used():
    assert run(range(5)) > 6


def test_a_cell_whose_joins_nobody_follows_for_a_while_names_no_row_of_before():
    for seed in range(4):
        world = World(Random(seed))
        world.stack.bounds = Bounds(window=WindowBounds(5, world.most))
        for _ in range(3):
            world.run()
        while world.edges:
            withdraw(world.rng, world.stack, world.twin, world.edges, {})
        for _ in range(2):
            parts = draw_parts(world.rng, world.catalog, world.twin.tables, 3, 1)
            world.twin.publish(parts)
            publish(world.stack, parts)
        world.stack.run()
        for _ in range(3):
            world.run()


def _too_long(self, table, versions, rows):
    self.window += 1
    try:
        return _KNOWN(self, table, versions, rows)
    finally:
        self.window -= 1


def _anyones(self, table, versions, rows):
    known = _KNOWN(self, table, versions, rows)
    known.edges[known.batch >= 0] = ~np.uint64(0)
    return known


def _renewed(self, table, told, versions, rows, known, got, size):
    known.batch[known.batch >= 0] = self.batch
    return _SPELL(self, table, told, versions, rows, known, got, size)


def _not_followed(self, table, replay, seen):
    """The rows that are left keep their places' stamps."""
    mine = self._tables.get(table)
    if mine is not None:
        rows = int((replay.current >= 0).sum())
        for name in ("stamp", "edges"):
            setattr(mine, name, np.resize(getattr(mine, name), rows))


def _of_the_last_image(self, table, replay, seen):
    with mock.patch.object(type(seen), "first_images", lambda self, versions: np.minimum(versions, replay.rows - 1)):
        _FOLLOW(self, table, replay, seen)


def _columns_stay(self, told):
    pass


def _columns_widen(self, told):
    _TELL(
        self,
        {
            table: [*columns, *self._tables[table].columns] if table in self._tables else columns
            for table, columns in told.items()
        },
    )


_KNOWN, _SPELL, _FOLLOW, _TELL = RowWindow.known, RowWindow.spell, RowWindow.follow, RowWindow.tell
MISTAKES: dict[str, tuple[str, Callable[..., object], int]] = {
    "named to who never had it": ("known", _anyones, 5),
    "a batch too long": ("known", _too_long, 3),
    "renewed by naming": ("spell", _renewed, 1),
    "a row that changed keeps its stamp": ("follow", _not_followed, 1),
    "rows that changed are taken for the last one": ("follow", _of_the_last_image, 7),
    "new columns, old stamps": ("tell", _columns_stay, 34),
    "columns that nobody needed meanwhile": ("tell", _columns_widen, 79),
    "deaf to a loss": ("anew", lambda self, ve: None, 84),
    "stamps outlive the epoch and the setting": ("forget", lambda self: None, 9),
}
"""What is wrong, and the seed of a world that shows it: that one is run first, others where it does so no more."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_show(mistake: str):
    name, wrong, shown = MISTAKES[mistake]
    with (
        mock.patch.object(RowWindow, name, wrong),
        pytest.raises((AssertionError, IndexError, ValueError, PackedError)),
    ):
        run(chain([shown], range(150)))
