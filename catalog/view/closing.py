"""Which column of a stage says when its rows become final: the start of a window of the event time below.

    trade                       ts is the event time
    Map(symbol, hour of ts)     "hour" is the window of the event time of each row
    Fold(by symbol, hour)       closing: no row of an hour can come or change once the horizon is at the hour's end
    Map, GroupBy, TopK          closing, as far as the column is shown, grouped by, or each list is of one window
    Joined, Union               closing, where both sides close by columns that are equal, or stand at the same place

A window of a window is the longer one. Where several columns are windows, a row is final at the end of the shortest.

Where the stream is kept for a while (`keep`), a Fold lets the rows of a window go so long after its end. What makes
longer windows of these loses the first ones of a window earlier: where that is before its end, its rows never become
final. Of several streams each lets them go by how far it is itself, be the others far behind: so what is made of
several never becomes final where one of them is kept for a while only. A table may change at will, and nothing that is
joined with one becomes final.
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


@dataclass(frozen=True, slots=True)
class _Known:
    """A relation and its windows. folded: whether its rows are.

    held: how long after the start of the window of a Fold below they go, the least; None: never. Of rows that are
    not folded yet, how long after its end.  streams: those below.
    """

    relation: Relation
    windows: Windows
    folded: bool = False
    held: int | None = None
    streams: frozenset[str] = frozenset()


@dataclass(slots=True)
class ClosingColumns:
    """Finds them in the relations that one view reads and makes; `relation` and `view` find what is declared."""

    relation: Callable[[str], Relation | None]
    view: Callable[[str], View | None]
    _known: dict[str, _Known] = field(default_factory=dict)

    def closed(self, stages: Sequence[Stage]) -> tuple[Stage, ...]:
        """Return the stages of a view, each with what closes its rows. *Cost*: all stages below them, once."""
        return tuple([self._closed(stage) for stage in stages])

    def _closed(self, stage: Stage) -> Stage:
        inputs = [self._of(name) for name in stage.operator.inputs]
        windows = _made(stage.operator, stage.relation, [(one.relation, one.windows) for one in inputs])
        folded = isinstance(stage.operator, Fold) or all(one.folded for one in inputs)
        held = min((one.held for one in inputs if one.held is not None), default=None)
        if isinstance(stage.operator, Fold) and held is not None:
            size = _least(windows)
            held = None if size is None else held + size
        streams = frozenset[str]().union(*(one.streams for one in inputs))
        closes = folded and (held is None or len(streams) == 1)
        relation = replace(stage.relation, closing=_shortest(windows, held) if closes else None)
        self._known[relation.name] = _Known(relation, windows, folded, held, streams)
        return replace(stage, relation=relation)

    def _of(self, name: str) -> _Known:
        view = None if name in self._known else self.view(name)
        if view is not None:
            self.closed(view.stages)
        if name not in self._known:
            relation = self.relation(name)
            assert relation is not None, "what is read is declared"
            stream = relation.stream
            self._known[name] = (
                _Known(relation, {})
                if stream is None
                else _Known(relation, {stream.event_time: ""}, held=stream.keep, streams=frozenset([name]))
            )
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


def _shortest(windows: Windows, held: int | None) -> Closing | None:
    """Return the column of the shortest windows, None where there is none, or rows of these go before they are over."""
    found = [Closing(column, unit, held) for column, unit in windows.items() if unit]
    shortest = min(found, key=lambda each: WINDOWS[each.unit], default=None)
    return None if shortest is None or (held is not None and held < WINDOWS[shortest.unit]) else shortest


def _least(windows: Windows) -> int | None:
    """Return how long the shortest windows are."""
    return min((WINDOWS[unit] for unit in windows.values() if unit), default=None)


def _longer(one: str, other: str) -> str:
    return max(one, other, key=_length)


def _length(unit: str) -> int:
    return WINDOWS[unit] if unit else 0
