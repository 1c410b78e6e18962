"""Views in their groups against twins: what edges hold after every publication, whatever happens in between.

Random chains of stages over two tables, some of them stages within a view, live beside a table or in the cell of both.
Virtual edges ask for all rows of views, look, and withdraw; views are dropped and made again, tables truncated. Every
batch is run twice from other pieces. After each publication, an edge that follows a view must hold its rows, and hear
of a publication that changes nothing nothing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.placed_stage import home_of
from catalog.schema.relation import Column, Relation
from catalog.schema.view import Stage, Union, View, stage_name
from connectors.record import OutRecord
from operators.control import Withdraw
from operators.packed import PackedImages, PackedSnapshot, unpack
from operators.reply import Rows, decode_row
from operators.row_images import ImageColumn
from tests.effort import deep_examples
from tests.operators.views.stage_draws import draw_chain
from tests.operators.views.view_draws import BIGINT, SMALLINT, VARCHAR
from tests.oracle.naive_views import Row, recomputed
from tests.shard.cell_stack import TOPICS, CellStack

EDGES = 2
KEYS = 4
Bag = Counter[tuple[object, ...]]


def table(name: str) -> Relation:
    columns = (Column("id", BIGINT, False), Column("g", VARCHAR), Column("x", BIGINT), Column("y", SMALLINT))
    return Relation(name, columns, ("id",), name, "debezium-json")


TABLES = {name: table(name) for name in ("s", "t")}
CELL = Cell(("s", "t"), 0)


def renamed(stage: Stage, names: dict[str, str]) -> Stage:
    """The same stage with other names for what it makes and reads."""
    operator = stage.operator
    inputs = tuple(names.get(name, name) for name in operator.inputs)
    if isinstance(operator, Union):
        operator = Union(inputs)
    elif len(inputs) == 1:
        operator = replace(operator, input=inputs[0])  # type: ignore[call-arg]
    else:
        operator = replace(operator, left=inputs[0], right=inputs[1])  # type: ignore[call-arg]
    return Stage(replace(stage.relation, name=names[stage.relation.name]), operator)


def views_of(rng: Random, stages: Sequence[Stage], born: int) -> dict[str, View]:
    """Make views of stages; some that one other alone reads stand within its view."""
    readers = {stage.relation.name: [s for s in stages if stage.relation.name in s.operator.inputs] for stage in stages}
    owner: dict[str, str] = {}
    for stage in reversed(stages):
        name = stage.relation.name
        within = len(readers[name]) == 1 and rng.random() < 0.5
        owner[name] = owner[readers[name][0].relation.name] if within else name
    names = {name: name if owner[name] == name else stage_name(owner[name], int(name[1:])) for name in owner}
    views: dict[str, View] = {}
    for name in (stage.relation.name for stage in stages):
        if owner[name] == name:
            mine = tuple(renamed(stage, names) for stage in stages if owner[stage.relation.name] == name)
            mine = tuple(Stage(replace(one.relation, born=born), one.operator) for one in mine)
            read = {each for one in mine for each in one.operator.inputs} - {one.relation.name for one in mine}
            below = {t for each in read for t in (views[each].tables if each in views else (each,))}
            views[name] = View(name, "", tuple(sorted(read)), tuple(sorted(below)), mine, born)
    return views


def filter_of(relation: Relation) -> Region:
    shape = FilterShape(relation.name, tuple(column.name for column in relation.columns), (), (), (), ())
    return Region(shape, b"[]", terms=encode_terms([{}]))


class World:
    """A stack of two tables with views, edges that follow some of them, and what the tables hold."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.version = 0
        self.rows: dict[str, dict[bytes, Row]] = {name: {} for name in TABLES}
        self.states: dict[tuple[str, int], dict[str, dict[bytes, Row]]] = {}
        self.order: list[tuple[str, int]] = []
        self.held: dict[tuple[int, str], Bag] = {}
        self.asked: dict[int, tuple[int, str]] = {}
        self.looks: dict[int, str] = {}
        self.number = 0
        self.done = dict(self.rows)
        catalog = Catalog(0, TABLES, cells={CELL.name: CELL})
        self.stack = CellStack(catalog, EDGES, self.rng)
        self.declare(self.draw())

    def draw(self) -> dict[str, View]:
        chain = draw_chain(self.rng, list(TABLES.values()), self.rng.randint(1, 5))
        return views_of(self.rng, chain, self.version)

    def declare(self, views: dict[str, View]) -> None:
        self.views = views
        self.stack.declare(replace(self.stack.catalog, version=self.version, views=views))

    def recreate(self) -> None:
        """Drop all views and make others, of the same names perhaps: who followed them hears nothing more."""
        self.version += 1
        self.held.clear()
        self.asked.clear()
        self.looks.clear()
        self.declare(self.draw())

    def publish(self) -> None:
        rng, name = self.rng, self.rng.choice(list(TABLES))
        rows = self.rows[name] = dict(self.rows[name])
        roll, key = rng.random(), rng.randrange(KEYS)
        if roll < 0.05:
            self.stack.change(name, None, {"op": "t"})
            rows.clear()
        elif roll < 0.25:
            self.stack.change(name, key, {"op": "d"})
            rows.pop(b"%d" % key, None)
        else:
            values = rng.choice([None, "", "a", "b"]), rng.choice([None, 0, 1, 2]), rng.choice([None, 0, 1])
            before = rng.randrange(KEYS) if roll < 0.4 else key
            after = {"id": key, "g": values[0], "x": values[1], "y": values[2]}
            self.stack.change(name, None, {"op": "u", "before": {"id": before}, "after": after})
            rows.pop(b"%d" % before, None)
            rows[b"%d" % key] = (key, *values)
        place = name, len(self.stack.logs[name, 0]) - 1
        self.order.append(place)
        self.states[place] = dict(self.rows)

    def register(self) -> None:
        if not self.views:
            return
        view = self.views[self.rng.choice(list(self.views))]
        ve, version = self.rng.randrange(EDGES), self.number
        self.number += 1
        if self.rng.random() < 0.2:
            self.looks[-version - 1] = view.name
            version = -version - 1
        elif (ve, view.name) in self.held or (ve, view.name) in self.asked.values():
            return
        else:
            self.asked[version] = ve, view.name
        self.stack.register(f"{view.name}/0", ve, [version], [filter_of(view.relation)])

    def withdraw(self) -> None:
        following = sorted(self.held)
        if following:
            ve, view = self.rng.choice(following)
            del self.held[ve, view]
            self.stack.tell(f"{view}/0", ve, Withdraw(7, ve, [ImageChannel(view)]))

    def run(self) -> None:
        """Run a batch, and check what every edge holds after each of its publications."""
        before, causes = self.done, self.order
        self.order, self.done = [], dict(self.rows)
        out = self.stack.run()
        images: dict[tuple[int, str], list[PackedImages]] = {}
        for group, records in out.items():
            for record in records:
                self.take(group, record, before, images)
        assert not self.asked and not self.looks, "all are answered"
        for (ve, view), bag in self.held.items():
            told = self.changes(images.pop((ve, view), []))
            for place in causes:
                truth = self.bag(view, self.states[place])
                went, came = told.pop(place, (Counter(), Counter()))
                assert bag >= went, f"{view}: {went - bag} went and was not there"
                assert bag - went + came == truth, f"{view} after {place}"
                bag = truth
            assert not told, f"{view}: told of {told}"
            self.held[ve, view] = bag
        assert not images

    def take(
        self, group: str, record: OutRecord, before: dict[str, dict[bytes, Row]], images: dict[tuple[int, str], list]
    ) -> None:
        if record.topic != TOPICS.notifications:
            return
        shard = (record.key or b"").decode()
        view = shard.removesuffix("/0")
        assert home_of(self.views[view]) == group
        chunk = unpack(record.value or b"")
        assert chunk.header.shard == shard
        if isinstance(chunk, PackedImages):
            images.setdefault((record.partition, view), []).append(chunk)
            return
        assert isinstance(chunk, PackedSnapshot)
        for i, version in enumerate(chunk.version.tolist()):
            reply = chunk.replies[i]
            assert isinstance(reply, Rows)
            rows = Counter(tuple(decode_row(row)) for row in reply.rows)
            assert rows == self.bag(view, before), f"{view} at the end of the batch before"
            if version < 0:
                assert self.looks.pop(version) == view
            else:
                assert self.asked.pop(version) == (record.partition, view)
                self.held[record.partition, view] = rows

    def changes(self, chunks: list[PackedImages]) -> dict[tuple[str, int], tuple[Bag, Bag]]:
        """What is told of rows by publication: those that went and those that came."""
        found: dict[tuple[str, int], tuple[Bag, Bag]] = {}
        for chunk in chunks:
            columns = list(chunk.columns.values())
            for i, rows in enumerate(chunk.rows.tolist()):
                topic = chunk.header.topics[0 if chunk.topic is None else int(chunk.topic[i])]
                went, came = found.setdefault((topic, int(chunk.offset[i])), (Counter(), Counter()))
                if rows <= 0:
                    went[tuple(value(column, i, False) for column in columns)] += 1
                if rows >= 0:
                    came[tuple(value(column, i, True) for column in columns)] += 1
        for went, came in found.values():
            both = went & came
            went.subtract(both)
            came.subtract(both)
        return {place: (+went, +came) for place, (went, came) in found.items()}

    def bag(self, view: str, tables: dict[str, dict[bytes, Row]]) -> Bag:
        """The rows of a view by the twin."""
        rows, relations = dict(tables), dict(TABLES)
        for each in self.views.values():
            for stage in each.stages:
                names = stage.operator.inputs
                made = recomputed(stage, [relations[name] for name in names], [rows[name] for name in names])
                rows[stage.relation.name], relations[stage.relation.name] = made, stage.relation
        return Counter(rows[view].values())


def value(column: ImageColumn, i: int, new: bool) -> object:
    known, held = (column.new_known, column.new) if new else (column.old_known, column.old)
    texts = column.listed
    return None if not known[i] else int(held[i]) if texts is None else texts[int(held[i])]


@pytest.mark.deep
@settings(max_examples=deep_examples(300), deadline=None)
@given(st.integers(0, 2**32))
def test_edges_hold_the_rows_of_views_after_every_publication(seed: int) -> None:
    world = World(seed)
    for _ in range(world.rng.randint(2, 8)):
        for _ in range(world.rng.randint(0, 8)):
            world.publish()
        for _ in range(world.rng.randint(0, 3)):
            world.register()
        if world.rng.random() < 0.3:
            world.withdraw()
        world.run()
        if world.rng.random() < 0.15:
            world.recreate()
