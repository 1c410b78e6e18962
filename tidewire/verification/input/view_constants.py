"""Constants of a view's query as values: of their own type, or of the type of what they are compared with.

price > 1.5          DECIMAL, exact; beside a DOUBLE or REAL the nearest one
day = '2026-03-01'   a text is a value of the column's type: a date, a number, a range
"""

from __future__ import annotations

import datetime as dt

from tidewire.verification.input.query_tree import Node
from tidewire.verification.input.view_plan import Expression, Literal
from tidewire.verification.input.view_source import NoView
from tidewire.verification.input.view_types import decimal_type
from tidewire.verification.records.ranges import canonical, is_range
from tidewire.verification.records.rounding import nearest_real, number_of


def literal(node: Node) -> Literal:
    """Return the constant that DuckDB's tree has; a number is exact."""
    kind, text = node["kind"], node["text"]
    if kind == "NULL_LITERAL":
        return Literal(None, "NULL")
    if kind == "BOOLEAN":
        return Literal(text.lower() == "true", "BOOLEAN")
    if kind == "STRING":
        return Literal(text, "VARCHAR")
    return _exact(text)


def _exact(text: str) -> Literal:
    """Return the number that a text is, with or without an exponent."""
    number = number_of(text)
    scale = max(-int(number.as_tuple().exponent), 0)
    return Literal(number, decimal_type(scale)) if scale else Literal(int(number), "HUGEINT")


def typed(constant: Expression, type: str) -> Expression:
    """Return a text as a constant of another type, as it is written in DATE '2026-03-01'."""
    if not isinstance(constant, Literal):
        raise NoView(f"a cast to {type}")
    value = constant.value
    if not isinstance(value, str) or type == "VARCHAR":
        return constant
    if is_range(type):
        return Literal(canonical(type, value), type)
    if type in ("DATE", "TIMESTAMP"):
        moment = dt.datetime.fromisoformat(value.strip())
        whole = type == "DATE" and moment.time() == dt.time()
        return Literal(moment.date() if whole else moment, "DATE" if whole else "TIMESTAMP")
    if type == "BOOLEAN":
        return Literal(value.strip().lower() in ("true", "t", "yes", "on", "1"), type)
    return Literal(nearest_real(value), type) if type == "FLOAT" else (
        Literal(float(value), type) if type == "DOUBLE" else _exact(value.strip())
    )  # fmt: skip


def beside(other: Expression, constant: Expression) -> Expression:
    """Return a constant as what it is compared with has it."""
    if not isinstance(constant, Literal) or isinstance(other, Literal) or constant.value is None:
        return constant
    if isinstance(constant.value, str):
        return typed(constant, other.type)
    if constant.type == "DATE" and other.type == "TIMESTAMP":
        return Literal(dt.datetime.combine(constant.value, dt.time()), "TIMESTAMP")
    if other.type == "FLOAT" and not isinstance(constant.value, bool):
        return Literal(nearest_real(str(constant.value)), "FLOAT")
    if other.type == "DOUBLE" and not isinstance(constant.value, bool):
        return Literal(float(constant.value), "DOUBLE")
    return constant
