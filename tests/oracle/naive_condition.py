"""Conditions of rows by SQL's logic of three values, one row at a time: True, False, and None for unknown.

A condition is written as SQL by `sql`, and judged in plain Python by `of`; only rows for which it is True are meant.
Rows are dicts of Python's own values, in which texts compare by code point.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Truth = bool | None
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_MOMENTS = ("day", "at", '"at"')
"""Columns of dates and times, whose constants are texts in SQL."""
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def literal(value: Any) -> str:
    """Return a value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Comparison:
    """`column operator value`, or with the constant on the left."""

    column: str
    operator: str
    value: Any
    mirrored: bool = False

    def sql(self) -> str:
        if self.mirrored:
            return f"{literal(self.value)} {_MIRRORED[self.operator]} {self.column}"
        return f"{self.column} {self.operator} {literal(self.value)}"

    def of(self, row: Mapping[str, Any]) -> Truth:
        value = row[self.column]
        return None if value is None or self.value is None else _COMPARE[self.operator](value, self.value)


@dataclass(frozen=True)
class In:
    """`column [NOT] IN (values)`."""

    column: str
    values: tuple[Any, ...]
    negated: bool = False

    def sql(self) -> str:
        return f"{self.column} {'NOT ' * self.negated}IN ({', '.join(map(literal, self.values))})"

    def of(self, row: Mapping[str, Any]) -> Truth:
        found = _any([Comparison(self.column, "=", value).of(row) for value in self.values])
        return _not(found) if self.negated else found


@dataclass(frozen=True)
class Between:
    """`column [NOT] BETWEEN low AND high`."""

    column: str
    low: Any
    high: Any
    negated: bool = False

    def sql(self) -> str:
        return f"{self.column} {'NOT ' * self.negated}BETWEEN {literal(self.low)} AND {literal(self.high)}"

    def of(self, row: Mapping[str, Any]) -> Truth:
        sides = [Comparison(self.column, ">=", self.low), Comparison(self.column, "<=", self.high)]
        found = _all([side.of(row) for side in sides])
        return _not(found) if self.negated else found


@dataclass(frozen=True)
class Like:
    """`column [NOT] LIKE 'text%'`, or without the sign: the text itself."""

    column: str
    text: str
    prefix: bool = True
    negated: bool = False

    def sql(self) -> str:
        return f"{self.column} {'NOT ' * self.negated}LIKE {literal(self.text + '%' * self.prefix)}"

    def of(self, row: Mapping[str, Any]) -> Truth:
        value = row[self.column]
        if value is None:
            return None
        return bool(value.startswith(self.text) if self.prefix else value == self.text) is not self.negated


@dataclass(frozen=True)
class IsNull:
    """`column IS [NOT] NULL`: never unknown."""

    column: str
    negated: bool = False

    def sql(self) -> str:
        return f"{self.column} IS {'NOT ' * self.negated}NULL"

    def of(self, row: Mapping[str, Any]) -> Truth:
        return (row[self.column] is None) is not self.negated


@dataclass(frozen=True)
class Flag:
    """A BOOLEAN column by itself."""

    column: str

    def sql(self) -> str:
        return self.column

    def of(self, row: Mapping[str, Any]) -> Truth:
        value: Truth = row[self.column]
        return value


@dataclass(frozen=True)
class Not:
    """`NOT (side)`."""

    side: Condition

    def sql(self) -> str:
        return f"NOT ({self.side.sql()})"

    def of(self, row: Mapping[str, Any]) -> Truth:
        return _not(self.side.of(row))


@dataclass(frozen=True)
class Both:
    """Sides with AND between them."""

    sides: tuple[Condition, ...]

    def sql(self) -> str:
        return " AND ".join(f"({side.sql()})" for side in self.sides)

    def of(self, row: Mapping[str, Any]) -> Truth:
        return _all([side.of(row) for side in self.sides])


@dataclass(frozen=True)
class Either:
    """Sides with OR between them."""

    sides: tuple[Condition, ...]

    def sql(self) -> str:
        return " OR ".join(f"({side.sql()})" for side in self.sides)

    def of(self, row: Mapping[str, Any]) -> Truth:
        return _any([side.of(row) for side in self.sides])


Condition = Comparison | In | Between | Like | IsNull | Flag | Not | Both | Either


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _all(truths: Sequence[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _any(truths: Sequence[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


Domains = Mapping[str, Sequence[Any]]
"""By column, constants that may stand beside it; NULL may as well."""


def random_condition(choose: random.Random, domains: Domains, depth: int = 3) -> Condition:
    """Return any condition over the columns of `domains`."""
    if depth and choose.random() < 0.6:
        if choose.random() < 0.3:
            return Not(random_condition(choose, domains, depth - 1))
        sides = tuple(random_condition(choose, domains, depth - 1) for _ in range(choose.choice([2, 2, 3])))
        return choose.choice([Both, Either])(sides)
    return random_leaf(choose, domains)


def random_leaf(choose: random.Random, domains: Domains) -> Condition:
    """Return any condition of one column."""
    column = choose.choice(list(domains))
    constants, negated, kind = [*domains[column], None], choose.random() < 0.4, choose.random()
    value = choose.choice(constants)
    if kind < 0.15:
        return IsNull(column, negated)
    if kind < 0.35:
        return In(column, tuple(choose.choice(constants) for _ in range(choose.randrange(1, 4))), negated)
    if isinstance(domains[column][0], bool):
        return Flag(column) if kind < 0.6 else Comparison(column, choose.choice(["=", "<>"]), value)
    if kind < 0.5:
        return Between(column, value, choose.choice(constants), negated)
    if kind < 0.7 and isinstance(value, str) and column not in _MOMENTS:
        return Like(column, value, choose.random() < 0.8, negated)
    return Comparison(column, choose.choice(list(_COMPARE)), value, choose.random() < 0.2)
