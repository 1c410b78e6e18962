"""The one reader of JSON that people write: subscriptions, rows to publish, parameters, files of them.

What it gives are plain values: dict, list, str, int, Decimal, bool and None. No number passes through a float, so
12345678901234567890.12 stays what was written. What it takes is what `connectors/json/document.py` takes, within bounds
that keep every later step cheap: `MAX_BYTES` of text, `MAX_DEPTH` of nesting, `MAX_DIGITS` and `MAX_EXPONENT` of a
number. Whatever else a text holds is one kind of error, `UnreadableJson`, that says what is wrong and where.

Short texts are read by msgspec in a tenth of the time. What it does not take is read again the long way, which alone
has the say; what it takes, the long way takes as well, and with the same result (the tests draw both).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Generic, TypeVar

import msgspec

from connectors.dead_letter import RecordFault
from connectors.json.document import MAX_DEPTH, Members, Number, parse_document
from state.errors import UserError

MAX_BYTES = 2_097_152
MAX_DIGITS = 4_000
"""Digits of a number, leading and trailing ones included; Python itself turns no more than 4,300 into an integer."""
MAX_EXPONENT = 999_999
"""An exponent's greatest size. Beyond 400 a number is beyond all values of all types already."""
_HARMLESS = 8
"""A number of so many characters keeps both bounds."""
_SHOWN_CHARACTERS = 40
_LONGEST_REASON = 300

Form = TypeVar("Form")


class UnreadableJson(UserError):
    """A text that a person wrote is no JSON, or JSON beyond the bounds. The message is a clause that says where."""

    code = "unreadable_json"


class JsonReader(Generic[Form]):
    """Reads JSON texts of one form: a type as msgspec has them."""

    def __init__(self, form: type[Form]) -> None:
        self._form = form
        self._decoder = msgspec.json.Decoder(form, float_hook=_fraction)

    def read(self, data: bytes) -> Form:
        """Read one JSON text; of members with one name the last counts.

        Cost: 0.5 us for 100 bytes; 10 us where the text is longer than 4,000 bytes or cannot be read, and more with its
        length. Raises UnreadableJson.
        """
        if len(data) <= MAX_DIGITS and data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
            try:
                return self._decoder.decode(data)
            except ValueError:
                """It is read again, to say what is wrong."""
        try:
            return msgspec.convert(_plain(read_document(data), ()), self._form)
        except msgspec.ValidationError as error:
            raise UnreadableJson(str(error)[:_LONGEST_REASON]) from None


def read_json(data: bytes) -> Any:
    """Read one JSON text of any form, as `JsonReader` does. Raises UnreadableJson."""
    return _ANY.read(data)


def read_document(data: bytes) -> object:
    """Read one JSON text with all members and numbers as they stand there, as `parse_document` does, of any size.

    Raises UnreadableJson.
    """
    if len(data) > MAX_BYTES:
        raise UnreadableJson(f"the text is longer than {MAX_BYTES:,} bytes; make it shorter")
    try:
        return parse_document(data)
    except RecordFault as fault:
        raise UnreadableJson(fault.message) from None


def read_number(text: str) -> int | Decimal:
    """Return the number that a JSON number says, exactly; one with a point or an exponent is a Decimal.

    Raises UnreadableJson.

    >>> read_number("1.10"), read_number("-5")
    (Decimal('1.10'), -5)
    """
    if len(text) > _HARMLESS:
        _check_size(text)
    if "." in text or "e" in text or "E" in text:
        return Decimal(text)
    return int(text)


def _fraction(text: str) -> Decimal:
    """Return a number with a point or an exponent, of a text too short for too many digits."""
    if len(text) > _HARMLESS and ("e" in text or "E" in text):
        _check_size(text)
    return Decimal(text)


def _check_size(text: str) -> None:
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    if len(mantissa) - mantissa.count("-") - mantissa.count(".") > MAX_DIGITS:
        raise UnreadableJson(f"the number {_cut(text)} has more than {MAX_DIGITS:,} digits; write fewer")
    size = exponent.lstrip("+-").lstrip("0")
    if len(size) > len(str(MAX_EXPONENT)):
        raise UnreadableJson(
            f"the number {_cut(text)} has an exponent beyond {MAX_EXPONENT:,}; write one that a column can hold"
        )


def _plain(found: object, path: tuple[str | int, ...]) -> Any:
    """Return what was parsed as plain values; `path` leads to it. It is nested `MAX_DEPTH` deep at most."""
    if isinstance(found, Members):
        return {name: _plain(value, (*path, name)) for name, value in dict(found).items()}
    if isinstance(found, list):
        return [_plain(value, (*path, i)) for i, value in enumerate(found)]
    if not isinstance(found, Number):
        return found
    try:
        return read_number(str(found))
    except UnreadableJson as error:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{_cut(step)}" for step in path)
        raise UnreadableJson(f"{error} (at `{where.removeprefix('.')}`)" if where else str(error)) from None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


_ANY: JsonReader[Any] = JsonReader(Any)
