"""Values of range types: read from PostgreSQL's text form, and written in the one form that equal ranges share.

    [10,20)  (,5]  [3,3]  (,)  empty  ["2026-12-24 18:00:00",)  ["a,b",c]        as PostgreSQL writes and reads them
    7   2026-12-24                                                               a value alone: the range of it, [7,7]

Whole numbers and days follow each other, so a range of them is written [lower,upper), as PostgreSQL does. Of all other
types a range is kept as it was bounded: between two decimals, timestamps, doubles or texts there is always something
more to PostgreSQL, whatever a column can hold, so (1.00,1.01) is not empty.

An *end* is where a range begins or ends, as a code that compares with the ends of other ranges. Then every operator is
two comparisons (`catalog/query/range_ends.py`):

    type                        lower end of (a  [a      upper end of b)  b]
    INT4RANGE INT8RANGE         a + 1  a                 b - 1  b              int64: closed
    DATERANGE                   a + 1  a                 b - 1  b
    TSRANGE, NUMRANGE p <= 18   2a + 1  2a               2b - 1  2b            int64: odd is between two values
    others                      1 key of a, mark         the same              text, by code point

Without a bound a lower end is before all others, an upper end behind them. Empty is beyond both on the wrong side, its
lower end last and its upper end first: so it overlaps nothing, and every range contains it, as in PostgreSQL.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from catalog.types.column_type import ColumnType, Kind
from state.errors import UserError
from state.nearest_float import nearest_double
from state.order_code import INT64_MAX, INT64_MIN, code_of_double, double_of_code

EMPTY = "empty"
EVERYTHING = "(,)"
FARTHEST = 9_223_372_036_854_775_800
"""The farthest bound of an INT8RANGE: a few codes beyond it stand for no bound, and for empty."""

Bound = int | str
"""A bound as its order code; of wide decimals the unscaled value, of texts the text."""
_DAY_US = 86_400_000_000
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,30})\s*")
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?\s*")
_DATE = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})\s*")
_MOMENT = re.compile(
    r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6})0*)?)?)?\s*"
)
_FOLLOWING = frozenset({Kind.INT4RANGE, Kind.INT8RANGE, Kind.DATERANGE})
_LONGEST_NUMBER = 200
_QUOTED = re.compile(r'[ \t\n\r\v\f"\\()\[\],]')
_LOWEST_END, _HIGHEST_END = INT64_MIN + 1, INT64_MAX - 1
_NO_LOWER, _KNOWN, _NO_UPPER, _BEYOND = "0", "1", "2", "3"
_BEFORE, _AT, _BEHIND, _NUL = "\x01", "\x02", "\x03", "\x05"


class RangeRefused(UserError):
    """A text is no range of the type. Field: `why`, which follows "expected ..., got ...: "."""

    code = "bad_value"

    def __init__(self, type_: ColumnType, why: str) -> None:
        self.why = why
        super().__init__(f"this is no {type_}: {why}")


class Range(NamedTuple):
    """A range. text: its canonical form.  lower, upper: its ends.  first, last: what SQL's lower() and upper() are.

    These two are order codes, or texts where the values have none; None where there is no bound, or nothing at all.
    """

    text: str
    lower: Bound
    upper: Bound
    first: Bound | None
    last: Bound | None


class _Parts(NamedTuple):
    """A range as it is written: bounds as texts, None where there is none."""

    lower: str | None
    upper: str | None
    from_lower: bool
    to_upper: bool


def ends_coded(type_: ColumnType) -> bool:
    """Whether the ends of a range type are int64 codes; else they are texts."""
    return (
        type_.kind in _FOLLOWING or type_.kind is Kind.TSRANGE or (type_.kind is Kind.NUMRANGE and type_.element.coded)
    )


def ends_type(type_: ColumnType) -> ColumnType:
    """Return the type of a column of ends of a range type."""
    return ColumnType(Kind.BIGINT if ends_coded(type_) else Kind.VARCHAR)


def read_range(type_: ColumnType, text: str) -> Range:
    """Return the range that a text says, or the range of the one value that it says. Cost: 5 us.

    Raises RangeRefused.

    >>> read_range(ColumnType(Kind.INT4RANGE), "(1,5]")
    Range(text='[2,6)', lower=2, upper=5, first=2, last=6)
    """
    parts = _parts(type_, text)
    if parts is None:
        return _empty(type_)
    low = None if parts.lower is None else _bound(type_, parts.lower)
    high = None if parts.upper is None else _bound(type_, parts.upper)
    if low is not None and high is not None and low > high:  # type: ignore[operator]
        raise RangeRefused(type_, "its lower bound is beyond its upper one")
    if type_.kind in _FOLLOWING:
        return _of_following(type_, low, high, parts)
    if low is not None and low == high and not (parts.from_lower and parts.to_upper):
        return _empty(type_)
    return _of_dense(type_, low, high, parts)


def value_text(text: str) -> str:
    """Return the text of the range of the one value that a text says, whatever it looks like.

    >>> value_text("empty"), value_text('a"b')
    ('["empty","empty"]', '["a""b","a""b"]')
    """
    bound = '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'
    return f"[{bound},{bound}]"


def point_end(type_: ColumnType, floor: int, ceiling: int) -> int:
    """Return the end of a value that lies between two codes, or at one; of a type whose ends are codes.

    What no range can end beyond is as good as any such: it may lie beyond 64 bits.
    """
    end = floor if type_.kind in _FOLLOWING else floor + ceiling
    return min(max(end, _LOWEST_END + 1), _HIGHEST_END - 1)


def between_end(type_: ColumnType, floor: int, ceiling: int) -> str:
    """Return the same of a FLOAT8RANGE or a wide NUMRANGE, whose ends are texts."""
    code = min(max(floor, -(10**38)), 10**38) if type_.kind is Kind.NUMRANGE else floor
    return _KNOWN + _key(type_, code) + (_AT if floor == ceiling else _BEHIND)


def end_text(type_: ColumnType, end: Bound, lower: bool) -> str:
    """Return an end for a person, as a bound with its bracket; one without a bound is called so.

    >>> end_text(ColumnType(Kind.NUMRANGE, 4, 1), 21, True), end_text(ColumnType(Kind.INT4RANGE), 5, False)
    ('(1.0', '5]')
    """
    if isinstance(end, str):
        if end[:1] != _KNOWN:
            return "empty" if end[:1] in ("", _BEYOND) else "no bound"
        shown, mark = _shown(type_, _of_key(type_, end[1:-1])), end[-1]
        closed = mark == _AT
    elif not _LOWEST_END < end < _HIGHEST_END:
        return "no bound" if end in (_LOWEST_END, _HIGHEST_END) else "empty"
    else:
        closed = type_.kind in _FOLLOWING or end % 2 == 0
        value = end if type_.kind in _FOLLOWING else (end if closed else end - 1 if lower else end + 1) // 2
        shown = _shown(type_, value)
    return f"{'[' if closed else '('}{shown}" if lower else f"{shown}{']' if closed else ')'}"


def _of_key(type_: ColumnType, key: str) -> Bound:
    """Undo `_key`."""
    if type_.kind is Kind.TEXTRANGE:
        return key.removesuffix("\0").replace("\0" + _NUL, "\0")
    return int(key, 16) + INT64_MIN if type_.kind is Kind.FLOAT8RANGE else int(key) - 10**38


def _of_following(type_: ColumnType, low: Bound | None, high: Bound | None, parts: _Parts) -> Range:
    """Return a range of whole numbers or days, from `low` up to before `high`."""
    first = None if low is None else _near(type_, int(low) + (not parts.from_lower))
    last = None if high is None else _near(type_, int(high) + parts.to_upper)
    if first is not None and last is not None and first >= last:
        return _empty(type_)
    text = f"{'(' if first is None else '[' + _shown(type_, first)},{'' if last is None else _shown(type_, last)})"
    lower, upper = _LOWEST_END if first is None else first, _HIGHEST_END if last is None else last - 1
    return Range(text, lower, upper, first, last)


def _near(type_: ColumnType, code: int) -> int:
    least, greatest = (-FARTHEST, FARTHEST) if type_.kind is Kind.INT8RANGE else type_.element.reach
    if not least <= code <= greatest:
        bounds = f"{_shown(type_, least)} to {_shown(type_, greatest)}"
        raise RangeRefused(type_, f"written as [lower,upper) its bounds are not all within {bounds}")
    return code


def _of_dense(type_: ColumnType, low: Bound | None, high: Bound | None, parts: _Parts) -> Range:
    closed, shut = parts.from_lower and low is not None, parts.to_upper and high is not None
    shown = ["" if bound is None else _shown(type_, bound) for bound in (low, high)]
    text = f"{'[' if closed else '('}{shown[0]},{shown[1]}{']' if shut else ')'}"
    values = [None if bound is None else _stored(type_, bound) for bound in (low, high)]
    if ends_coded(type_):
        lower: Bound = _LOWEST_END if low is None else 2 * int(low) + (not closed)
        upper: Bound = _HIGHEST_END if high is None else 2 * int(high) - (not shut)
    else:
        lower = _NO_LOWER if low is None else _KNOWN + _key(type_, low) + (_AT if closed else _BEHIND)
        upper = _NO_UPPER if high is None else _KNOWN + _key(type_, high) + (_AT if shut else _BEFORE)
    return Range(text, lower, upper, values[0], values[1])


def _empty(type_: ColumnType) -> Range:
    return (
        Range(EMPTY, INT64_MAX, INT64_MIN, None, None) if ends_coded(type_) else Range(EMPTY, _BEYOND, "", None, None)
    )


def _key(type_: ColumnType, bound: Bound) -> str:
    """Return a text for a bound whose order is that of the bounds, and of which none is the beginning of another."""
    if type_.kind is Kind.TEXTRANGE:
        return str(bound).replace("\0", "\0" + _NUL) + "\0"
    if type_.kind is Kind.FLOAT8RANGE:
        return format(int(bound) - INT64_MIN, "016x")
    return str(int(bound) + 10**38).rjust(39, "0")


def _stored(type_: ColumnType, bound: Bound) -> Bound:
    """Return a bound as a column of its own type keeps it."""
    if type_.kind is Kind.NUMRANGE and not type_.element.coded:
        return _decimal_text(int(bound), type_.scale)
    return bound


def _parts(type_: ColumnType, text: str) -> _Parts | None:
    """Cut a range into its bounds, as PostgreSQL does; None where it is empty."""
    written = text.strip(" \t\n\r\v\f")
    if written.lower() == EMPTY:
        return None
    if not written or written[0] not in "[(":
        if not written and type_.kind is not Kind.TEXTRANGE:
            raise RangeRefused(type_, "it is a blank")
        return _Parts(text, text, True, True)
    lower, at = _cut(type_, written, 1)
    if written[at] != ",":
        raise RangeRefused(type_, "there is no comma between its bounds")
    upper, at = _cut(type_, written, at + 1)
    if written[at] == ",":
        raise RangeRefused(type_, "it has more than one comma; a bound with one stands in double quotes")
    if at + 1 < len(written):
        raise RangeRefused(type_, "something stands behind its end")
    return _Parts(lower, upper, written[0] == "[", written[at] == "]")


def _cut(type_: ColumnType, text: str, at: int) -> tuple[str | None, int]:
    """Return the bound that begins at a place, None where nothing stands there, and the place of what ends it."""
    begun, quoted, read = at, False, list[str]()
    while at < len(text) and (quoted or text[at] not in ",)]"):
        character = text[at]
        if character == "\\":
            at += 1
            if at == len(text):
                break
            read.append(text[at])
        elif character == '"' and quoted and text[at + 1 : at + 2] == '"':
            at += 1
            read.append('"')
        elif character == '"':
            quoted = not quoted
        else:
            read.append(character)
        at += 1
    if at >= len(text):
        raise RangeRefused(type_, "it has no end: it lacks a bracket, or a quote")
    return None if at == begun else "".join(read), at


def _bound(type_: ColumnType, text: str) -> Bound:
    bound: Bound = _BOUNDS[type_.kind](type_, text)
    return bound


def _whole_bound(type_: ColumnType, text: str) -> Bound:
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise _no_bound(type_, text)
    return _near(type_, int(match[1]))


def _decimal_bound(type_: ColumnType, text: str) -> Bound:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise _no_bound(type_, text)
    number = Decimal(text.strip())
    if not number:
        return 0
    sign, digits, _ = number.as_tuple()
    significant = "".join(map(str, digits)).strip("0")
    zeros = number.adjusted() + 1 - len(significant) + type_.scale
    if zeros < 0:
        raise RangeRefused(type_, f"its bound {_cut_short(text)} has digits beyond the scale {type_.scale}")
    if len(significant) + zeros > type_.precision:
        before = type_.precision - type_.scale
        raise RangeRefused(type_, f"its bound {_cut_short(text)} has more than {before} digits before the point")
    unscaled: int = int(significant) * 10**zeros
    return -unscaled if sign else unscaled


def _date_bound(type_: ColumnType, text: str) -> Bound:
    match = _DATE.fullmatch(text)
    if match is None:
        raise _no_bound(type_, text)
    return _day(type_, match[1])


def _moment_bound(type_: ColumnType, text: str) -> Bound:
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise _no_bound(type_, text)
    seconds = int(match[2] or 0) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return _day(type_, match[1]) * _DAY_US + seconds * 1_000_000 + int((match[5] or "").ljust(6, "0"))


def _day(type_: ColumnType, text: str) -> int:
    try:
        return dt.date.fromisoformat(text).toordinal() - _EPOCH_DAY
    except ValueError:
        raise RangeRefused(type_, f"there is no day {text}") from None


def _double_bound(type_: ColumnType, text: str) -> Bound:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise _no_bound(type_, text)
    value = nearest_double(text.strip())
    if abs(value) == float("inf"):
        raise RangeRefused(type_, f"its bound {_cut_short(text)} is beyond the largest 64-bit float")
    return code_of_double(value)


def _text_bound(type_: ColumnType, text: str) -> Bound:
    return text


def _no_bound(type_: ColumnType, text: str) -> RangeRefused:
    if text.strip().lower().lstrip("+-") in ("infinity", "inf", "nan"):
        return RangeRefused(type_, f"{_cut_short(text.strip())} is no {type_.element}; without a bound leave it out")
    return RangeRefused(type_, f"its bound {_cut_short(text)} is no {type_.element}")


def _cut_short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _shown(type_: ColumnType, bound: Bound) -> str:
    shown: str = _SHOWN[type_.kind](type_, bound)
    return shown


def _decimal_text(unscaled: int, scale: int) -> str:
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign = "-" if unscaled < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits


def _moment_text(bound: int) -> str:
    """Return a timestamp as PostgreSQL writes it within a range."""
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=bound)
    text = moment.isoformat(" ")
    return f'"{text.rstrip("0") if moment.microsecond else text}"'


def _double_text(bound: int) -> str:
    return repr(double_of_code(bound)).removesuffix(".0")


def _quoted(text: str) -> str:
    if text and not _QUOTED.search(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


_BOUNDS: dict[Kind, Callable[[ColumnType, str], Bound]] = {
    Kind.INT4RANGE: _whole_bound,
    Kind.INT8RANGE: _whole_bound,
    Kind.NUMRANGE: _decimal_bound,
    Kind.DATERANGE: _date_bound,
    Kind.TSRANGE: _moment_bound,
    Kind.FLOAT8RANGE: _double_bound,
    Kind.TEXTRANGE: _text_bound,
}
_SHOWN: dict[Kind, Callable[[ColumnType, Bound], str]] = {
    Kind.INT4RANGE: lambda _, bound: str(bound),
    Kind.INT8RANGE: lambda _, bound: str(bound),
    Kind.NUMRANGE: lambda type_, bound: _decimal_text(int(bound), type_.scale),
    Kind.DATERANGE: lambda _, bound: dt.date.fromordinal(int(bound) + _EPOCH_DAY).isoformat(),
    Kind.TSRANGE: lambda _, bound: _moment_text(int(bound)),
    Kind.FLOAT8RANGE: lambda _, bound: _double_text(int(bound)),
    Kind.TEXTRANGE: lambda _, bound: _quoted(str(bound)),
}
