"""Which columns of a view over a stream say in which window of event time a row is, and how long the window is.

    SELECT g, DATE_TRUNC('hour', ts) AS hour, MIN(x) FROM s GROUP BY g, DATE_TRUNC('hour', ts)      {1: "hour"}
    SELECT DATE_TRUNC('day', hour) AS day, COUNT(*) FROM v GROUP BY DATE_TRUNC('day', hour)         {0: "day"}

A row is final when its shortest window has ended and all events of it have come.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidewire.verification.input.declared import Tables
from tidewire.verification.input.declared_views import View, Views
from tidewire.verification.input.view_plan import Call, Expression, Field, Named, Select

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
    [select] = view.selects
    assert isinstance(select.source, Named)
    name = select.source.name
    if name in views:
        return held_of(views[name], views, tables)
    stream, found = tables[name].stream if name in tables else None, fold_window(view, tables)
    return None if stream is None or stream.keep is None or found is None else stream.keep + found[1]


def is_joined(view: View, views: Views) -> bool:
    """Whether a view reads several relations anywhere, whose windows may close together."""
    several = len(view.selects) > 1 or not isinstance(view.selects[0].source, Named)
    return several or any(is_joined(views[name], views) for name in view.reads if name in views)


def _windows(view: View, views: Views, tables: Tables) -> Windows:
    [select] = view.selects
    assert isinstance(select.source, Named)
    found = _of(select.source.name, views, tables)
    if select.group is not None:
        found = _grouped(select, found)
    if select.ranking is not None:
        by = [one.place for one in select.ranking.by if isinstance(one, Field)]
        found = {place: unit for place, unit in found.items() if place in by}
    return _known({place: _unit(item, found) for place, item in enumerate(select.items)})


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
        return None if inner is None else max(inner, own, key=lambda unit: UNITS[unit])
    return None


def _shortest(windows: Windows) -> tuple[int, int] | None:
    found = [(place, UNITS[unit]) for place, unit in windows.items() if unit]
    return min(found, key=lambda one: one[1], default=None)
