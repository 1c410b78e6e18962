"""The model of the window under all that happens to it, and mistakes in it that must show.

A cell sends edges what they need of a table, batch by batch; records come in pieces, twice, and late; edges lose some
and register anew, others take them over, epochs begin. Whoever follows the cell must know each row as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.oracle.naive_window import NaiveStamps, NaiveWindow, Sent

EDGES = 3
KEYS = 5
COLUMNS = ("x", "y", "z")
Record = tuple[int, int, list[Sent]]
"""Epoch, batch, rows."""


class WrongRowError(AssertionError):
    """An edge that follows does not know a row as it is."""


class Edge:
    """A virtual edge: its log, how far it has come, and whether it follows the cell."""

    def __init__(self, window: int) -> None:
        self.window = NaiveWindow(window)
        self.log: list[Record] = []
        self.epoch, self.applied, self.read = -1, -1, 0
        self.offset: int | None = None
        self.follows = False

    def apply(self, epoch: int, batch: int, columns: set[str], truth: list[dict]) -> None:
        """Take what a committed batch sent, be it there several times."""
        rows: list[Sent] = []
        for offset in range(self.read, len(self.log)):
            told_epoch, told_batch, part = self.log[offset]
            if (told_epoch, told_batch) == (epoch, batch) and batch > self.applied:
                for sent in part:
                    if sent not in rows:
                        rows.append(sent)
                        self.window.keep(offset, sent)
        self.read = len(self.log)
        self.applied = batch
        self.window.drop(batch)
        known = [self.window.values(sent, columns) for sent in rows]
        if self.follows and known != truth:
            raise WrongRowError((batch, known, truth))
        self.window.drop(batch + 1)
        self.offset = self.window.offset

    def lose(self) -> None:
        self.window.rows, self.follows, self.read = {}, False, len(self.log)
        self.offset = None

    def begin(self, epoch: int) -> None:
        self.lose()
        self.epoch, self.applied = epoch, -1

    def taken_over(self) -> Edge:
        """Return another one that reads the rows of the window again, and collects them."""
        heir = Edge(self.window.window)
        heir.log, heir.epoch, heir.applied, heir.read = self.log, self.epoch, self.applied, self.read
        heir.follows, heir.offset = self.follows, self.offset
        for offset in range(self.read if self.offset is None else self.offset, self.read):
            epoch, batch, rows = self.log[offset]
            for sent in rows if epoch == self.epoch and batch <= self.applied else ():
                heir.window.keep(offset, sent)
        heir.window.drop(self.applied + 1)
        return heir


class World:
    """A table, its cell's memory, and edges."""

    stamps: type[NaiveStamps] = NaiveStamps
    edge: type[Edge] = Edge

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.window = rng.choice((1, 2, 4))
        self.rows: dict[int, dict] = {}
        self.edges = [self.edge(self.window) for _ in range(EDGES)]
        self.columns: set[str] = {"x"}
        self.epoch = -1
        self.begin()

    def begin(self) -> None:
        """Begin an epoch."""
        self.epoch += 1
        self.batch = -1
        self.cell = self.stamps(self.window)
        self.registered: dict[int, int] = {}
        for edge in self.edges:
            edge.begin(self.epoch)

    def run(self) -> None:
        self.batch += 1
        self.register()
        if self.rng.random() < 0.15:
            self.columns = set(self.rng.sample(COLUMNS, self.rng.randint(1, 3)))
        self.cell.begin(self.batch, self.columns)
        truth = self.tell([*self.changed()])
        for number, edge in enumerate(self.edges):
            if self.rng.random() < 0.1:
                edge.lose()
                self.registered.pop(number, None)
            edge.apply(self.epoch, self.batch, self.columns, truth[number])
            if self.rng.random() < 0.2:
                edge.log += self.rng.sample(edge.log, min(len(edge.log), 3))
            if self.rng.random() < 0.3:
                self.edges[number] = edge.taken_over()

    def register(self) -> None:
        """Let edges that do not follow register, some time later: then they follow, from this batch on."""
        for number, edge in enumerate(self.edges):
            if not edge.follows and number not in self.registered:
                self.registered[number] = self.batch + self.rng.randint(0, 2)
            if self.registered.get(number) == self.batch:
                self.cell.anew(number)
                edge.follows = True

    def changed(self) -> Iterator[tuple[int, dict | None]]:
        for key in self.rng.sample(range(KEYS), self.rng.choice((0, 1, 1, 3))):
            if self.rng.random() < 0.2:
                yield key, None
            else:
                yield key, {name: self.rng.randint(0, 1) for name in COLUMNS}

    def tell(self, changes: list[tuple[int, dict | None]]) -> list[list[dict]]:
        """Send edges some of the rows that were there, and of those that come; return what these are."""
        told: list[list[Sent]] = [[] for _ in self.edges]
        truth: list[list[dict]] = [[] for _ in self.edges]
        fresh = {key: row for key, row in changes if self.seen(self.rows.get(key), row)}
        versions = [(key, row, True) for key, row in self.rows.items()]
        versions += [(key, row, False) for key, row in fresh.items() if row is not None]
        for key, row, stored in versions:
            needed = [number for number in range(EDGES) if self.rng.random() < 0.5]
            for number, sent in self.cell.send(needed, key, row, stored).items() if needed else ():
                told[number].append(sent)
                truth[number].append({name: row[name] for name in sorted(self.columns)})
        for key, row in changes:
            self.rows.pop(key, None)
            if row is not None:
                self.rows[key] = row
        self.cell.end(fresh.keys(), self.rows.keys())
        for edge, rows in zip(self.edges, told, strict=True):
            self.write(edge, rows)
        return truth

    def seen(self, old: dict | None, new: dict | None) -> bool:
        if old is None or new is None:
            return old is not new
        return any(old[name] != new[name] for name in self.columns)

    def write(self, edge: Edge, rows: list[Sent]) -> None:
        """Write a batch in pieces; perhaps the engine breaks off, and writes all of it again."""
        size = self.rng.randint(1, 3)
        parts = [(self.epoch, self.batch, rows[i : i + size]) for i in range(0, len(rows), size)]
        if self.rng.random() < 0.2:
            edge.log += parts[: self.rng.randint(0, len(parts))]
        edge.log += parts


