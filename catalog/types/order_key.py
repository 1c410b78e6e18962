"""Order keys: what has no exact 64-bit order code has bytes instead, whose order is that of the values.

    VARCHAR, ranges    the UTF-8 bytes, whose order is that of the code points
    DECIMAL(p > 18)    unscaled value + 2**127, 16 bytes, big-endian

`key + b"\\0"` is the least key above `key`, so every range is lo <= key < hi (query/shape.py, `Region`). All keys lie
below b"\\xff".
"""

from __future__ import annotations

from catalog.types.column_type import ColumnType, Kind

_OFFSET = 2**127


def order_key(type_: ColumnType, text: str) -> bytes:
    """Return the order key of a value of an uncoded type, given as its canonical text.

    >>> order_key(ColumnType(Kind.DECIMAL, 20, 2), "-1.00") < order_key(ColumnType(Kind.DECIMAL, 20, 2), "0.50")
    True
    """
    if type_.kind is not Kind.DECIMAL:
        return text.encode()
    return key_of_unscaled(int(text.replace(".", "")))


def key_of_unscaled(unscaled: int) -> bytes:
    """Return the order key of a wide decimal's unscaled value; what lies beyond 38 digits is moved to just beyond."""
    return (min(max(unscaled, -(10**38)), 10**38) + _OFFSET).to_bytes(16, "big")


def after(key: bytes) -> bytes:
    """Return the least key above `key`."""
    return key + b"\0"


def text_of_key(type_: ColumnType, key: bytes) -> str:
    """Return the text of a wide decimal's key, or of a bound's nearest key below it. Undoes `order_key`.

    >>> type_ = ColumnType(Kind.DECIMAL, 20, 2)
    >>> text_of_key(type_, after(order_key(type_, "-0.50")))
    '-0.50'
    """
    unscaled = int.from_bytes(key[:16].ljust(16, b"\0")) - _OFFSET
    sign, digits = "-" if unscaled < 0 else "", str(abs(unscaled)).rjust(type_.scale + 1, "0")
    return f"{sign}{digits[: -type_.scale]}.{digits[-type_.scale :]}" if type_.scale else sign + digits
