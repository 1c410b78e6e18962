"""Tables as dicts of Python values, and range questions answered by looking at every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """`SELECT aggregate(measure) FROM t WHERE equal... AND lo <= range <= hi`; None bounds are open."""

    aggregate: str
    measure: str
    equal: tuple[tuple[str, Any], ...] = ()
    range: str | None = None
    lo: Any = None
    hi: Any = None

    def sql(self, table: str) -> str:
        conditions = [f"{name} = {literal(value)}" for name, value in self.equal]
        if self.lo is not None:
            conditions.append(f"{self.range} >= {literal(self.lo)}")
        if self.hi is not None:
            conditions.append(f"{self.range} <= {literal(self.hi)}")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {self.aggregate.upper()}({self.measure}) FROM {table}{where}"


def literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


@dataclass
class NaiveDatabase:
    """One table: primary key -> row."""

    rows: dict[Any, Row] = field(default_factory=dict)

    def answer(self, question: Question) -> Any:
        values = [row[question.measure] for row in self.rows.values() if self._meets(row, question)]
        known = [value for value in values if value is not None]
        return (min if question.aggregate == "min" else max)(known) if known else None

    @staticmethod
    def _meets(row: Row, question: Question) -> bool:
        if any(row[name] is None or row[name] != value for name, value in question.equal):
            return False
        if question.lo is None and question.hi is None:
            return True
        x = row[question.range]
        return x is not None and (question.lo is None or x >= question.lo) and (question.hi is None or x <= question.hi)