def run(world: type[World], runs: int) -> None:
    for seed in range(runs):
        rng = Random(seed)
        one = world(rng)
        for _ in range(rng.randint(4, 16)):
            if rng.random() < 0.05:
                one.begin()
            one.run()


def test_who_follows_knows_each_row_as_it_is():
    run(World, 1_000)


class WithoutEdges(NaiveStamps):
    """An edge that never got the row is told its stamp."""

    def send(self, edges, key, values, stored):
        told = super().send(edges, key, values, stored)
        named = any(sent.values is None for sent in told.values())
        return {edge: Sent(sent.stamp, None) for edge, sent in told.items()} if named else told


class TooLong(NaiveStamps):
    def is_young(self, known):
        return self._batch - known.stamp[0] <= self.window


class Renewed(NaiveStamps):
    """Who is told a stamp is taken to have got the row anew."""

    def is_young(self, known):
        self._used = getattr(self, "_used", {})
        young = self._batch - self._used.get(known.stamp, known.stamp[0]) < self.window
        self._used[known.stamp] = self._batch
        return young


class ChangedStays(NaiveStamps):
    def end(self, changed, alive):
        super().end((), alive)


class ColumnsStay(NaiveStamps):
    def begin(self, batch, columns):
        self.columns |= set(columns)
        super().begin(batch, columns)


class NotForgottenWhenTold(NaiveStamps):
    """Columns that nobody needed for a while count as told."""

    def begin(self, batch, columns):
        super().begin(batch, self.columns | set(columns))


class DeafToAnew(NaiveStamps):
    def anew(self, edge):
        pass


class NumbersOfEach(NaiveStamps):
    """What a batch brings is numbered apart from what was stored."""

    def send(self, edges, key, values, stored):
        if not stored:
            self._numbers = 0
        return super().send(edges, key, values, stored)


class NothingCollected(Edge):
    def taken_over(self):
        heir = super().taken_over()
        heir.window.rows = {}
        return heir


class LateOffset(Edge):
    """Who takes over begins a record too late."""

    def apply(self, epoch, batch, columns, truth):
        super().apply(epoch, batch, columns, truth)
        self.offset = None if self.offset is None else self.offset + 1


class EveryEpoch(Edge):
    """Who takes over collects rows of older epochs too."""

    def taken_over(self):
        heir = super().taken_over()
        heir.window.rows = {}
        for offset in range(self.read):
            for sent in self.log[offset][2]:
                heir.window.keep(offset, sent)
        heir.window.drop(self.applied + 1)
        return heir


class EarlyDrop(Edge):
    def apply(self, epoch, batch, columns, truth):
        super().apply(epoch, batch, columns, truth)
        self.window.drop(batch + 2)
        self.offset = self.window.offset


class OldEpochStays(Edge):
    def begin(self, epoch):
        rows = self.window.rows
        super().begin(epoch)
        self.window.rows = rows


@pytest.mark.parametrize(
    "mistake",
    [
        WithoutEdges, TooLong, Renewed, ChangedStays, ColumnsStay, NotForgottenWhenTold, DeafToAnew, NumbersOfEach,
        NothingCollected, LateOffset, EveryEpoch, EarlyDrop, OldEpochStays,
    ],
)  # fmt: skip
def test_mistakes_show(mistake: type):
    kind = "edge" if issubclass(mistake, Edge) else "stamps"
    with pytest.raises(WrongRowError):
        run(type("Mistaken", (World,), {kind: mistake}), 3_000)


def test_the_window_is_used():
    """Of what edges are sent in such runs a good part is only named."""
    rng, named, spelled = Random(1), 0, 0
    world = World(rng)
    world.window, world.edges = 4, [Edge(4) for _ in range(EDGES)]
    world.begin()
    for _ in range(300):
        world.run()
    for edge in world.edges:
        for _, _, rows in edge.log:
            named += sum(sent.values is None for sent in rows)
            spelled += sum(sent.values is not None for sent in rows)
    assert named > spelled / 4
