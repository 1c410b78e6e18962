"""Constants in the query of a view: what is written, and what it is beside a value of some type.

    5            an integer of the least type that has it        0.25      DECIMAL(2,2), exactly
    1e300        DOUBLE, where an exponent makes more digits than a DECIMAL has
    risk > 0.1   the REAL or DOUBLE nearest to 0.1, as records are read
    'abc'        VARCHAR; beside a DATE or TIMESTAMP what it says

Here they get types of their own, while a question's constants are only placed among the values of a column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from catalog.schema.view import Constant
from catalog.types.column_type import MAX_PRECISION, ColumnType, Kind
from catalog.types.literal import LiteralKind, is_number, place, range_of
from catalog.types.typed_literal import typed_literal
from catalog.view.bounds import TooWide, least_type

_OWN = {
    LiteralKind.STRING: ColumnType(Kind.VARCHAR),
    LiteralKind.BOOLEAN: ColumnType(Kind.BOOLEAN),
    LiteralKind.DATE: ColumnType(Kind.DATE),
    LiteralKind.TIMESTAMP: ColumnType(Kind.TIMESTAMP),
}
_DOUBLE = ColumnType(Kind.DOUBLE)
_FLOATS = (Kind.REAL, Kind.DOUBLE)
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")
_LONGEST = 60
"""Characters of a number that is kept exactly; none of 38 digits needs more."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as written. A string's `text` is without quotes; `negative` turns a number's sign."""

    kind: LiteralKind
    text: str
    negative: bool = False

    @property
    def sql(self) -> str:
        """The constant as SQL, numbers without exponent where they are exact."""
        match self.kind:
            case LiteralKind.STRING:
                return _string(self.text)
            case LiteralKind.DATE | LiteralKind.TIMESTAMP:
                return f"{self.kind.name} {_string(self.text)}"
            case LiteralKind.NUMBER:
                digits = self._digits()
                shown = self.text.lower() if digits is None else text_of_units(*digits)
                return f"-{shown}" if self.negative else shown
        return self.text

    def constant(self, beside: ColumnType | None = None) -> Constant:
        """Return the constant as a value of its own type, or of `beside`, the type of what stands beside it.

        Raises LiteralMismatch: it cannot be compared with that type. NoValue. TooWide: it has more than 38 digits.
        """
        if self.kind is LiteralKind.NUMBER and beside is not None and beside.kind in _FLOATS:
            return Constant(self._place(beside), beside)
        if beside is not None and beside.is_range:
            found = range_of(beside, self.kind, self.text, self.negative)
            return Constant(None if found is None else found.text, beside)
        if beside is not None and beside.kind in _MOMENTS and self.kind is not LiteralKind.NUMBER:
            return Constant(self._place(beside), beside)
        if self.kind is LiteralKind.NUMBER:
            return self._exact()
        own = _OWN[self.kind]
        return Constant(self.text if own.kind is Kind.VARCHAR else self._place(own), own)

    def _place(self, type_: ColumnType) -> int:
        found = place(type_, self.kind, self.text, self.negative)
        assert found is not None, "NULL is no constant of a view"
        least, greatest = type_.reach
        if found[0] != found[1] or not least <= found[0] <= greatest:
            raise NoValue(type_)
        return found[0]

    def _digits(self) -> tuple[int, int] | None:
        """Return the number without sign and point, and how many digits stand after the point; None if too many."""
        written = _EXPONENT.search(self.text)
        if len(self.text) > _LONGEST or (written is not None and len(written[1]) > 4):
            return None
        _, digits, exponent = Decimal(self.text).as_tuple()
        assert isinstance(exponent, int)
        scale, mantissa = max(0, -exponent), int("".join(map(str, digits)))
        units = mantissa * 10 ** (exponent + scale)
        return (units, scale) if max(len(str(units)), scale) <= MAX_PRECISION else None

    def _exact(self) -> Constant:
        found = self._digits()
        if found is None and _EXPONENT.search(self.text):
            return Constant(self._place(_DOUBLE), _DOUBLE)
        if found is None:
            raise TooWide(MAX_PRECISION + 1)
        units, scale = found
        signed = -units if self.negative else units
        type_ = ColumnType(Kind.DECIMAL, max(len(str(units)), scale), scale) if scale else least_type(signed)
        sign = "-" if signed < 0 else ""
        return Constant(signed if type_.coded else sign + text_of_units(units, scale), type_)


class NoValue(Exception):
    """A constant is no value of the type that it is compared with. `type`: that type."""

    def __init__(self, type_: ColumnType) -> None:
        self.type = type_
        super().__init__(str(type_))


def literal_of(node: exp.Expr) -> Literal | None:
    """Return the constant that a node is, NULL too; None if it is none.

    A number that sqlglot takes and nobody else does (`1e`) is none.
    """
    match node:
        case exp.Literal() if node.is_string:
            return Literal(LiteralKind.STRING, node.this)
        case exp.Literal():
            return Literal(LiteralKind.NUMBER, node.this) if is_number(node.this) else None
        case exp.Boolean():
            return Literal(LiteralKind.BOOLEAN, "TRUE" if node.this else "FALSE")
        case exp.Null():
            return Literal(LiteralKind.NULL, "NULL")
        case exp.Neg():
            return _negated(node)
    typed = typed_literal(node)
    return None if typed is None else Literal(typed, node.this.this)


def text_of_units(units: int, scale: int) -> str:
    """Return a number that is not negative with exactly `scale` digits after the point.

    >>> text_of_units(5, 2), text_of_units(5, 0)
    ('0.05', '5')
    """
    digits = str(units).rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _negated(node: exp.Neg) -> Literal | None:
    negative, inner = False, node
    while isinstance(inner, exp.Neg):
        negative, inner = not negative, inner.this.unnest()
    literal = literal_of(inner)
    return Literal(literal.kind, literal.text, negative) if literal and literal.kind is LiteralKind.NUMBER else None
