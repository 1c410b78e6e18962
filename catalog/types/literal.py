"""Where a literal stands among the order codes of a column's type: the question every comparison comes down to.

A literal need not be a value of the type. It is never cast to it; it is placed between codes:

    DECIMAL(12,2)    ... 100 ........ 101 ...        1.005 -> (100, 101): below it 1.00, above it 1.01
    BIGINT           ... 5 ...                       5     -> (5, 5):     exactly a code

`place` gives (floor, ceiling). With them every comparison is exact, for literals of any size and any number of
digits: `x < v` is `code <= ceiling - 1`, `x <= v` is `code <= floor`, `x >= v` is `code >= ceiling`, `x > v` is
`code >= floor + 1`, and `x = v` is both `>=` and `<=`, which no code fulfils where the two differ.

REAL and DOUBLE are the exception, since decimal text is seldom a binary fraction: a numeric literal first becomes the
nearest value of the column's type (as in DuckDB; PostgreSQL does it for DOUBLE), by the rounding that records go
through (`state/nearest_float.py`). So `risk = 0.1` meets the stored 0.1, and any text what was published as that text.
A literal beyond the range stands beyond all values: `risk < 1e400` is true of all of them.

A date compared with a TIMESTAMP is its midnight; a timestamp compared with a DATE stands between two days.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Self

from catalog.types.column_type import ColumnType, Kind
from catalog.types.range_value import Range, RangeRefused, read_range
from state.errors import UserError
from state.nearest_float import nearest_double, nearest_real
from state.order_code import code_of_double

Place = tuple[int, int]
"""Greatest code at or below the literal, least code at or above it; both may lie beyond 64 bits."""

Placing = Callable[[ColumnType, "LiteralKind", str, bool], Place]
"""`place` for one kind of type."""

_DAY_US = 86_400_000_000
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_NUMBER = re.compile(r"-?(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?)?"
)
_ZONE = re.compile(r"(?:[zZ]|[+-][0-9]{2}(?::?[0-9]{2})?|\s[A-Za-z/_]+)$")
_BEYOND = 400
"""A decimal exponent beyond all values of all types: doubles end near 308, DECIMAL at 38."""


class LiteralKind(Enum):
    """What a literal is before it meets a column. DIGITS is a parameter given as a JSON string."""

    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    NULL = "NULL"
    DIGITS = "text parameter"


class ConstantRefused(UserError):
    """A statement is refused for what its constants are.

    Fields: `code`; `what` (a predicate of the column, or a sentence where no column is to blame), `hint`,
    and, once known, `column` and `operand` (the constant's number in the statement).
    """

    code = "unsupported"

    def __init__(self, what: str, hint: str) -> None:
        self.what = what
        self.hint = hint
        self.column = ""
        self.operand = -1
        super().__init__(f"the column {what}. {hint}")

    def at(self, column: str, operand: int) -> Self:
        """Say which column, and which constant of the statement; return self."""
        self.column = column
        self.operand = operand
        return self


class LiteralMismatch(ConstantRefused):
    """A literal cannot be compared with a column of this type."""

    code = "type_mismatch"


def place(type_: ColumnType, kind: LiteralKind, text: str, negative: bool = False) -> Place | None:
    """Return where the literal stands among the codes of `type_`, or None for NULL (no comparison is ever true).

    `text` is a string's content without quotes, else the literal as written; `negative` turns a number's sign.
    Cost: 0.4 us for short integers, 1-3 us else. Raises LiteralMismatch. `type_` must be coded.

    >>> place(ColumnType(Kind.DECIMAL, 12, 2), LiteralKind.NUMBER, "1.005")
    (100, 101)
    """
    return None if kind is LiteralKind.NULL else placing(type_)(type_, kind, text, negative)


def placing(type_: ColumnType) -> Placing:
    """Return the function that `place` uses for columns of `type_`; for whoever places many. It takes no NULL."""
    return _PLACES[type_.kind]


def is_number(text: str) -> bool:
    """Return whether `text` is a numeric literal (sqlglot also takes `1e` for one)."""
    return _NUMBER.fullmatch(text) is not None


def text_of(type_: ColumnType, kind: LiteralKind, text: str, negative: bool = False) -> str | None:
    """Return the text that a VARCHAR or range column is compared with, or None for NULL. Raises LiteralMismatch."""
    if type_.is_range:
        found = range_of(type_, kind, text, negative)
        return None if found is None else found.text
    if kind in (LiteralKind.STRING, LiteralKind.DIGITS) and not negative:
        return text
    if kind is LiteralKind.NULL:
        return None
    raise _mismatch(type_, kind, "Compare it with a string, such as 'abc'.")


def range_of(type_: ColumnType, kind: LiteralKind, text: str, negative: bool = False) -> Range | None:
    """Return the range that a range column is compared with, or None for NULL. Raises LiteralMismatch."""
    if kind is LiteralKind.NULL:
        return None
    if kind not in (LiteralKind.STRING, LiteralKind.DIGITS) or negative:
        raise _mismatch(type_, kind, "Compare it with a range, such as '[1,5)'; @> asks for one value.")
    try:
        return read_range(type_, text)
    except RangeRefused as refused:
        what = f"is {type_}, and {text[:40]!r} is none: {refused.why}"
        raise LiteralMismatch(what, "Write a range as '[lower,upper)', '(,upper]' or 'empty'.") from None


def _mismatch(type_: ColumnType, kind: LiteralKind, hint: str) -> LiteralMismatch:
    what = "a string" if kind is LiteralKind.DIGITS else f"a {kind.value}"
    return LiteralMismatch(f"is {type_} and cannot be compared with {what}", hint)


def _exact(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    if kind is not LiteralKind.NUMBER:
        _refuse_unless_decimal_text(type_, kind, text)
    if len(text) <= 18 and text.isascii() and text.isdigit():
        code = int(text) * 10**type_.scale
    else:
        mantissa, exponent = _parts(text)
        exponent += type_.scale
        if exponent < 0:
            code, rest = divmod(-mantissa if negative else mantissa, 10**-exponent)
            return code, code + (rest > 0)
        code = mantissa * 10**exponent
    return (-code, -code) if negative else (code, code)


def _refuse_unless_decimal_text(type_: ColumnType, kind: LiteralKind, text: str) -> None:
    if kind is LiteralKind.DIGITS and type_.kind is Kind.DECIMAL and is_number(text):
        return
    quoted = kind in (LiteralKind.STRING, LiteralKind.DIGITS) and is_number(text)
    raise _mismatch(type_, kind, f"Write the number without quotes: {text}." if quoted else "Compare it with a number.")


def _parts(text: str) -> tuple[int, int]:
    """Return mantissa and exponent (value = mantissa * 10**exponent); far beyond all types, a nearer stand-in."""
    match = _NUMBER.fullmatch(text)
    assert match is not None
    whole, fraction, bare, written = match.groups()
    digits = ((whole or "") + (fraction or bare or "")).lstrip("0")
    if not digits:
        return 0, 0
    sign = -1 if text[0] == "-" else 1
    far = written is not None and len(written.lstrip("+-0")) > 6
    exponent = (10**6 if written[0] != "-" else -(10**6)) if far else int(written or 0)
    exponent -= len(fraction or bare or "")
    if len(digits) + exponent > _BEYOND:
        return sign, _BEYOND
    if len(digits) + exponent < -_BEYOND:
        return sign, -_BEYOND
    return sign * int(Decimal(digits)), exponent


def _binary(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    if kind is not LiteralKind.NUMBER:
        _refuse_unless_decimal_text(type_, kind, text)
    value = nearest_real(text) if type_.kind is Kind.REAL else nearest_double(text)
    code = code_of_double(-value if negative else value)
    return code, code


def _truth(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    if kind is not LiteralKind.BOOLEAN or negative:
        raise _mismatch(type_, kind, "Compare it with TRUE or FALSE.")
    code = int(text.upper() == "TRUE")
    return code, code


def _day(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    floor, ceiling = _moment(type_, kind, text, negative)
    return floor // _DAY_US, -(-ceiling // _DAY_US)


def _instant(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    return _moment(type_, kind, text, negative)


def _moment(type_: ColumnType, kind: LiteralKind, text: str, negative: bool) -> Place:
    """Return the place of a date or timestamp literal in microseconds since 1970."""
    if kind in (LiteralKind.NUMBER, LiteralKind.BOOLEAN) or negative:
        example = "DATE '2026-03-01'" if type_.kind is Kind.DATE else "TIMESTAMP '2026-03-01 12:00:00'"
        raise _mismatch(type_, kind, f"Compare it with {example}.")
    match = _MOMENT.fullmatch(text)
    if match is None or (kind is LiteralKind.DATE and match[2] is not None):
        raise _no_moment(type_, kind, text)
    day, hour, minute, second, fraction = match.groups()
    try:
        days = dt.date.fromisoformat(day).toordinal() - _EPOCH_DAY
    except ValueError:
        raise LiteralMismatch(
            f"is {type_}, and there is no day {day}", "Write an existing day as YYYY-MM-DD."
        ) from None
    seconds = int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)
    micros = days * _DAY_US + seconds * 1_000_000
    if fraction is None:
        return micros, micros
    micros += int(fraction[:6].ljust(6, "0"))
    return micros, micros + bool(fraction[6:].strip("0"))


def _no_moment(type_: ColumnType, kind: LiteralKind, text: str) -> LiteralMismatch:
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    if _ZONE.search(text) and ":" in text:
        what = f"is {type_}, which has no zone, and {shown} seems to have one"
        return LiteralMismatch(what, "Write the timestamp without a zone, in the zone of the data.")
    if type_.kind is Kind.DATE or kind is LiteralKind.DATE:
        return LiteralMismatch(f"is {type_}, and {shown} is no date", "Write a date as '2026-03-01'.")
    return LiteralMismatch(f"is {type_}, and {shown} is no timestamp", "Write a timestamp as '2026-03-01 12:00:00'.")


_PLACES: dict[Kind, Placing] = {
    Kind.BOOLEAN: _truth,
    Kind.SMALLINT: _exact,
    Kind.INTEGER: _exact,
    Kind.BIGINT: _exact,
    Kind.REAL: _binary,
    Kind.DOUBLE: _binary,
    Kind.DECIMAL: _exact,
    Kind.DATE: _day,
    Kind.TIMESTAMP: _instant,
}
