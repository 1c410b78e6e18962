"""One JSON text, read exactly and strictly (RFC 8259): what `json` lets through besides is refused here.

Numbers stay as they were written (`Number`), so that no decimal or 64-bit integer ever passes through a
float. Objects keep every member in order (`Members`); who reads a row lets the last of equal names win.
Refused beyond the grammar: a byte order mark, bytes that are not UTF-8, escapes of lone surrogates (there is
no UTF-8 for them) and nesting deeper than `MAX_DEPTH`, so that the verdict never depends on a stack's size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from connectors.dead_letter import RecordFault

MAX_DEPTH = 64
_SHOWN_CHARACTERS = 60
_FRAME = 5
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def other_case(name: str, members: Iterable[str]) -> str:
    """Return what to add where `name` is not among the members: one of them differs by case alone, or nothing does.

    >>> other_case("id", ["ID"])
    '; `ID` is there, but names are told by case, and one that is declared without quotes is in lower case'
    """
    for member in members:
        if member.lower() == name.lower() and member != name:
            told = "names are told by case, and one that is declared without quotes is in lower case"
            return f"; `{member[:60]}` is there, but {told}"
    return ""


class Members(list[tuple[str, object]]):
    """A JSON object's members in order, repeated names included."""

    __slots__ = ()


def parse_document(data: bytes) -> object:
    """Read one JSON text: str, bool, None, `Number`, `Members` or a list of such.

    Cost: O(len(data)), about 3 us for a row. Raises RecordFault.
    """
    text = _text(data)
    _check_depth(text)
    try:
        document: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise RecordFault("malformed_json", f"not a JSON text: {_framed(data) or _why(text, error)}") from None
    if _SURROGATE_ESCAPE.search(text):
        _check_surrogates(document)
    return document


def shown(value: object) -> str:
    """Describe a parsed JSON value for a message, in bounded length."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Members):
        return "an object"
    if isinstance(value, list):
        return "an array"
    kind = "the number" if isinstance(value, Number) else "the string"
    text = str(value)
    cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    return f"{kind} {cut}" if isinstance(value, Number) else f"{kind} {json.dumps(cut, ensure_ascii=False)}"


def _text(data: bytes) -> str:
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8"
        raise RecordFault("invalid_utf8", ": ".join(filter(None, (what, _framed(data))))) from None
    if text.startswith("\ufeff"):
        raise RecordFault("byte_order_mark", "the text begins with a byte order mark; send plain UTF-8")
    return text


def _why(text: str, error: json.JSONDecodeError) -> str:
    """Say what is wrong in words of our own: Python's are others from one version of it to the next."""
    if error.pos >= len(text):
        return f"it ends too early, at character {len(text)}"
    if error.msg.startswith("Unterminated"):
        return f"the string that begins at character {error.pos} does not end"
    return f"character {error.pos}, {json.dumps(text[error.pos], ensure_ascii=False)}, was not expected there"


def _framed(data: bytes) -> str:
    """Say so if the bytes begin as a schema registry's serializers write them."""
    if len(data) < _FRAME or data[0] != 0:
        return ""
    number = int.from_bytes(data[1:_FRAME])
    what = f"it begins with a schema registry's framing (a byte 0, then the schema's id {number}): "
    return what + "formats avro and protobuf take that, JSON has to be sent without"


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
        if depth > MAX_DEPTH:
            raise RecordFault("too_deep", f"arrays and objects are nested more than {MAX_DEPTH} deep")


def _check_surrogates(document: object) -> None:
    for string in _strings(document):
        try:
            string.encode()
        except UnicodeEncodeError as error:
            escape = f"\\u{ord(string[error.start]):04x}"
            raise RecordFault("lone_surrogate", f"the escape {escape} lacks the other half of its pair") from None


def _strings(document: object) -> Iterable[str]:
    if isinstance(document, Members):
        for name, value in document:
            yield name
            yield from _strings(value)
    elif isinstance(document, list):
        for value in document:
            yield from _strings(value)
    elif isinstance(document, str):
        yield document


def _constant(token: str) -> object:
    raise RecordFault("malformed_json", f"not a JSON text: {token} is not a JSON value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=Members, parse_float=Number, parse_int=Number, parse_constant=_constant, strict=True
)
