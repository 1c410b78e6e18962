"""Tables as dicts of Python values, and range questions answered by looking at every row.

Values are Python's own: int, str, Decimal, float, None. An answer is told exactly (`exact`, in which AVG is a fraction
and a sum of doubles is rounded nowhere) and as a subscriber holds it (`rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Output = tuple[str, str | None]


@dataclass(frozen=True)
class Question:
    """`SELECT outputs FROM t WHERE equal... AND lo <= range <= hi`; None bounds are open, `strict` ones exclusive."""

    outputs: tuple[Output, ...]
    equal: tuple[tuple[str, Any], ...] = ()
    range: str | None = None
    lo: Any = None
    hi: Any = None
    strict: bool = False

    def sql(self, table: str) -> str:
        conditions = [f"{name} = {literal(value)}" for name, value in self.equal]
        below, above = ("<", ">") if self.strict else ("<=", ">=")
        if self.lo is not None:
            conditions.append(f"{self.range} {above} {literal(self.lo)}")
        if self.hi is not None:
            conditions.append(f"{self.range} {below} {literal(self.hi)}")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(written(output) for output in self.outputs)} FROM {table}{where}"

    def meets(self, row: Row) -> bool:
        if any(row[name] is None or row[name] != value for name, value in self.equal):
            return False
        if self.lo is None and self.hi is None:
            return True
        x = row[self.range]
        if x is None or (self.strict and x in (self.lo, self.hi)):
            return False
        return (self.lo is None or x >= self.lo) and (self.hi is None or x <= self.hi)


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

    def exact(self, question: Question) -> Any:
        """Return the answer: a value for each output, or the set of values of a DISTINCT."""
        chosen = [row for row in self.rows.values() if question.meets(row)]
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


def shown(question: Question, exact: Any) -> list[list[Any]]:
    """Return an exact answer as rows of JSON values; those of a DISTINCT in no order."""
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
