"""Joins at the virtual edge against its naive twin, beside all that the machine of tables does to it.

A cell that leaves nothing out sends the timelines; cells come and go, and some never come.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from catalog.schema.cell import Cell, cell_name
from catalog.schema.relation import Relation
from tests.effort import deep_examples
from tests.oracle.naive_edge import Wanted
from tests.overlay.edge_world import EdgeWorld, table
from tests.overlay.join_questions import CELLS, joined_rows
from tests.overlay.test_virtual_edge_machine import EdgeMachine, chunks, flows, names, rows, tables

cells = st.sampled_from(CELLS)


class JoinEdgeMachine(EdgeMachine):
    """The machine of tables, where joins are asked for too."""

    @initialize(
        both=st.sampled_from([True, True, True, False]),
        served=st.sampled_from([{*CELLS}, {*CELLS}, {CELLS[1]}, set()]),
        early=st.lists(st.tuples(names, joined_rows()), max_size=6),
    )
    def start(self, both: bool, served: set[tuple[str, ...]], early: list[tuple[str, Wanted]]) -> None:
        self.world = EdgeWorld()
        relations = {"t": table("t", 0)} | ({"u": table("u", 0)} if both else {})
        self.world.apply_catalog(relations, _served(relations, served, 0))
        for name, question in early:
            self.ask(name, question)
        self.world.begin_epoch()
        self.world.register()
        self.flow("all")

    def declare(
        self, relations: Mapping[str, Relation], cells: Mapping[str, Cell], unserved: Mapping[str, str]
    ) -> None:
        """Change the catalog; a table that is no more, or another one, takes its cells with it."""
        old = self.world.catalog
        stay = {
            name for name, one in relations.items() if name in old.relations and old.relations[name].born == one.born
        }
        new = {name: cell for name, cell in cells.items() if name not in old.cells}
        kept = {name: cell for name, cell in cells.items() if stay.issuperset(cell.tables)}
        self.world.apply_catalog(dict(relations), kept | new, unserved)

    @rule(which=st.integers(0, 5), name=tables)
    def change_catalog(self, which: int, name: str) -> None:
        catalog = self.world.catalog
        relations = dict(catalog.relations)
        if which == 0:
            relations.pop(name, None)
        elif which > 1 and name in relations:
            relations[name] = table(name, relations[name].born, extra=True)
        else:
            relations[name] = table(name, len(self.world.catalogs))
        self.declare(relations, catalog.cells, catalog.unserved)

    @rule(tables=cells)
    def create_cell(self, tables: tuple[str, ...]) -> None:
        catalog, born = self.world.catalog, len(self.world.catalogs)
        made = _served(catalog.relations, {tables}, born)
        unserved = {name: why for name, why in catalog.unserved.items() if name not in made}
        self.declare(catalog.relations, {**made, **catalog.cells}, unserved)

    @rule(tables=cells, for_good=st.booleans())
    def drop_cell(self, tables: tuple[str, ...], for_good: bool) -> None:
        catalog, gone = self.world.catalog, cell_name(tables)
        left = {name: cell for name, cell in catalog.cells.items() if name != gone}
        self.declare(catalog.relations, left, {**catalog.unserved, **({gone: "no room"} if for_good else {})})

    @rule(name=names, wanted=joined_rows(), how=flows)
    def subscribe_to_a_join(self, name: str, wanted: Wanted, how: str) -> None:
        self.ask(name, wanted)
        self.flow(how)

    @rule(
        asked=st.lists(st.tuples(names, joined_rows()), min_size=1, max_size=5),
        batches=st.lists(rows, min_size=1, max_size=3),
        chunk=chunks,
        joined=st.sets(st.integers(0, 8), max_size=3),
    )
    def ask_for_joins_and_keep_up(
        self, asked: list[tuple[str, Wanted]], batches: list[list], chunk: int, joined: Set[int]
    ) -> None:
        for cell in CELLS:
            self.create_cell(cell)
        for name, wanted in asked:
            self.ask(name, wanted)
        self.keep_up(batches, chunk, joined)

    def compare(self) -> None:
        super().compare()
        assert self.world.edge.cells_wanted() == self.world.twin.cells_wanted()


def _served(relations: Mapping[str, Relation], wanted: Set[tuple[str, ...]], born: int) -> dict[str, Cell]:
    made = [Cell(tables, born) for tables in sorted(wanted) if all(one in relations for one in tables)]
    return {cell.name: cell for cell in made}


TestJoinEdgeMachine = pytest.mark.deep(JoinEdgeMachine.TestCase)
TestJoinEdgeMachine.settings = settings(
    max_examples=deep_examples(60), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
