"""GROUP BY over versions: what each group is between any two moments at which a version of it begins or ends.

    a 3 [2, 9)   a 5 [4, 7)   b 1 [5, ..)         MIN, COUNT by the letter
    a 3 1 [2, 4)   a 3 2 [4, 7)   a 3 1 [7, 9)   b 1 1 [5, ..)

Each aggregate is a sweep over the versions of the group (`recompute/sweep.py`): the extremum of those that hold, their
number, their sum in whole units. *Cost*: O(m log m) for a group of m versions and each aggregate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from tidewire.verification.input.view_plan import FLOATS, Aggregate, Group, scale_of
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.ranked_column import nearest
from tidewire.verification.recompute.sweep import running_extremum, running_totals
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_expressions import evaluator, finite, row_of
from tidewire.verification.records.rounding import EXACT

BEGINNING = 0
"""Before the first record: where what is always there begins."""
_FINEST = 2**1074
Series = Iterator[tuple[int, Any]]
"""(moment, value from there on), ascending."""


def grouped(versions: Iterable[Version], group: Group) -> Iterator[Version]:
    """Yield the versions of the groups' rows; the key of a group is its values."""
    by = row_of(group.by)
    members: dict[tuple[Any, ...], list[Version]] = defaultdict(list)
    if not group.by:
        members[()] = []
    for version in versions:
        members[by(version.row)].append(version)
    for values, its in members.items():
        its.sort(key=lambda one: one.start)
        yield from _of_group(values, its, group)


def _of_group(values: tuple[Any, ...], members: Sequence[Version], group: Group) -> Iterator[Version]:
    series = [_count(members), *(_series(aggregate, members) for aggregate in group.aggregates)]
    state: list[Any] = [0, *(0 if aggregate.kind == "count" else None for aggregate in group.aggregates)]
    changes: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    for i, one in enumerate(series):
        for moment, value in one:
            changes[moment].append((i, value))
    since = BEGINNING
    for moment in [*sorted(changes), FOREVER]:
        if since < moment and (state[0] or not group.by):
            yield Version(since, moment, values, (*values, *state[1:]))
        for i, value in changes.get(moment, ()):
            state[i] = value
        since = moment


def _count(members: Sequence[Version]) -> Series:
    starts, ends = [one.start for one in members], [one.end for one in members]
    return ((moment, count) for moment, count, _ in running_totals(starts, ends, [0] * len(members)))


def _series(aggregate: Aggregate, members: Sequence[Version]) -> Series:
    """Return when an aggregate may change, and to what; rows in which what it is of is NULL do not count."""
    if aggregate.of is None:
        return _count(members)
    of = evaluator(aggregate.of)
    if aggregate.kind == "latest":
        return _latest(aggregate, of, members)
    there = [(one, value) for one in members if (value := of(one.row)) is not None]
    some = [one for one, _ in there]
    if aggregate.kind == "count":
        return _count(some)
    if aggregate.kind in ("min", "max"):
        return _extremum(some, [value for _, value in there], largest=aggregate.kind == "max")
    return _sums(some, [value for _, value in there], aggregate)


def _extremum(members: Sequence[Version], values: Sequence[Any], *, largest: bool) -> Series:
    known = sorted(set(values))
    rank = {value: place for place, value in enumerate(known)}
    starts, ends = [one.start for one in members], [one.end for one in members]
    moments, ranks = running_extremum(starts, ends, [rank[value] for value in values], largest=largest)
    return ((moment, None if place is None else known[place]) for moment, place in zip(moments, ranks, strict=True))


def _latest(aggregate: Aggregate, of: Callable[[Any], Any], members: Sequence[Version]) -> Series:
    """The value of the last row in an order: of the versions that hold, the last one in the order of all."""
    by, there = row_of(aggregate.by), list[tuple[Any, Version]]()
    for one in members:
        first, *others = by(one.row)
        if first is not None:
            there.append(((first, *((value is not None, 0 if value is None else value) for value in others)), one))
    there.sort(key=lambda entry: entry[0])
    values = [of(one.row) for _, one in there]
    place = {id(one): rank for rank, (_, one) in enumerate(there)}
    some = [one for one in members if id(one) in place]
    starts, ends = [one.start for one in some], [one.end for one in some]
    moments, ranks = running_extremum(starts, ends, [place[id(one)] for one in some], largest=True)
    return ((moment, None if rank is None else values[rank]) for moment, rank in zip(moments, ranks, strict=True))


def _sums(members: Sequence[Version], values: Sequence[Any], aggregate: Aggregate) -> Series:
    assert aggregate.of is not None
    type = aggregate.of.type
    scale = scale_of(type)
    one = _FINEST if type in FLOATS else 10**scale
    starts, ends = [version.start for version in members], [version.end for version in members]
    totals = running_totals(starts, ends, [_units(value, scale) for value in values])
    if aggregate.kind == "avg":
        return ((moment, _double(total, count * one) if count else None) for moment, count, total in totals)
    return ((moment, _total(total, type, scale) if count else None) for moment, count, total in totals)


def _units(value: Any, scale: int) -> int:
    if isinstance(value, float):
        numerator, denominator = value.as_integer_ratio()
        return numerator * (_FINEST // denominator)
    return int(value.scaleb(scale, EXACT)) if isinstance(value, Decimal) else value


def _total(units: int, type: str, scale: int) -> Any:
    if type in FLOATS:
        return _double(units, _FINEST)
    return Decimal(units).scaleb(-scale, EXACT) if type.startswith("DECIMAL") else units


def _double(numerator: int, denominator: int) -> float | None:
    return finite(float(nearest(numerator, denominator)))
