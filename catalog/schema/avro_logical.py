"""Which logical type an Avro type has, and the scale of a decimal.

One that does not fit its type (a float `date`), or a decimal that does not say its digits, counts as none: the
specification of Avro has readers ignore it ("Logical Types").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_FITTING = {
    "date": frozenset(("int",)),
    "decimal": frozenset(("bytes", "fixed")),
    **{
        f"{local}timestamp-{unit}": frozenset(("long",))
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    },
}


def logical_type(schema: Mapping[str, Any]) -> tuple[str, int]:
    """Return the logical type, '' of one that does not fit, and the scale of a decimal, else 0."""
    logical, kind = schema.get("logicalType"), schema["type"]
    if not isinstance(logical, str) or kind not in _FITTING.get(logical, (kind,)):
        return "", 0
    if logical != "decimal":
        return logical, 0
    return (logical, schema.get("scale", 0)) if _says_digits(kind, schema) else ("", 0)


def _says_digits(kind: str, decimal: Mapping[str, Any]) -> bool:
    """Return whether precision and scale are those of a decimal, and a `fixed` can hold the precision."""
    precision, scale, size = decimal.get("precision"), decimal.get("scale", 0), decimal.get("size")
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision > 0:
        return False
    if kind != "fixed":
        return True
    return type(size) is int and size > 0 and precision <= math.floor((8 * size - 1) * math.log10(2))
