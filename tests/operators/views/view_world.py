"""Tables and stages of views over them, played cause by cause beside their twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import Stage
from operators.channel_binding import KeptOrder
from operators.views.operators import operator_of
from operators.views.view_operator import Input, ViewOperator
from shard.tables import Table
from state.change_batch import ChangeBatch
from tests.operators.watched import dumped, reopened
from tests.oracle.naive_views import Row, Rows, Stored, recomputed

Change = tuple[str, bytes, Row | None]
"""The table, the row's key, and its values; None for a delete."""
Cause = Sequence[Change]


def batch_of(relation: Relation, changes: Sequence[tuple[bytes, Row | None]], cause: Sequence[int]) -> ChangeBatch:
    """Lay changes of a table out as a decoder does."""
    m, columns = len(changes), relation.columns
    codes, valid = np.zeros((len(columns), m), np.int64), np.zeros((len(columns), m), np.bool_)
    texts: dict[int, list[str | None]] = {c: [None] * m for c, each in enumerate(columns) if not each.type.coded}
    for i, (_, row) in enumerate(changes):
        for c, value in enumerate(row or ()):
            valid[c, i] = value is not None
            if isinstance(value, str):
                texts[c][i] = value
            else:
                codes[c, i] = value or 0
    return ChangeBatch(
        [key for key, _ in changes],
        np.array([row is not None for _, row in changes], np.bool_),
        codes,
        valid,
        dict(texts),
        np.zeros(m, np.int32),
        np.zeros(m, np.int64),
        cause=np.array(cause, np.int32),
    )


def rows_of(table: Table) -> dict[bytes, Row]:
    """Return the rows of a table by key."""
    store = table.stored
    return {store.key(row): tuple(store.image(row)) for row in range(len(store))}


def changes_of(batch: ChangeBatch) -> list[tuple[int, bytes, Row | None]]:
    """Return changes as cause, key and row."""
    texts = {column: list(values) for column, values in batch.texts.items()}
    out: list[tuple[int, bytes, Row | None]] = []
    for i, key in enumerate(batch.keys):
        row: list[Stored] = []
        for c in range(len(batch.codes)):
            held = texts[c][i] if c in texts else int(batch.codes[c, i])
            row.append(held if batch.valid[c, i] else None)
        out.append((int(batch.cause[i]), bytes(key), tuple(row) if batch.live[i] else None))
    return out


@dataclass
class ViewWorld:
    """Base tables and stages over them, in the order in which they are computed."""

    tables: Mapping[str, Relation]
    stages: Sequence[Stage]
    held: dict[str, Table] = field(default_factory=dict)
    operators: dict[str, ViewOperator] = field(default_factory=dict)
    needed: dict[str, list[KeptOrder]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        relations = dict(self.tables) | {stage.relation.name: stage.relation for stage in self.stages}
        self.held = {name: Table(relation) for name, relation in relations.items()}
        self.needed = {name: [] for name in relations}
        for stage in self.stages:
            operator = operator_of(stage, [relations[name] for name in stage.operator.inputs])
            self.operators[stage.relation.name] = operator
            for name, orders in zip(stage.operator.inputs, operator.needs(), strict=True):
                self.needed[name] += orders
        for name, orders in self.needed.items():
            self.held[name].order_by(orders)
        self._fill()

    def _fill(self) -> None:
        """Give every stage the rows that it has from the start."""
        for stage in self.stages:
            inputs = self._inputs(stage, {name: self._still(name) for name in stage.operator.inputs})
            made = self.held[stage.relation.name]
            made.commit(made.replay(self.operators[stage.relation.name].rows(inputs)))

    def reopen(self) -> None:
        """Go on with tables that are read from what these write."""
        for name, table in self.held.items():
            self.held[name] = reopened(table.relation, dumped(table))
            self.held[name].order_by(self.needed[name])

    def _still(self, name: str) -> Input:
        return Input(self.held[name].still(), np.zeros(0, np.int32))

    @staticmethod
    def _inputs(stage: Stage, views: Mapping[str, Input]) -> list[Input]:
        return [views[name] for name in stage.operator.inputs]

    def twins(self, base: Mapping[str, Rows]) -> dict[str, dict[bytes, Row]]:
        """Return what each stage is by its twin."""
        rows: dict[str, Rows] = dict(base)
        made: dict[str, dict[bytes, Row]] = {}
        for stage in self.stages:
            names = stage.operator.inputs
            relations = [self.held[name].relation for name in names]
            rows[stage.relation.name] = made[stage.relation.name] = recomputed(
                stage, relations, [rows[name] for name in names]
            )
        return made

    def play(self, causes: Sequence[Cause], each: bool = True) -> dict[str, list[tuple[int, bytes, Row | None]]]:
        """Apply a batch of causes, check every stage after each of them, and return what each stage told.

        With `each` False the rows are looked at after the last cause only.
        """
        base = {name: rows_of(self.held[name]) for name in self.tables}
        truth, states = self.twins(base), []
        for cause in causes:
            for table, key, row in cause:
                base[table] = {other: held for other, held in base[table].items() if other != key}
                if row is not None:
                    base[table][key] = row
            if each:
                states.append(self.twins(base))
        if not each:
            states = [{}] * (len(causes) - 1) + [self.twins(base)]
        views = {name: self._replayed(name, causes) for name in self.tables}
        told = {}
        for stage in self.stages:
            name, inputs = stage.relation.name, self._inputs(stage, views)
            operator, table = self.operators[name], self.held[name]
            self._check_rows(operator, stage, inputs, truth[name])
            batch = operator.changes(inputs)
            told[name] = changes_of(batch)
            check(name, told[name], truth[name], [state.get(name) for state in states])
            views[name] = Input(table.replay(batch), batch.cause)
        for name, view in views.items():
            self.held[name].commit(view.view)
            self.held[name].check()
        for stage in self.stages:
            assert rows_of(self.held[stage.relation.name]) == (states or [truth])[-1][stage.relation.name]
        return told

    def _replayed(self, name: str, causes: Sequence[Cause]) -> Input:
        mine = [(at, key, row) for at, cause in enumerate(causes) for table, key, row in cause if table == name]
        batch = batch_of(self.tables[name], [(key, row) for _, key, row in mine], [at for at, _, _ in mine])
        return Input(self.held[name].replay(batch), batch.cause)

    @staticmethod
    def _check_rows(operator: ViewOperator, stage: Stage, inputs: Sequence[Input], truth: Rows) -> None:
        made = changes_of(operator.rows(inputs))
        assert {cause for cause, _, _ in made} <= {0}
        assert len({key for _, key, _ in made}) == len(made)
        assert {key: row for _, key, row in made} == truth, stage.relation.name


def check(name: str, told: list[tuple[int, bytes, Row | None]], before: Rows, after: Sequence[Rows | None]) -> None:
    """Check what was told of a view against its rows after each cause, where these are given: exact, net, by cause."""
    causes = [cause for cause, _, _ in told]
    assert causes == sorted(causes), f"{name}: causes {causes}"
    rows = dict(before)
    for cause, truth in enumerate(after):
        mine = [(key, row) for at, key, row in told if at == cause]
        assert len({key for key, _ in mine}) == len(mine), f"{name}: a key twice in {mine}"
        for key, row in mine:
            rows.pop(key, None)
            if row is not None:
                rows[key] = row
        assert truth is None or rows == truth, f"{name} after cause {cause}: {rows}, should be {truth}; told {mine}"
    assert not causes or causes[-1] < len(after)
