"""GroupBy: a row for each group of equal values, NULL being one of them; without GROUP BY one row, always.

    COUNT(*), COUNT(c)     counters of the group
    SUM(c), AVG(c)         sums of limbs (operators/exact_sums.py), so nothing rounds and nothing overflows; one limb
                           where 2**31 values of the column fit into 64 bits
    MIN(c), MAX(c)         the first and the last row of the group that has a c, by (group, c)
    LATEST(c BY t)         the last row that has a t, by (group, t, the input's key); where the input has no key of
                           columns, by (group, t, c)

A group is told once a cause, and only if its row differs. AVG is the double nearest to the exact quotient; a SUM of
doubles is the nearest to the exact sum, and NULL beyond all doubles.

Cost: O(n), 10 ns a row, to lay the orders out, and 10 ns a row of the groups that are touched; 0.5 us a change
(`group_walk.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import Aggregate, GroupBy
from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder
from operators.exact_sums import Limbs
from operators.views.as_inserts import as_inserts
from operators.views.group_sums import Summed, average_of, is_small, limbs_of, sum_of
from operators.views.group_walk import Measures, Told, touched_groups, walk
from operators.views.made_changes import MadeColumn, made_changes
from operators.views.net_changes import NetChanges
from operators.views.row_keys import group_keys
from operators.views.row_values import RowValues
from operators.views.view_operator import Input
from state.change_batch import I64, ChangeBatch
from state.distinct_numbers import distinct_numbers
from state.rank_order import RankKey

_SUMS = ("SUM", "AVG")
_LAST = {"MIN": False, "MAX": True, "LATEST": True}


@dataclass(frozen=True, slots=True)
class _Extreme:
    """What is read from the first or last row of a group: which order, and the column that such a row must have."""

    order: RankKey
    ordered: int
    last: bool
    column: int


class GroupRows:
    """The operator of a `GroupBy` over rows of `relation`."""

    __slots__ = ("_aggregates", "_by", "_counted", "_extremes", "_orders", "_relation", "_summed")

    def __init__(self, of: GroupBy, relation: Relation) -> None:
        self._aggregates = [replace(each, kind=each.kind.upper()) for each in of.aggregates]
        self._relation = relation
        self._by = tuple(relation.index(name) for name in of.by)
        named = [(each, relation.index(each.column)) for each in self._aggregates if each.column is not None]
        self._extremes = {each: self._extreme(each, column) for each, column in named if each.kind in _LAST}
        counted = [column for each, column in named if each.kind not in _LAST]
        self._counted = tuple(dict.fromkeys(counted))
        self._summed = tuple(dict.fromkeys(column for each, column in named if each.kind in _SUMS))
        by_group = [_order(self._by)] if self._by and not self._extremes else []
        self._orders = tuple(dict.fromkeys([*by_group, *(each.order for each in self._extremes.values())]))

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return the orders of groups and measures."""
        return (self._orders,)

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what a batch does to the groups."""
        return self._changes(inputs[0], 0)

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return a row for each group, as they are before the batch. Cost: O(n log n)."""
        return self._changes(as_inserts(inputs[0], self._orders), 0 if self._by else 1)

    def _changes(self, given: Input, least: int) -> ChangeBatch:
        """Return what is told of groups, the first `least` answers in any case."""
        view, net = given.view, NetChanges.of(given)
        change = net.columns
        group, spans = self._groups(view, change)
        limbs, limb, summed = self._limbs(view, group)
        heaps, extremes = self._heaps(), list(self._extremes.values())
        of = Measures(
            codes=view.replay.codes,
            valid=view.replay.valid,
            group=group,
            spans=spans,
            counted=np.array(self._counted, np.int64),
            limbs=limbs,
            limb=limb,
            version=_stacked([view.ranks(order).version for order, _ in heaps]),
            slot=_stacked([view.ranks(order).rank for order, _ in heaps]),
            ordered=np.array([column for _, column in heaps], np.int64),
            extreme=_columns([(heaps.index((each.order, each.ordered)), each.last, each.column) for each in extremes]),
        )
        number = any(each.column is None for each in self._aggregates)
        told = walk(of, change, view.replay.rows, not self._by, number, least)
        return self._made(view, of, told, summed)

    def _made(self, view: BatchView, of: Measures, told: Told, summed: dict[int, Summed]) -> ChangeBatch:
        used, place = distinct_numbers(told.group)
        heads = view.ranks(self._orders[0]).version[of.spans[0][used]] if self._by else used
        keys = [RowValues.of_column(view, column, heads) for column in self._by]
        named = group_keys([(each.codes, each.valid, each.flat_texts()) for each in keys], len(used))
        rows = heads[place]
        columns = [RowValues.of_column(view, column, rows).made() for column in self._by]
        columns += [self._column(view, each, told, summed) for each in self._aggregates]
        live = told.rows > 0 if self._by else np.ones(len(told.rows), np.bool_)
        return made_changes(told.cause, named.take(place), live, columns)

    def _column(self, view: BatchView, of: Aggregate, told: Told, summed: dict[int, Summed]) -> MadeColumn:
        """Return the values of one aggregate in what is told."""
        if of.column is None:
            return MadeColumn(told.rows, np.ones(len(told.rows), np.bool_))
        if of.kind in _LAST:
            which = list(self._extremes).index(of)
            return RowValues.of_versions(view, self._extremes[of].column, told.version[which]).made()
        column = self._relation.index(of.column)
        if of.kind == "COUNT":
            return MadeColumn(told.counts[self._counted.index(column)], np.ones(len(told.rows), np.bool_))
        sums = summed[column]
        counts = told.counts[sums.count]
        limbs = told.sums[sums.begin : sums.end]
        values = (sum_of if of.kind == "SUM" else average_of)(sums.type, sums.lowest, limbs, counts, of.type)
        return values.made()

    def _extreme(self, of: Aggregate, column: int) -> _Extreme:
        if of.kind != "LATEST":
            return _Extreme(_order((*self._by, column)), column, _LAST[of.kind], column)
        assert of.by is not None
        by = self._relation.index(of.by)
        ties = [self._relation.index(name) for name in self._relation.key] or [column]
        return _Extreme(_order((*self._by, by, *ties)), by, True, column)

    def _heaps(self) -> list[tuple[RankKey, int]]:
        """Return orders of which a first or last row is wanted, each with the column that such a row must have."""
        return list(dict.fromkeys((each.order, each.ordered) for each in self._extremes.values()))

    def _groups(self, view: BatchView, change: I64) -> tuple[I64, I64]:
        """Return the group of each version, and where the slots of each group begin and end."""
        if self._by:
            return touched_groups(view, self._by, view.ranks(self._orders[0]), change)
        slots = len(view.ranks(self._orders[0]).version) if self._orders else 0
        return np.zeros(view.replay.codes.shape[1], np.int64), np.array([[0], [slots]])

    def _limbs(self, view: BatchView, group: I64) -> tuple[I64, I64, dict[int, Summed]]:
        """Return a matrix of values, which of its rows are summed up, and where the sums of a column stand."""
        codes, blocks, summed, end = view.replay.codes, list[I64](), dict[int, Summed](), 0
        small = all(is_small(self._relation.columns[column].type) for column in self._summed)
        for column in self._summed:
            type_ = self._relation.columns[column].type
            block = Limbs(codes[column : column + 1]) if is_small(type_) else limbs_of(view, column, group)
            begin, end = end, end + len(block.limbs)
            blocks.append(block.limbs)
            summed[column] = Summed(type_, self._counted.index(column), begin, end, block.lowest)
        if small:
            return codes, np.array(self._summed, np.int64), summed
        return np.concatenate(blocks), np.arange(end), summed


def _order(columns: Sequence[int]) -> RankKey:
    """Return the order by columns, ascending, NULLs first; each once."""
    return tuple((column, False, True) for column in dict.fromkeys(columns))


def _stacked(rows: Sequence[I64]) -> I64:
    return np.stack(rows) if rows else np.zeros((0, 0), np.int64)


def _columns(triples: Sequence[tuple[int, bool, int]]) -> I64:
    return np.ascontiguousarray(np.array(triples, np.int64).reshape(len(triples), 3).T)
