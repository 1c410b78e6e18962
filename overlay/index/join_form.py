"""Forms: what those subscriptions to a join of two tables have in common that are found by one index.

    filing f JOIN quote q    WHERE f.kind = '8-K' AND f.size > 9 AND q.price BETWEEN 5 AND 7 AND q.venue <> 3

    form       equal (kind), ()      range size, price        columns only: subscriptions of one form are asked at once
    constants  equal ('8-K'), ()     (10, max), (5, 7)        a point of the form's index
    further    q.venue in (min, 2), (4, max)                  looked at where the rest holds

Of each table a form has the columns that are fixed to one value, whatever their types are, and the first other one that
is held to an interval of order codes. What else is compared is *further*, value sets of order codes or NULL alone. Who
does not fit is followed as filters of a table are: joins of three tables, or of one with itself; OR within a table
(several boxes); texts held to more than one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, join_of_name, place_of
from catalog.types.order_key import after
from state.order_code import INT64_MAX, INT64_MIN

Value = int | bytes
Pair = tuple[int, int]
EVERYTHING: Pair = (INT64_MIN, INT64_MAX)


class Form(NamedTuple):
    """See the module's header; both are by position of the table, and name the columns as the table does."""

    join: str
    equal: tuple[tuple[str, ...], tuple[str, ...]]
    range: tuple[str | None, str | None]

    @property
    def attributes(self) -> list[int]:
        """Which of these an index of the form has: equal values of table 0 and 1, ranges of table 0 and 1."""
        there = [*map(bool, self.equal), *(name is not None for name in self.range)]
        return [number for number, has in enumerate(there) if has] or [0]


class Further(NamedTuple):
    """A further condition: the position of a table, a column of it, and what values it may have."""

    position: int
    column: str
    values: ValueSet


class Constants(NamedTuple):
    """What one subscription says in a form: values of equal columns and the range, by position, and what is further."""

    equal: tuple[tuple[Value, ...], tuple[Value, ...]]
    range: tuple[Pair, Pair]
    further: tuple[Further, ...]


def fit(shape: FilterShape, terms: bytes) -> tuple[Form, Constants] | None:
    """Return the form of a subscription, and its constants; None if it does not fit. Cost: 5 us."""
    join = join_of_two(shape.relation)
    if join is None or shape.outputs:
        return None
    boxes = decode_terms(terms)
    if len(boxes) != 1:
        return None
    return _fit(shape.relation, [(shape.tested[place], values) for place, values in boxes[0].items()])


def join_of_two(relation: str) -> Join | None:
    """Return the join that is called so if it is of two different tables, else None."""
    join = join_of_name(relation)
    return None if join is None or len(set(join.tables)) != 2 or len(join.tables) != 2 else join


def _fit(relation: str, box: Sequence[tuple[str, ValueSet]]) -> tuple[Form, Constants] | None:
    equal: tuple[dict[str, Value], dict[str, Value]] = {}, {}
    ranges: list[tuple[str, Pair] | None] = [None, None]
    further = list[Further]()
    for name, values in box:
        position, column = place_of(name)
        value, interval = _value(values), _interval(values)
        if value is not None:
            equal[position][column] = value
        elif interval is not None and ranges[position] is None:
            ranges[position] = column, interval
        elif any(isinstance(bound, bytes) for pair in values.intervals for bound in pair):
            return None
        else:
            further.append(Further(position, column, values))
    first, second = equal
    left, right = ranges
    form = Form(relation, (tuple(first), tuple(second)), (left and left[0], right and right[0]))
    spans = left[1] if left else EVERYTHING, right[1] if right else EVERYTHING
    return form, Constants((tuple(first.values()), tuple(second.values())), spans, tuple(further))


def _value(values: ValueSet) -> Value | None:
    """Return the one value of a set, None if it has others or NULL."""
    if values.null or len(values.intervals) != 1:
        return None
    lo, hi = values.intervals[0]
    if isinstance(lo, bytes) and isinstance(hi, bytes):
        return lo if hi == after(lo) else None
    return lo if lo == hi else None


def _interval(values: ValueSet) -> Pair | None:
    """Return the one interval of order codes of a set, None if it has others or NULL."""
    if values.null or len(values.intervals) != 1:
        return None
    lo, hi = values.intervals[0]
    return (lo, hi) if isinstance(lo, int) and isinstance(hi, int) else None
