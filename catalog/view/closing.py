"""Which column of a stage says when its rows become final: the start of a window of the event time below.

    trade                       ts is the event time
    Map(symbol, hour of ts)     "hour" is the window of the event time of each row
    Fold(by symbol, hour)       closing: no row of an hour can come or change once the horizon is at the hour's end
    Map, GroupBy, TopK          closing, as far as the column is shown, grouped by, or each list is of one window
    Joined, Union               closing, where both sides close by columns that are equal, or stand at the same place

A window of a window is the longer one. Where several columns are windows, a row is final at the end of the shortest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.schema.relation import Relation
from catalog.schema.stream import WINDOWS, Closing
from catalog.schema.view import (
    ColumnOf,
    Expression,
    Fold,
    GroupBy,
    Joined,
    Map,
    Operator,
    Stage,
    TopK,
    Truncated,
    Union,
    View,
)

Windows = Mapping[str, str]
"""By column that hangs on the event time alone: the unit of its window, '' for the time itself."""


@dataclass(slots=True)
class ClosingColumns:
    """Finds them in the relations that one view reads and makes; `relation` and `view` find what is declared."""

    relation: Callable[[str], Relation | None]
    view: Callable[[str], View | None]
    _known: dict[str, tuple[Relation, Windows, bool]] = field(default_factory=dict)

    def closed(self, stages: Sequence[Stage]) -> tuple[Stage, ...]:
        """Return the stages of a view, each with what closes its rows. *Cost*: all stages below them, once."""
        return tuple([self._closed(stage) for stage in stages])

    def _closed(self, stage: Stage) -> Stage:
        inputs = [self._of(name) for name in stage.operator.inputs]
        windows = _made(stage.operator, stage.relation, [(relation, known) for relation, known, _ in inputs])
        folded = isinstance(stage.operator, Fold) or all(folded for _, _, folded in inputs)
        relation = replace(stage.relation, closing=_shortest(windows) if folded else None)
        self._known[relation.name] = relation, windows, folded
        return replace(stage, relation=relation)

    def _of(self, name: str) -> tuple[Relation, Windows, bool]:
        """Return a relation, its windows, and whether its rows are folded."""
        view = None if name in self._known else self.view(name)
        if view is not None:
            self.closed(view.stages)
        if name not in self._known:
            relation = self.relation(name)
            assert relation is not None, "what is read is declared"
            windows = {} if relation.stream is None else {relation.stream.event_time: ""}
            self._known[name] = relation, windows, False
        return self._known[name]


def _made(operator: Operator, made: Relation, inputs: Sequence[tuple[Relation, Windows]]) -> dict[str, str]:
    """Return the windows of what an operator makes."""
    columns, windows = [column.name for column in made.columns], inputs[0][1]
    match operator:
        case Map():
            units = [_unit(item, windows) for item in operator.items]
            return {name: unit for name, unit in zip(columns, units, strict=True) if unit is not None}
        case GroupBy() | Fold():
            by = zip(columns, operator.by, strict=False)
            return {name: windows[column] for name, column in by if column in windows}
        case TopK():
            return {column: windows[column] for column in operator.by if column in windows}
        case Joined():
            return _joined(operator, columns, inputs)
        case Union():
            return _united(columns, inputs)


def _unit(item: Expression, windows: Windows) -> str | None:
    match item:
        case ColumnOf():
            return windows.get(item.name)
        case Truncated():
            inner = _unit(item.operand, windows)
            return None if inner is None else _longer(inner, item.unit)
    return None


def _joined(operator: Joined, columns: Sequence[str], inputs: Sequence[tuple[Relation, Windows]]) -> dict[str, str]:
    (left, of_left), (right, of_right) = inputs
    made = {}
    for one, other in operator.equal:
        if one in of_left and other in of_right:
            unit = _longer(of_left[one], of_right[other])
            made[columns[left.index(one)]] = unit
            if not operator.outer:
                made[columns[len(left.columns) + right.index(other)]] = unit
    return made


def _united(columns: Sequence[str], inputs: Sequence[tuple[Relation, Windows]]) -> dict[str, str]:
    made = {}
    for i, name in enumerate(columns):
        units = [windows.get(relation.columns[i].name) for relation, windows in inputs]
        known = [unit for unit in units if unit is not None]
        if len(known) == len(units):
            made[name] = max(known, key=_length)
    return made


def _shortest(windows: Windows) -> Closing | None:
    found = [Closing(column, unit) for column, unit in windows.items() if unit]
    return min(found, key=lambda each: WINDOWS[each.unit], default=None)


def _longer(one: str, other: str) -> str:
    return max(one, other, key=_length)


def _length(unit: str) -> int:
    return WINDOWS[unit] if unit else 0
