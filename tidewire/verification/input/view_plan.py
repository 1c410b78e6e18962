"""What a view's SELECT says, with all names found: plain data that `recompute/view_versions.py` computes.

    SELECT f.dest, MIN(f.fare) AS low FROM flight f WHERE f.open GROUP BY f.dest HAVING COUNT(*) > 1

    source   flight                                rows      (flight, dest, fare, open)
    where    field 3
    group    by field 1; min of field 2, count     rows      (dest, min, count)
    having   field 2 > 1
    items    field 0, field 1

Expressions are over the row of the step that they stand in. Types are DuckDB's names; HUGEINT is any whole number that
was computed, and a computed DECIMAL has all its digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FLOATS = ("FLOAT", "DOUBLE")
INTEGERS = ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the row, by place."""

    place: int
    type: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as a value of Python; None is NULL."""

    value: Any
    type: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator: `+ - * coalesce trunc-minute trunc-hour trunc-day = <> < <= > >= in and or not null`.

    Of ranges `&& @> <@`, whose right side is a constant, and `lower upper empty`.
    """

    operator: str
    operands: tuple[Expression, ...]
    type: str


Expression = Field | Literal | Call


@dataclass(frozen=True, slots=True)
class Named:
    """All rows of a table or view, by lower-case name: its first `width` columns, as it may have got more since."""

    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of `left` beside those of `right`.

    `equal` are pairs of places, each in its own side; `also` is over the row of both. With `outer` a left row without
    partner stands beside NULLs. With `lookup` the key of the left row is that of the pair.
    """

    left: From
    right: Named
    equal: tuple[tuple[int, int], ...]
    also: Expression | None
    outer: bool
    lookup: bool


From = Named | Join


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`kind` is count, sum, avg, min, max or latest; `of` is None for COUNT(*).

    LATEST is of the row with the greatest `by`: the first of these is not NULL, in the others NULL is the least.
    """

    kind: str
    of: Expression | None
    by: tuple[Expression, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Group:
    """Makes rows of the values of `by`, then those of `aggregates`; without `by` there is always one."""

    by: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A member of ORDER BY."""

    of: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """Puts its place, from 1 on, behind each row, by groups of equal `by`; rows behind `most` are left out."""

    by: tuple[Expression, ...]
    order: tuple[Order, ...]
    most: int | None


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT; its steps in the order in which they are done."""

    source: From
    where: Expression | None
    group: Group | None
    having: Expression | None
    ranking: Ranking | None
    qualify: Expression | None
    items: tuple[Expression, ...]


def scale_of(type: str) -> int:
    """Return the digits behind the point of a DECIMAL, else 0."""
    return int(type[:-1].split(",")[1]) if type.startswith("DECIMAL") else 0
