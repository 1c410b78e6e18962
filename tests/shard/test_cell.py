"""Cells hold what their tables' own shards hold, whenever they were made, and however they were dropped before.

Rows with equal times in several partitions, deletes, truncates, keys that change over a batch, what a connector that
was killed publishes again, damaged records; a table in buckets; tables dropped, created again and altered.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from shard.cell import CellState
from shard.cell_seed import seed_of_cell
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from state.errors import StateError
from tests.effort import deep_examples
from tests.shard.cell_stack import TOPICS, CellStack, rows_of

DDL = {
    "t": "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR)",
    "u": "CREATE TABLE u (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR) WITH ('format'='debezium-json')",
    "b": "CREATE TABLE b (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR) WITH ('buckets'='3', 'bucket.by'='id')",
}
SETS = [("t", "u"), ("b", "u"), ("b", "t", "u"), ("u",)]
SAME = "__debezium_unavailable_value"
tables = st.sampled_from([*DDL])
sets = st.sampled_from(SETS)
ids, small = st.integers(0, 3), st.integers(0, 2)
texts = st.sampled_from(["a", "b", "ab", None, SAME])


class Cells(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        catalog = Catalog()
        for version, statement in enumerate(DDL.values()):
            catalog = apply_ddl(catalog, statement, version)
        self.version = len(DDL)
        self.stack = CellStack(catalog, 2, Random(1))
        self.place = 0

    def declare(self, statement: str) -> None:
        self.stack.declare(apply_ddl(self.stack.catalog, statement, self.version))
        self.version += 1

    def capture_one(self, id: int, op: str, place: int, **members) -> None:
        where = {"sequence": f'[null,"{place}"]', "lsn": place, "ts_us": place}
        event = {"op": op, "source": {"connector": "postgresql", "name": "pg", **where}, **members}
        self.stack.append("u", b'{"id":%d}' % id, msgspec.json.encode(event))

    @rule(table=st.sampled_from("tb"), partition=st.integers(0, 1), id=ids, x=small, s=texts, stamp=small)
    def put(self, table, partition, id, x, s, stamp) -> None:
        value = b'{"id":%d,"x":%d,"s":%s}' % (id, x, b"null" if s is None else b'"%s"' % s.encode())
        self.stack.append(table, b'{"id":%d}' % id, value, partition, 1_000 + stamp)

    @rule(table=st.sampled_from("tb"), partition=st.integers(0, 1), id=ids)
    def delete(self, table, partition, id) -> None:
        self.stack.append(table, b'{"id":%d}' % id, None, partition)

    @rule(table=tables)
    def damage(self, table) -> None:
        self.stack.append(table, b'{"id":1}', b"{")

    @rule(id=ids, x=small, s=texts, again=st.sampled_from([0, 0, 0, 2, 5]))
    def capture(self, id, x, s, again) -> None:
        """A change of the database, or one that is published again."""
        self.place += 1
        self.capture_one(id, "u", max(self.place - again, 1), after={"id": id, "x": x, "s": s})

    @rule(id=ids, other=ids, x=small, seam=st.booleans())
    def move(self, id, other, x, seam) -> None:
        """A key that changes: a delete, and a create of the same moment, perhaps in another batch."""
        self.place += 1
        self.capture_one(id, "d", self.place)
        if seam:
            self.run_batch()
        self.capture_one(other, "c", self.place, after={"id": other, "x": x, "s": SAME})

    @rule()
    def truncate(self) -> None:
        self.stack.append("u", None, b'{"op":"t"}')

    @rule(of=sets)
    def create_or_drop_join(self, of) -> None:
        """Cells come between two batches."""
        if all(table in self.stack.catalog.relations for table in of):
            exists = Cell(of, 0).name in self.stack.catalog.cells
            self.run_batch()
            self.declare(f"{'DROP' if exists else 'CREATE'} JOIN {', '.join(of)}")

    @rule(table=tables)
    def drop_or_create_table(self, table) -> None:
        self.declare(f"DROP TABLE {table}" if table in self.stack.catalog.relations else DDL[table])

    @rule(table=tables)
    def widen(self, table) -> None:
        if table in self.stack.catalog.relations:
            self.declare(DDL[table].replace("s VARCHAR", "s VARCHAR, more INTEGER"))

    @rule()
    def run_batch(self) -> None:
        out = self.stack.run()
        for group, records in out.items():
            if group.startswith("cell/"):
                assert [record.topic for record in records] == [TOPICS.engines]

    @invariant()
    def copies_are_what_the_shards_are(self) -> None:
        for name in self.stack.catalog.cells:
            cell = self.stack.cell(name)
            for table, copy in cell.copies.items():
                shards = self.stack.shards(table)
                assert rows_of([copy]) == rows_of(shards)
                assert copy.highest_partition == max(shard.highest_partition for shard in shards)
                if len(shards) == 1:
                    assert copy.graves.stored() == shards[0].graves.stored()
                    assert copy.repeats.stored() == shards[0].repeats.stored()
                copy.table.check()


Cells.TestCase.settings = settings(max_examples=deep_examples(150), stateful_step_count=30, deadline=None)
TestCells = pytest.mark.deep(Cells.TestCase)


CATALOG = apply_ddl(apply_ddl(Catalog(), DDL["t"], 0), DDL["b"], 1)
CELL = Cell(("b", "t"), 2)


def filled() -> CellStack:
    """A stack whose cell has rows of both tables."""
    stack = CellStack(replace(CATALOG, version=2, cells={CELL.name: CELL}), 2, Random(1))
    for id in range(6):
        for table in "bt":
            stack.append(table, b'{"id":%d}' % id, b'{"id":%d,"x":%d,"s":"a%d"}' % (id, id % 2, id))
    stack.run()
    return stack


def test_a_cell_comes_back_as_it_was_written():
    stack = filled()
    state = stack.states[CELL.name]
    assert CellState.open(CELL, CATALOG.relations, state).dump() == state
    assert stack.cell(CELL.name).rows == 12 and stack.cell(CELL.name).size > 0


def test_a_state_of_another_birth_is_passed_over_for_the_seed_and_else_for_nothing():
    stack = filled()
    state, later = stack.states[CELL.name], replace(CELL, born=9)
    seed = seed_of_cell(later, CATALOG, {"t/0": stack.states["t/0"]})
    assert CellState.open(later, CATALOG.relations, state).rows == 0
    assert CellState.open(later, CATALOG.relations, state, seed).rows == 6
    assert CellState.open(later, CATALOG.relations, None, seed).rows == 6
    assert CellState.open(CELL, CATALOG.relations, state, seed).rows == 12, "what is stored is newer than a seed"
    assert CellState.open(replace(CELL, born=8), CATALOG.relations, None, seed).rows == 0, "a seed of another cell"


def test_another_groups_state_is_refused():
    with pytest.raises(StateError, match="cell/b\\+t/0"):
        CellState.open(replace(CELL, tables=("t",)), CATALOG.relations, filled().states[CELL.name])


def test_a_cell_that_the_catalog_does_not_name_is_forgotten():
    stack = filled()
    stack.declare(CATALOG)
    stack.append("t", b'{"id":9}', b'{"id":9}')
    assert CELL.name not in stack.run()
    spec = GroupSpec(7, CELL.name, CATALOG, TOPICS, 2)
    assert process_group(spec, 5, stack.states[CELL.name], []) == GroupResult(None, [])
