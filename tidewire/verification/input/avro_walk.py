"""Where the parts of an Avro datum begin and end: the bytes are walked, and nothing is made of them.

What is still to come lies on a pile, so that no depth is too much for it; but more than 64 records, arrays and maps
around each other are refused, as in JSON. Refused is what Avro's writers never write: numbers of symbols and branches
that there are none of, other booleans than 0 and 1, numbers too large, counts and lengths below 0 or beyond the bytes,
blocks of another size than is said.
"""

from __future__ import annotations

from typing import Any

from tidewire.verification.input.decoding import MAX_DEPTH, Bad
from tidewire.verification.schemas.avro_schemas import SCALARS, Schema

_WIDTHS = {"null": 0, "float": 4, "double": 8}
_MOST_DIGITS = 10

_Due = tuple[str, Any, int]
"""What is to come: a datum, a block, so many items, or the end of a block; of which type or where; how deep."""


class Walk:
    """Walks over `data`; `at` is the place that it has reached."""

    def __init__(self, schema: Schema, data: bytes) -> None:
        self.at = 0
        self.data = data
        self._schema = schema

    def chosen(self, type: Any) -> Any:
        """Return the type that stands here, beyond the unions around it. Raises Bad."""
        found = self._schema.found(type)
        while isinstance(found, list):
            found = self._schema.found(found[self._below(len(found))])
        return found

    def over(self, type: Any, depth: int = 0) -> bytes:
        """Walk over a datum of a type, `depth` others around it, and return its bytes. Raises Bad."""
        begin = self.at
        pile: list[_Due] = [("datum", type, depth)]
        while pile:
            what, of, level = pile.pop()
            if what == "datum":
                pile += self._parts(self.chosen(of), level + 1)
            elif what == "block":
                pile += self._block(of, level)
            elif what == "items":
                pile += self._item(of[0], of[1], level)
            elif of != self.at:
                raise Bad("a block of another size")
        return self.data[begin : self.at]

    def _parts(self, type: Any, level: int) -> list[_Due]:
        """Walk over a scalar; of anything else return what is to come, the last first."""
        if type["type"] in SCALARS:
            self._scalar(type)
            return []
        if level > MAX_DEPTH:
            raise Bad("too deep")
        if type["type"] in ("array", "map"):
            return [("block", type, level)]
        return [("datum", field["type"], level) for field in reversed(type["fields"])]

    def _block(self, type: Any, level: int) -> list[_Due]:
        count = self._number()
        if count == 0:
            return []
        to_come: list[_Due] = [("block", type, level)]
        if count < 0:
            size = self._number()
            to_come.append(("end", self.at + size, level))
        if abs(count) > len(self.data) - self.at:
            raise Bad("more items than bytes")
        return [*to_come, ("items", (type, abs(count)), level)]

    def _item(self, type: Any, count: int, level: int) -> list[_Due]:
        if type["type"] == "map":
            self._scalar({"type": "string"})
        more = [("items", (type, count - 1), level)] if count > 1 else []
        return [*more, ("datum", type["items" if type["type"] == "array" else "values"], level)]

    def _scalar(self, type: Any) -> None:
        kind = type["type"]
        if kind in ("string", "bytes"):
            text = self._take(self._number())
            if kind == "string" and not _is_text(text):
                raise Bad("no UTF-8")
        elif kind == "boolean":
            if self._take(1) not in (b"\0", b"\1"):
                raise Bad("no boolean")
        elif kind == "enum":
            self._below(len(type["symbols"]))
        elif kind in ("int", "long"):
            self._number(32 if kind == "int" else 64)
        else:
            self._take(type["size"] if kind == "fixed" else _WIDTHS[kind])

    def _below(self, count: int) -> int:
        number = self._number()
        if number not in range(count):
            raise Bad("no branch or symbol of that number")
        return number

    def _number(self, bits: int = 64) -> int:
        window = self.data[self.at : self.at + _MOST_DIGITS]
        digits = next((i for i, byte in enumerate(window, 1) if byte < 128), None)
        if digits is None:
            raise Bad("no number")
        unsigned: int = sum((byte % 128) << 7 * i for i, byte in enumerate(window[:digits]))
        self.at += digits
        if unsigned >> bits:
            raise Bad("too large a number")
        return -(unsigned + 1) // 2 if unsigned % 2 else unsigned // 2

    def _take(self, length: int) -> bytes:
        if not 0 <= length <= len(self.data) - self.at:
            raise Bad("the bytes end")
        self.at += length
        return self.data[self.at - length : self.at]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
