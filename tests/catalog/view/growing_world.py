"""Chains of stages over streams and tables, drawn, and what their rows are after each of some random changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from catalog.query.certainty import Certainties
from catalog.schema.relation import Column, Relation
from catalog.schema.view import Stage, View
from catalog.types.column_type import ColumnType
from tests.operators.views.stage_draws import draw_chain, draw_group_by, draw_map
from tests.operators.views.view_draws import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    SHORT,
    TIMESTAMP,
    VALUES,
    VARCHAR,
    WIDE,
    draw_value,
)
from tests.oracle.naive_views import Row, Rows, recomputed

COLUMNS = {"g": VARCHAR, "x": BIGINT, "y": INTEGER, "c": SHORT, "w": WIDE, "d": DOUBLE, "b": BOOLEAN, "ts": TIMESTAMP}
SEVERAL = 3


def drawn_table(rng: Random, name: str) -> Relation:
    """Return a table with a key and few columns, some of them NOT NULL."""
    names = rng.sample(list(COLUMNS), rng.randint(2, 4))
    columns = (Column(column, COLUMNS[column], rng.random() < 0.6) for column in names)
    return Relation(name, (Column("id", BIGINT, False), *columns), ("id",), name)


@dataclass(frozen=True)
class GrowingWorld:
    """Tables, of which some are streams, and stages over them."""

    tables: dict[str, Relation]
    streams: frozenset[str]
    stages: Sequence[Stage]

    @classmethod
    def drawn(cls, rng: Random) -> GrowingWorld:
        tables = {name: drawn_table(rng, name) for name in ("t", "s")}
        streams = frozenset(["t", "s"] if rng.random() < 0.7 else ["t"])
        stages: list[Stage] = []
        if rng.random() < 0.6:  # expressions of what moves, which chains come to too rarely
            if rng.random() < 0.3:
                stages.append(draw_map(rng, tables["t"], "f"))
            stages.append(draw_group_by(rng, stages[-1].relation if stages else tables["t"], "g"))
            stages.append(draw_map(rng, stages[-1].relation, "m"))
        sources = [*tables.values(), *(stage.relation for stage in stages)]
        return cls(tables, streams, [*stages, *draw_chain(rng, sources, rng.randint(1, 3))])

    @property
    def relations(self) -> dict[str, Relation]:
        return self.tables | {stage.relation.name: stage.relation for stage in self.stages}

    def certainties(self) -> Certainties:
        view = View(self.stages[-1].relation.name, "", (), (), tuple(self.stages), 0)
        certainties = Certainties(self.relations.get, {view.name: view}.get, self.streams)
        certainties.growth(view.name)
        return certainties

    def states(self, rng: Random, steps: int) -> Iterator[dict[str, Rows]]:
        """Give the rows of all relations before and after each of some changes."""
        base: dict[str, dict[bytes, Row]] = {name: {} for name in self.tables}
        for _ in range(steps):
            yield self._all(base)
            for _ in range(1 if rng.random() < 0.7 else SEVERAL):
                name = rng.choice(list(self.tables))
                self._change(rng, base[name], self.tables[name], name in self.streams)
        yield self._all(base)

    def _change(self, rng: Random, rows: dict[bytes, Row], relation: Relation, append: bool) -> None:
        key = len(rows) if append else rng.randrange(4)
        if not append and rng.random() < 0.3:
            rows.pop(b"%d" % key, None)
        else:
            rows[b"%d" % key] = (key, *(drawn_value(rng, column) for column in relation.columns[1:]))

    def _all(self, base: dict[str, dict[bytes, Row]]) -> dict[str, Rows]:
        rows: dict[str, Rows] = {name: dict(held) for name, held in base.items()}
        for stage in self.stages:
            names = stage.operator.inputs
            rows[stage.relation.name] = recomputed(
                stage, [self.relations[name] for name in names], [rows[name] for name in names]
            )
        return rows


def drawn_value(rng: Random, column: Column) -> int | str | None:
    """Return a value that the column may hold."""
    value = draw_value(rng, column.type, True)
    return VALUES[column.type][0] if value is None and not column.nullable else value


def coded(relation: Relation) -> list[tuple[str, ColumnType]]:
    """Return the columns that have order codes."""
    return [(column.name, column.type) for column in relation.columns if column.type.coded]
