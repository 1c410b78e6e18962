"""Parameters of a prepared subscription: a JSON value becomes a literal, and SQL text again.

null                  NULL
true, false           TRUE, FALSE
integer, number       a numeric literal; a float is taken as its shortest text, as the user wrote it
string                a string, date or timestamp; for a DECIMAL column, the number that it spells
"""

from __future__ import annotations

import math
from decimal import Decimal

from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind
from state.errors import UserError

Literal = tuple[LiteralKind, str]


class ParameterRefused(UserError):
    """A parameter is no scalar JSON value."""

    code = "malformed"


def literal_of(parameter: object) -> Literal:
    """Return kind and text of the literal that a parameter stands for. Raises ParameterRefused.

    >>> literal_of(-2.5)
    (<LiteralKind.NUMBER: 'number'>, '-2.5')
    """
    match parameter:
        case None:
            return LiteralKind.NULL, "NULL"
        case bool():
            return LiteralKind.BOOLEAN, "TRUE" if parameter else "FALSE"
        case int() if abs(parameter) < 10**400:
            return LiteralKind.NUMBER, str(parameter)
        case float() if math.isfinite(parameter):
            return LiteralKind.NUMBER, repr(parameter)
        case Decimal() if parameter.is_finite():
            return LiteralKind.NUMBER, str(parameter)
        case str() if _is_unicode(parameter):
            return LiteralKind.DIGITS, parameter
    shown = repr(parameter) if not isinstance(parameter, int) else "an integer of more than 400 digits"
    raise ParameterRefused(f"expected null, a boolean, a finite number or a string, got {shown[:80]}")


def written(literal: Literal, type_: ColumnType) -> str:
    """Return the literal as SQL for a column of `type_`.

    >>> written((LiteralKind.DIGITS, "it's"), ColumnType(Kind.VARCHAR))
    "'it''s'"
    """
    kind, text = literal
    if kind is LiteralKind.STRING or (kind is LiteralKind.DIGITS and type_.kind is not Kind.DECIMAL):
        return "'" + text.replace("'", "''") + "'"
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
