"""Ranges, by the documented rules, written a second time: read from text, written in one form, compared by bounds.

Nothing here has ends as codes: a range is two bounds, which may be missing, each with whether it belongs to the range,
and an operator is what SQL says of these. Whole numbers and days are first written [lower,upper).

    valid && '[3,5)'    lower(valid) < 5 (or no bound)  AND  upper(valid) > 3, or = 3 where it belongs to `valid` ...
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

ELEMENTS = {
    "INT4RANGE": "INTEGER",
    "INT8RANGE": "BIGINT",
    "NUMRANGE": "DECIMAL",
    "DATERANGE": "DATE",
    "TSRANGE": "TIMESTAMP",
    "FLOAT8RANGE": "DOUBLE",
    "TEXTRANGE": "VARCHAR",
}
NAMES = "|".join(ELEMENTS)
EVERYTHING = "(,)"
_WHOLE = {"INT4RANGE": 2**31 - 1, "INT8RANGE": 9_223_372_036_854_775_800}
_LEAST = {"INT4RANGE": -(2**31), "INT8RANGE": -9_223_372_036_854_775_800}
_RANGE = re.compile(
    r"""(?P<open>[\[(])(?P<lower>(?:"(?:[^"\\]|\\.|"")*"|\\.|[^",)\]\\])*),"""
    r"""(?P<upper>(?:"(?:[^"\\]|\\.|"")*"|\\.|[^",)\]\\])*)(?P<close>[\])])""",
    re.DOTALL,
)
_PIECE = re.compile(r'"((?:[^"\\]|\\.|"")*)"|\\(.)|([^"\\])', re.DOTALL)
_WITHIN = re.compile(r'\\(.)|""|(.)', re.DOTALL)
_BLANKS = " \t\n\r\v\f"
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")
_LONGEST = 200
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6})0*)?)?)?")
_NEEDS_QUOTES = re.compile(r'[ \t\n\r\v\f"\\()\[\],]')


class NoRange(ValueError):
    """A text is no range of a type."""


class Range(NamedTuple):
    """Bounds as texts that DuckDB casts to the type of the values, None without one; whether each belongs to it."""

    lower: str | None
    upper: str | None
    from_lower: bool
    to_upper: bool
    empty: bool = False


EMPTY = Range(None, None, False, False, True)


def is_range(type: str) -> bool:
    """Whether a type is one of ranges."""
    return type.partition("(")[0] in ELEMENTS


def element_of(type: str) -> str:
    """Return the type of the values that a range is of."""
    name, bracket, digits = type.partition("(")
    return ELEMENTS[name] + bracket + digits


def read(type: str, text: str) -> Range:
    """Return the range that a text says, or that of the one value that it says. Raises NoRange."""
    written = text.strip(_BLANKS)
    if written.lower() == "empty":
        return EMPTY
    if written[:1] not in ("[", "(") or not written:
        if not written and not type.startswith("TEXT"):
            raise NoRange("blank")
        value = text if type.startswith("TEXT") else written
        return _made(type, value, value, True, True)
    match = _RANGE.fullmatch(written)
    if match is None:
        raise NoRange(text)
    lower, upper = (_unquoted(match[side]) for side in ("lower", "upper"))
    return _made(type, lower, upper, match["open"] == "[", match["close"] == "]")


def canonical(type: str, text: str) -> str:
    """Return the one text of all ranges that hold the same values. Raises NoRange."""
    made = read(type, text)
    if made.empty:
        return "empty"
    lower, upper = ("" if bound is None else _written(type, bound) for bound in made[:2])
    return f"{'[' if made.from_lower else '('}{lower},{upper}{']' if made.to_upper else ')'}"


def _unquoted(written: str) -> str | None:
    """Return a bound without its quotes; None where nothing is written."""
    if not written:
        return None
    parts = []
    for piece in _PIECE.finditer(written):
        if piece[1] is not None:
            parts += [each[1] or each[2] or '"' for each in _WITHIN.finditer(piece[1])]
        else:
            parts.append(piece[2] or piece[3])
    return "".join(parts)


def _made(type: str, lower: str | None, upper: str | None, from_lower: bool, to_upper: bool) -> Range:
    name = type.partition("(")[0]
    read_bound, order = _BOUNDS[name]
    low = None if lower is None else read_bound(type, lower)
    high = None if upper is None else read_bound(type, upper)
    places = [None if bound is None else order(bound) for bound in (low, high)]
    if low is not None and high is not None and order(low) > order(high):
        raise NoRange("lower beyond upper")
    if name in _WHOLE or name == "DATERANGE":
        return _whole(name, low, high, from_lower, to_upper)
    if low is not None and places[0] == places[1] and not (from_lower and to_upper):
        return EMPTY
    return Range(low, high, from_lower and low is not None, to_upper and high is not None)


def _whole(name: str, low: str | None, high: str | None, from_lower: bool, to_upper: bool) -> Range:
    """Write a range of what follows each other as [lower,upper)."""
    first = low if low is None or from_lower else _next(name, low)
    beyond = high if high is None or not to_upper else _next(name, high)
    order = _BOUNDS[name][1]
    if first is not None and beyond is not None and order(first) >= order(beyond):
        return EMPTY
    return Range(first, beyond, first is not None, False)


def _next(name: str, bound: str) -> str:
    if name == "DATERANGE":
        try:
            return (dt.date.fromisoformat(bound) + dt.timedelta(1)).isoformat()
        except OverflowError:
            raise NoRange("no day behind the last") from None
    return _integer(name, str(int(bound) + 1))


def _integer(type: str, text: str) -> str:
    if not _INTEGER.fullmatch(text.strip()) or not _LEAST[type] <= int(text) <= _WHOLE[type]:
        raise NoRange(text)
    return str(int(text))


def _decimal(type: str, text: str) -> str:
    precision, _, scale = type.partition("(")[2].rstrip(")").partition(",")
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text.strip()):
        raise NoRange(text)
    number = Decimal(text.strip())
    _, digits, exponent = number.as_tuple()
    kept = "".join(map(str, digits)).rstrip("0")
    if number and (
        number.adjusted() >= int(precision) - int(scale) or number.adjusted() - len(kept.lstrip("0")) + 1 < -int(scale)
    ):
        raise NoRange(f"{text}: {exponent}")
    if not number:
        return format(Decimal(0).scaleb(-int(scale)), "f")
    sign = "-" if number < 0 else ""
    zeros = number.adjusted() + 1 - len(kept.lstrip("0")) + int(scale)
    whole = (kept.lstrip("0") + "0" * zeros).rjust(int(scale) + 1, "0")
    return sign + (f"{whole[: -int(scale)]}.{whole[-int(scale) :]}" if int(scale) else whole)


def _date(type: str, text: str) -> str:
    if not _DAY.fullmatch(text.strip()):
        raise NoRange(text)
    try:
        return dt.date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise NoRange(text) from None


def _timestamp(type: str, text: str) -> str:
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise NoRange(text)
    day, hour, minute, second, fraction = match.groups(default="0")
    try:
        micros = int(fraction.ljust(6, "0"))
        moment = dt.datetime.combine(dt.date.fromisoformat(day), dt.time(int(hour), int(minute), int(second), micros))
    except ValueError:
        raise NoRange(text) from None
    return moment.isoformat(" ")


def _double(type: str, text: str) -> str:
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text.strip()):
        raise NoRange(text)
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NoRange(text)
    return repr(number + 0.0)


def _text(type: str, text: str) -> str:
    return text


def _written(type: str, bound: str) -> str:
    """Return a bound as PostgreSQL writes it within a range."""
    if type == "TSRANGE":
        return '"' + (bound.rstrip("0") if "." in bound else bound) + '"'
    if type == "FLOAT8RANGE":
        return bound.removesuffix(".0")
    if type == "TEXTRANGE" and (not bound or _NEEDS_QUOTES.search(bound)):
        return '"' + bound.replace("\\", "\\\\").replace('"', '""') + '"'
    return bound


_BOUNDS: dict[str, tuple[Callable[[str, str], str], Callable[[str], Any]]] = {
    "INT4RANGE": (_integer, int),
    "INT8RANGE": (_integer, int),
    "NUMRANGE": (_decimal, Decimal),
    "DATERANGE": (_date, str),
    "TSRANGE": (_timestamp, dt.datetime.fromisoformat),
    "FLOAT8RANGE": (_double, float),
    "TEXTRANGE": (_text, str),
}
"""How a bound is read, and what it compares by."""


def overlaps(name: Callable[[str], str], other: Range, shown: Callable[[str], str]) -> str:
    """Return as SQL whether a range column overlaps a range; `name` gives its derived columns, `shown` constants."""
    if other.empty:
        return "FALSE"
    begins = _le(name, "lower", other.upper, other.to_upper, shown)
    ends = _ge(name, "upper", other.lower, other.from_lower, shown)
    return f"(NOT {name('empty')} AND {begins} AND {ends})"


def contains(name: Callable[[str], str], other: Range, shown: Callable[[str], str]) -> str:
    """Return as SQL whether a range column contains a range."""
    if other.empty:
        return "TRUE"
    low, high = "FALSE", "FALSE"
    if other.lower is not None:
        bound = shown(other.lower)
        touching = "TRUE" if not other.from_lower else name("lower closed")
        low = f"({name('lower')} < {bound} OR ({name('lower')} = {bound} AND {touching}))"
    if other.upper is not None:
        bound = shown(other.upper)
        touching = "TRUE" if not other.to_upper else name("upper closed")
        high = f"({name('upper')} > {bound} OR ({name('upper')} = {bound} AND {touching}))"
    low, high = f"({name('lower')} IS NULL OR {low})", f"({name('upper')} IS NULL OR {high})"
    return f"(NOT {name('empty')} AND {low} AND {high})"


def contained(name: Callable[[str], str], other: Range, shown: Callable[[str], str]) -> str:
    """Return as SQL whether a range column is contained in a range."""
    if other.empty:
        return name("empty")
    low = high = "TRUE"
    if other.lower is not None:
        low = _inside(name, "lower", ">", shown(other.lower), other.from_lower)
    if other.upper is not None:
        high = _inside(name, "upper", "<", shown(other.upper), other.to_upper)
    return f"({name('empty')} OR ({low} AND {high}))"


def _inside(name: Callable[[str], str], side: str, beyond: str, bound: str, closed: bool) -> str:
    """Return whether a range has a bound that is not outside of another one's."""
    touching = "TRUE" if closed else f"NOT {name(f'{side} closed')}"
    met = f"{name(side)} {beyond} {bound} OR ({name(side)} = {bound} AND {touching})"
    return f"({name(side)} IS NOT NULL AND ({met}))"


def _le(name: Callable[[str], str], side: str, bound: str | None, closed: bool, shown: Callable[[str], str]) -> str:
    """Return whether a range begins at or before where another ends."""
    if bound is None:
        return "TRUE"
    touching = name(f"{side} closed") if closed else "FALSE"
    at = shown(bound)
    return f"({name(side)} IS NULL OR {name(side)} < {at} OR ({name(side)} = {at} AND {touching}))"


def _ge(name: Callable[[str], str], side: str, bound: str | None, closed: bool, shown: Callable[[str], str]) -> str:
    if bound is None:
        return "TRUE"
    touching = name(f"{side} closed") if closed else "FALSE"
    at = shown(bound)
    return f"({name(side)} IS NULL OR {name(side)} > {at} OR ({name(side)} = {at} AND {touching}))"
