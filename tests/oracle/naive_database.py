"""Tables as dicts of Python values, and questions of every family answered by looking at every row.

Values are Python's own: int, str, Decimal, float, None. An answer is told exactly (`exact`, in which AVG is a fraction
and a sum of doubles is rounded nowhere) and as a subscriber holds it (`rows`). What a subscriber is told of it hangs on
nothing but the answers after each publication: who asks again behind each one knows when something changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from tests.oracle.naive_condition import Condition

Row = dict[str, Any]
Output = tuple[str, str | None]


@dataclass(frozen=True)
class Question:
    """`SELECT outputs FROM t WHERE equal... AND lo <= range <= hi`; None bounds are open, `strict` ones exclusive.

    `condition` is any other WHERE, in place of these.
    """

    outputs: tuple[Output, ...]
    equal: tuple[tuple[str, Any], ...] = ()
    range: str | None = None
    lo: Any = None
    hi: Any = None
    strict: bool = False
    condition: Condition | None = None

    def sql(self, table: str) -> str:
        if self.condition is not None:
            return f"SELECT {', '.join(map(written, self.outputs))} FROM {table} WHERE {self.condition.sql()}"
        conditions = [f"{name} = {literal(value)}" for name, value in self.equal]
        below, above = ("<", ">") if self.strict else ("<=", ">=")
        if self.lo is not None:
            conditions.append(f"{self.range} {above} {literal(self.lo)}")
        if self.hi is not None:
            conditions.append(f"{self.range} {below} {literal(self.hi)}")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(written(output) for output in self.outputs)} FROM {table}{where}"

    def meets(self, row: Row) -> bool:
        if self.condition is not None:
            return self.condition.of(row) is True
        if any(row[name] is None or row[name] != value for name, value in self.equal):
            return False
        if self.lo is None and self.hi is None:
            return True
        x = row[self.range]
        if x is None or (self.strict and x in (self.lo, self.hi)):
            return False
        return (self.lo is None or x >= self.lo) and (self.hi is None or x <= self.hi)


@dataclass(frozen=True)
class Order:
    """A column of ORDER BY; NULL is the greatest of all where `nulls` says nothing else."""

    column: str
    descending: bool = False
    nulls: str = ""

    def sql(self) -> str:
        return f"{self.column}{' DESC' if self.descending else ''}{f' NULLS {self.nulls}' if self.nulls else ''}"

    def compare(self, one: Row, other: Row) -> int:
        a, b = one[self.column], other[self.column]
        if a is None or b is None:
            first = self.nulls == "FIRST" or (not self.nulls and self.descending)
            return ((b is None) - (a is None)) * (1 if first else -1)
        return ((a > b) - (a < b)) * (-1 if self.descending else 1)


@dataclass(frozen=True)
class RowsQuestion:
    """`SELECT shown FROM t WHERE condition`, a bag; with `order` and `LIMIT limit` a list. `*` must be written out."""

    shown: tuple[str, ...]
    condition: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int = 0

    def sql(self, table: str) -> str:
        where = "" if self.condition is None else f" WHERE {self.condition.sql()}"
        best = f" ORDER BY {', '.join(one.sql() for one in self.order)} LIMIT {self.limit}" if self.order else ""
        return f"SELECT {', '.join(self.shown)} FROM {table}{where}{best}"

    def meets(self, row: Row) -> bool:
        return self.condition is None or self.condition.of(row) is True

    def of(self, chosen: Sequence[Row]) -> Any:
        """Return the answer from the rows that meet the condition: a Counter of tuples, or a tuple of them."""
        if self.order:
            chosen = sorted(chosen, key=cmp_to_key(self._compare))[: self.limit]
        rows = [tuple(row[column] for column in self.shown) for row in chosen]
        return tuple(rows) if self.order else Counter(rows)

    def _compare(self, one: Row, other: Row) -> int:
        return next((sign for order in self.order if (sign := order.compare(one, other))), 0)


def written(output: Output) -> str:
    function, column = output
    match function:
        case "distinct":
            return f"DISTINCT {column}"
        case "count_distinct":
            return f"COUNT(DISTINCT {column})"
        case _:
            return f"{function.upper()}({column or '*'})"


def literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


@dataclass
class NaiveDatabase:
    """One table: primary key -> row."""

    rows: dict[Any, Row] = field(default_factory=dict)

    def exact(self, question: Question | RowsQuestion) -> Any:
        """Return the answer: a value for each output, the set of values of a DISTINCT, or rows."""
        chosen = [row for row in self.rows.values() if question.meets(row)]
        if isinstance(question, RowsQuestion):
            return question.of(chosen)
        function, column = question.outputs[0]
        if function == "distinct":
            return frozenset(row[column] for row in chosen)
        return tuple(_output(output, chosen) for output in question.outputs)


def _output(output: Output, chosen: Sequence[Row]) -> Any:
    function, column = output
    if column is None:
        return len(chosen)
    known = [row[column] for row in chosen if row[column] is not None]
    if function == "count":
        return len(known)
    if function == "count_distinct":
        return len(set(known))
    if not known:
        return None
    if function in ("min", "max"):
        return (min if function == "min" else max)(known)
    total = sum(map(Fraction, known), Fraction(0))
    return total if function == "sum" else total / len(known)


def shown(question: Question | RowsQuestion, exact: Any) -> list[list[Any]]:
    """Return an exact answer as rows of JSON values; those of a DISTINCT and of a bag in no order."""
    if isinstance(question, RowsQuestion):
        rows = exact if question.order else exact.elements()
        return [[_json(value) for value in row] for row in rows]
    if isinstance(exact, frozenset):
        return [[_json(value)] for value in exact]
    return [[_json(value, output) for value, output in zip(exact, question.outputs, strict=True)]]


def _json(value: Any, output: Output = ("min", None)) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Fraction):
        function, column = output
        if function == "avg" or column == "d":
            return _nearest(value)
        return (
            f"{Decimal(value.numerator * (100 // value.denominator)).scaleb(-2):.2f}" if column == "w" else int(value)
        )
    return value


def _nearest(value: Fraction) -> float | str:
    try:
        return float(value) + 0.0
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _cents(amount: int) -> str:
    """Return an amount as a DECIMAL with two places, exactly: sums may have more digits than a context keeps."""
    whole, rest = divmod(abs(amount), 100)
    return f"{'-' if amount < 0 else ''}{whole}.{rest:02d}"
