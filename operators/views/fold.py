"""Fold: groups of the rows of a stream, which come once and are not stored. The rows of the fold are all it knows.

    COUNT(*), COUNT(c), MIN(c), MAX(c)     the value itself
    SUM(c)                                 the value, taken apart into limbs for a batch; only of exact numbers
    AVG(c)                                 of SUM(c) and COUNT(c), which are there too
    LATEST(c BY t)                         the value, by MAX(t), which is there too; of equal t the greatest c

Each row of the stream is a cause of its own, and changes the row of one group, if anything. Texts that are compared
are numbered in order for a batch, those of the groups that it meets together with those that come.

Cost: 0.1 us a row of the stream and 10 ns an aggregate (`fold_walk.py`); 0.1 us more for each SUM or text that is told;
O(groups that the batch meets), and 20 ns a group that there is to find these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import Aggregate, Fold
from catalog.types.column_type import Kind
from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder
from operators.exact_sums import Limbs
from operators.views.fold_walk import Measure, Walked, counted, extreme, latest, number_groups, summed
from operators.views.group_sums import average_of, narrowed, sum_of
from operators.views.made_changes import MadeColumn, made_changes
from operators.views.row_keys import group_keys
from operators.views.row_values import EXACT_KINDS, RowValues
from operators.views.view_operator import Input
from state import text_rank
from state.byte_table import ByteTable, Strings
from state.change_batch import I64, Bool, ChangeBatch
from state.distinct_numbers import distinct_numbers

_SUM_LIMBS = 3
"""So many hold sums of numbers that have order codes; of wide decimals they are as many as these have."""


@dataclass(frozen=True, slots=True)
class _Met:
    """What a batch meets. versions: of the stream's rows.  group: int64[rows].  heads: first version of each group.

    stored: int64[groups], the row that the fold has of each, -1 for none.
    """

    given: BatchView
    own: BatchView
    versions: I64
    group: I64
    heads: I64
    stored: I64


class FoldRows:
    """The operator of a `Fold` over rows of `relation`."""

    __slots__ = ("_aggregates", "_by", "_relation")

    def __init__(self, of: Fold, relation: Relation) -> None:
        self._aggregates = [replace(each, kind=each.kind.upper()) for each in of.aggregates]
        self._by = tuple(relation.index(name) for name in of.by)
        self._relation = relation

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return that no order is needed."""
        return ((),)

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what the rows of the stream, which are all inserts, do to the fold's own, the second input."""
        given, own = inputs
        return self.fold(given, own.view, np.flatnonzero(given.view.replay.after >= 0))

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return nothing: of rows that have passed there is no way back."""
        given, own = inputs
        return self.fold(given, own.view, np.zeros(0, np.int64))

    def fold(self, given: Input, own: BatchView, taken: I64) -> ChangeBatch:
        """Return what the changes numbered `taken`, ascending, do to the fold's rows. Cost: see the module's header."""
        view = given.view
        versions = view.replay.after[taken]
        group, first = number_groups(view.replay.codes, view.replay.valid, np.array(self._by, np.int64), versions)
        heads = versions[first]
        values = [RowValues.of_column(view, column, heads) for column in self._by]
        keys = group_keys([(each.codes, each.valid, each.flat_texts()) for each in values], len(heads))
        met = _Met(view, own, versions, group, heads, own.rows.find(keys).astype(np.int64))
        changed = np.zeros(len(versions), np.bool_)
        changed[first[met.stored < 0]] = True
        measures = self._measures(met)
        walked = self._walked(met, measures, changed)
        told = np.flatnonzero(changed)
        columns = [RowValues.of_column(view, column, heads[group[told]]).made() for column in self._by]
        columns += [self._column(at, told, measures, walked) for at in range(len(self._aggregates))]
        return made_changes(given.cause[taken[told]], keys.take(group[told]), changed[told], columns)

    def _measures(self, met: _Met) -> dict[int, tuple[Measure, Strings | None]]:
        """Return by place of the aggregate what is read for it, and the texts that its values are numbers of."""
        return {at: self._measure(met, each, at) for at, each in enumerate(self._aggregates) if each.kind != "AVG"}

    def _measure(self, met: _Met, of: Aggregate, at: int) -> tuple[Measure, Strings | None]:
        held = RowValues.of_versions(met.own, len(self._by) + at, met.stored)
        if of.column is None:
            none, every = np.zeros((1, 0), np.int64), np.ones(len(met.versions), np.bool_)
            return Measure(none, every, held.codes[None], held.valid), None
        values = RowValues.of_column(met.given, self._relation.index(of.column), met.versions)
        if of.kind == "COUNT":
            return Measure(values.codes[None], values.valid, held.codes[None], held.valid), None
        if of.kind == "SUM":
            return _in_limbs(met, self._relation.index(of.column), values, held, len(self._by) + at), None
        return _in_order(values, held)

    def _walked(
        self, met: _Met, measures: dict[int, tuple[Measure, Strings | None]], changed: Bool
    ) -> dict[int, Walked]:
        """Let each aggregate take all rows, LATEST before what it reads has taken them."""
        walked = dict[int, Walked]()
        for at, (measure, _) in sorted(measures.items(), key=lambda pair: self._aggregates[pair[0]].kind != "LATEST"):
            of = self._aggregates[at]
            if of.by is not None:
                walked[at] = latest(measure, measures[self._find("MAX", of.by)][0], met.group, changed)
            elif of.kind == "COUNT":
                walked[at] = counted(measure, met.group, changed)
            elif of.kind == "SUM":
                walked[at] = summed(measure, met.group, changed)
            else:
                walked[at] = extreme(measure, met.group, of.kind == "MIN", changed)
        return walked

    def _column(
        self, at: int, told: I64, measures: dict[int, tuple[Measure, Strings | None]], walked: dict[int, Walked]
    ) -> MadeColumn:
        """Return the values of one aggregate after the rows `told`."""
        of = self._aggregates[at]
        source = self._find("SUM", of.column) if of.kind == "AVG" else at
        values, there = walked[source].at(told)
        if of.column is None or of.kind == "COUNT":
            return MadeColumn(values[0], there)
        type_ = self._relation.column(of.column).type
        if of.kind == "SUM":
            return sum_of(type_, 0, narrowed(values), there.astype(np.int64), of.type).made()
        if of.kind == "AVG":
            counts, _ = walked[self._find("COUNT", of.column)].at(told)
            return average_of(type_, 0, narrowed(values), counts[0], of.type).made()
        return RowValues(of.type, values[0], there, measures[at][1]).made()

    def _find(self, kind: str, column: str | None) -> int:
        """Return which aggregate is this one, which another one reads."""
        found = (at for at, each in enumerate(self._aggregates) if (each.kind, each.column) == (kind, column))
        return next(found)


def _in_limbs(met: _Met, column: int, values: RowValues, held: RowValues, place: int) -> Measure:
    """Return values and totals in limbs: one where the total has an order code."""
    type_ = values.type
    assert type_.kind in EXACT_KINDS and held.type.scale == type_.scale, f"SUM of {type_} as {held.type}"
    if held.type.coded:
        return Measure(values.codes[None], values.valid, held.codes[None], held.valid)
    if type_.coded:
        given = Limbs.of(type_, values.codes).limbs
        limbs = np.concatenate([given, np.zeros((_SUM_LIMBS - len(given), given.shape[1]), np.int64)])
    else:
        limbs = Limbs.of_texts(type_, values.codes, values.valid, met.given.rows, column).limbs
    totals = Limbs.of_texts(held.type, held.codes, held.valid, met.own.rows, place).limbs
    return Measure(limbs, values.valid, totals[: len(limbs)].copy(), held.valid)


def _in_order(values: RowValues, held: RowValues) -> tuple[Measure, Strings | None]:
    """Return values and those of groups as numbers that are in order, and the texts of these."""
    if values.strings is None or held.strings is None:
        return Measure(values.codes[None], values.valid, held.codes[None], held.valid), None
    codes, cells = np.zeros(len(values), np.int64), np.zeros(len(held), np.int64)
    (given, place), (stood, stood_place) = _used(values), _used(held)
    table = ByteTable()
    number = table.intern(stood.then(given))
    order = text_rank.order(table.strings, 0, values.type.kind is Kind.DECIMAL)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    codes[values.valid] = rank[number[len(stood) :]][place]
    cells[held.valid] = rank[number[: len(stood)]][stood_place]
    return Measure(codes[None], values.valid, cells[None], held.valid), table.strings.take(order)


def _used(values: RowValues) -> tuple[Strings, I64]:
    """Return the different texts of values, and which each of those is that are not NULL."""
    assert values.strings is not None
    used, place = distinct_numbers(values.codes[values.valid])
    return values.strings.take(used), place
