"""Which columns of a view over a stream say in which window of event time a row is, and how long the window is.

    SELECT g, DATE_TRUNC('hour', ts) AS hour, MIN(x) FROM s GROUP BY g, DATE_TRUNC('hour', ts)      {1: "hour"}
    SELECT DATE_TRUNC('day', hour) AS day, COUNT(*) FROM v GROUP BY DATE_TRUNC('day', hour)         {0: "day"}

A row is final when its shortest window has ended and all events of it have come. A table has no windows, so what is
joined or united with one has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidewire.verification.input.declared import Tables
from tidewire.verification.input.declared_views import View, Views
from tidewire.verification.input.view_plan import Call, Expression, Field, From, Named, Select

UNITS = {"": 0, "minute": 60 * 10**6, "hour": 3_600 * 10**6, "day": 86_400 * 10**6}
"""How long windows are, in microseconds; '' is the event time itself."""
Windows = Mapping[int, str]
"""Units by the place of the column."""


def closing_of(view: View, views: Views, tables: Tables) -> tuple[int, int] | None:
    """Return the place of the column that closes a view's rows, and the length of its windows; None if none does."""
    return _shortest(_windows(view, views, tables))


def fold_window(view: View, tables: Tables) -> tuple[Expression, int] | None:
    """Return of a view that groups a stream the window that it groups by, and its length; None where there is none."""
    [select] = view.selects
    assert select.group is not None and isinstance(select.source, Named)
    found = _shortest(_grouped(select, _of(select.source.name, {}, tables)))
    return None if found is None else (select.group.by[found[0]], found[1])


def held_of(view: View, views: Views, tables: Tables) -> int | None:
    """Return how long after the start of a window the first rows of it go, because they are old; None if none does.

    Those of a window by which the stream is grouped go when its `keep` is over; a longer window is made of several.
    """
    held = [held_of(views[name], views, tables) for name in view.reads if name in views]
    streams = [tables[name].stream for name in view.reads if name in tables]
    keeps = [stream.keep for stream in streams if stream is not None and stream.keep is not None]
    found = fold_window(view, tables) if keeps else None
    return min(
        (one for one in [*held, *(found and keep + found[1] for keep in keeps)] if one is not None), default=None
    )


def _windows(view: View, views: Views, tables: Tables) -> Windows:
    """Return those of a view: of a UNION ALL the places at which all have one, which is the longest of these."""
    first, *others = [_selected(select, views, tables) for select in view.selects]
    units = {place: [unit, *(other.get(place) for other in others)] for place, unit in first.items()}
    return _known({place: None if None in some else _longest(some) for place, some in units.items()})


def _selected(select: Select, views: Views, tables: Tables) -> Windows:
    found = _source(select.source, views, tables)
    if select.group is not None:
        found = _grouped(select, found)
    if select.ranking is not None:
        by = [one.place for one in select.ranking.by if isinstance(one, Field)]
        found = {place: unit for place, unit in found.items() if place in by}
    return _known({place: _unit(item, found) for place, item in enumerate(select.items)})


def _source(source: From, views: Views, tables: Tables) -> Windows:
    """Return those of what is read: of a join the columns of both sides that are equal, be they windows in each."""
    if isinstance(source, Named):
        return _of(source.name, views, tables)
    left, right = _source(source.left, views, tables), _source(source.right, views, tables)
    made: dict[int, str] = {}
    for one, other in source.equal:
        if one in left and other in right:
            made[one] = _longest([left[one], right[other]])
            made |= {} if source.outer else {_width(source.left) + other: made[one]}
    return made


def _width(source: From) -> int:
    return source.width if isinstance(source, Named) else _width(source.left) + source.right.width


def _longest(units: Iterable[str | None]) -> str:
    return max((unit for unit in units if unit is not None), key=lambda unit: UNITS[unit])


def _of(name: str, views: Views, tables: Tables) -> Windows:
    if name in views:
        return _windows(views[name], views, tables)
    stream = tables[name].stream if name in tables else None
    return {} if stream is None else {stream.place: ""}


def _grouped(select: Select, found: Windows) -> Windows:
    assert select.group is not None
    return _known({place: _unit(one, found) for place, one in enumerate(select.group.by)})


def _known(units: Mapping[int, str | None]) -> Windows:
    return {place: unit for place, unit in units.items() if unit is not None}


def _unit(expression: Expression, windows: Windows) -> str | None:
    if isinstance(expression, Field):
        return windows.get(expression.place)
    if isinstance(expression, Call) and expression.operator.startswith("trunc-"):
        inner, own = _unit(expression.operands[0], windows), expression.operator.removeprefix("trunc-")
        return None if inner is None else _longest([inner, own])
    return None


def _shortest(windows: Windows) -> tuple[int, int] | None:
    found = [(place, UNITS[unit]) for place, unit in windows.items() if unit]
    return min(found, key=lambda one: one[1], default=None)
