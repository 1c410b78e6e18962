"""Rows of format `csv`, by the documented rules, written a second time: character by character.

A field in quotes is text, `""` in it one quote; one without holds no quote and no line break, and is NULL if it is
empty. The line may end with one line break. What a field says is what it would say in JSON.
"""

from __future__ import annotations

import re

from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import Bad, Members, Number, text_of

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMBERS = {"SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE"}
_BOOLEANS = {"true": True, "false": False}


def csv_members(table: Table, data: bytes) -> Members:
    """Return the values of a line as JSON has them, by column; fields left out at the end are absent. Raises Bad."""
    fields = _fields(_without_line_break(text_of(data)), table.option("delimiter") or ",")
    if len(fields) > len(table.columns):
        raise Bad("more fields than columns")
    return {c.name: _value(c.type, field) for c, field in zip(table.columns, fields, strict=False)}


def _without_line_break(text: str) -> str:
    for end in ("\r\n", "\n"):
        if text.endswith(end):
            return text[: -len(end)]
    return text


def _fields(line: str, delimiter: str) -> list[str | None]:
    """Return the fields of a line, None for NULL."""
    fields, place = list[str | None](), 0
    while True:
        if line[place : place + 1] == '"':
            field, place = _quoted(line, place + 1)
            fields.append(field)
        else:
            field = line[place:].partition(delimiter)[0]
            if set(field) & set('"\r\n'):
                raise Bad("a quote or line break in a field without quotes")
            fields.append(field or None)
            place += len(field)
        if place == len(line):
            return fields
        if line[place] != delimiter:
            raise Bad("something behind a quoted field")
        place += 1


def _quoted(line: str, place: int) -> tuple[str, int]:
    """Return the text up to the closing quote, and the place behind it."""
    letters = []
    while place < len(line):
        if line[place] != '"':
            letters.append(line[place])
        elif line[place + 1 : place + 2] == '"':
            letters.append('"')
            place += 1
        else:
            return "".join(letters), place + 1
        place += 1
    raise Bad("no closing quote")


def _value(type: str, field: str | None) -> object:
    if field is None:
        return None
    if type == "BOOLEAN":
        return _BOOLEANS.get(field, field)
    if type in _NUMBERS:
        if not _NUMBER.fullmatch(field):
            raise Bad("no number")
        return Number(field)
    return field
