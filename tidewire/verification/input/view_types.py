"""Which types the columns of views have that are computed, by DuckDB's names.

whole numbers   HUGEINT, as nothing overflows
DECIMAL         the digits behind the point of + - are the most of both sides, of * those of both
DOUBLE          what a DOUBLE or REAL takes part in
"""

from __future__ import annotations

from collections.abc import Sequence

from tidewire.verification.input.view_plan import FLOATS, INTEGERS, scale_of
from tidewire.verification.input.view_source import NoView


def arithmetic_type(name: str, left: str, right: str) -> str:
    """Return the type of a sum, a difference or a product."""
    types = (left, right)
    if not all(one in FLOATS or one in INTEGERS or one == "NULL" or one.startswith("DECIMAL") for one in types):
        raise NoView(f"{left} {name} {right}")
    if any(one in FLOATS for one in types):
        return "DOUBLE"
    if not any(one.startswith("DECIMAL") for one in types):
        return "HUGEINT"
    scales = [scale_of(one) for one in types]
    return decimal_type(sum(scales) if name == "*" else max(scales))


def common_type(types: Sequence[str]) -> str:
    """Return the type that holds values of all of these."""
    known = {type for type in types if type != "NULL"}
    if len(known) <= 1:
        return min(known, default="NULL")
    if known == {"DATE", "TIMESTAMP"}:
        return "TIMESTAMP"
    if any(type in FLOATS for type in known):
        return "DOUBLE"
    if any(type.startswith("DECIMAL") for type in known):
        return decimal_type(max(map(scale_of, known)))
    if known <= set(INTEGERS):
        return "HUGEINT"
    raise NoView(f"{' and '.join(sorted(known))} together")


def decimal_type(scale: int) -> str:
    """Return the type of a number with so many digits behind the point."""
    return f"DECIMAL(38,{scale})"
