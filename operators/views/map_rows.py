"""Map: the rows that pass a WHERE, as expressions of them. A row that does not pass any more is deleted.

Cost: O(changes), vectorised: 0.1 us a change and 10 ns a node of an expression (`expressions.py`, `conditions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catalog.schema.view import Map
from operators.channel_binding import KeptOrder
from operators.views.as_inserts import as_inserts
from operators.views.conditions import passing
from operators.views.expressions import evaluate
from operators.views.made_changes import made_changes
from operators.views.net_changes import NetChanges
from operators.views.view_operator import Input
from state.change_batch import I64, Bool, ChangeBatch


class MapRows:
    """The operator of a `Map`."""

    __slots__ = ("_map",)

    def __init__(self, of: Map) -> None:
        self._map = of

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return that no order is needed."""
        return ((),)

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what a batch does to the rows that pass."""
        (given,) = inputs
        net = NetChanges.of(given)
        had, has = self._passes(given, net.before), self._passes(given, net.after)
        told = np.flatnonzero(had | has)
        live = has[told]
        versions = np.where(live, net.after[told], net.before[told])
        columns = [evaluate(item, given.view, versions).made() for item in self._map.items]
        return made_changes(net.cause[told], given.view.rows.keys_of(net.entry[told]), live, columns)

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return the rows that pass, as they are before the batch. Cost: O(n)."""
        (given,) = inputs
        return self.changes([as_inserts(given, ())])

    def _passes(self, given: Input, versions: I64) -> Bool:
        """Return which versions are rows, and pass."""
        there = versions >= 0
        if self._map.where:
            there[there] = passing(self._map.where, given.view, versions[there])
        return there
