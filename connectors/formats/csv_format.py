"""Format `csv`: one line a record, its fields in the order of the table's columns (RFC 4180).

    7,"He said ""no"" to it",,10.25

A field in quotes is text as it stands, `""` in it one quote; what stands between separators without quotes may hold no
quote and no line break. An empty field without quotes is NULL, `""` the empty text. A line may end with one line break.
Fewer fields than columns: the last ones are absent. The Kafka key is the primary key as JSON, as in format `json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from catalog.schema.format_options import DELIMITER
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.decoded import Decoded
from connectors.formats.row_decoding import Read, RowDecoder
from connectors.json.canonical_key import CanonicalKey
from connectors.json.document import Number
from connectors.json.scalar import Coded, read_scalar
from connectors.record import RawRecords

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBERS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.REAL, Kind.DOUBLE)
_WORDS = {"true": True, "false": False}
_SHOWN_CHARACTERS = 60


class CsvFormat:
    """Decodes batches of one relation. `keyless`: rows without a Kafka key are taken (one partition)."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self._decoder = RowDecoder(relation, keyless, _Lines(relation))

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records. Raises nothing for bad input."""
        return self._decoder.decode(records)


class _Lines:
    def __init__(self, relation: Relation) -> None:
        self._columns = relation.columns
        self._delimiter = dict(relation.options).get("delimiter", DELIMITER)
        self._key = CanonicalKey(relation)
        mark = re.escape(self._delimiter)
        self._field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"\r\n{mark}]*))({mark}|\Z)')

    def key(self, data: bytes) -> tuple[Coded, ...]:
        return self._key.read(data)

    def row(self, data: bytes) -> Mapping[str, Read]:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise RecordFault("invalid_utf8", f"byte {error.start} is not UTF-8") from None
        if text.startswith("\ufeff"):
            raise RecordFault("byte_order_mark", "the text begins with a byte order mark; send plain UTF-8")
        fields = self._fields(text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text)
        if len(fields) > len(self._columns):
            what = f"expected at most {len(self._columns)} fields, one for each column, got {len(fields)}"
            raise RecordFault("malformed_csv", what)
        return {
            column.name: partial(_value, column.type, *field)
            for column, field in zip(self._columns, fields, strict=False)
        }

    def _fields(self, text: str) -> list[tuple[str, bool]]:
        """Return each field's text, and whether it stands in quotes. Cost: O(text)."""
        found: list[tuple[str, bool]] = []
        at = 0
        while True:
            match = self._field.match(text, at)
            if match is None:
                what = f"field {len(found) + 1} is neither in quotes nor free of quotes and line breaks"
                raise RecordFault("malformed_csv", what)
            quoted = match[1] is not None
            found.append((match[1].replace('""', '"') if quoted else match[2], quoted))
            at = match.end()
            if not match[3]:
                return found


def _value(type_: ColumnType, text: str, quoted: bool) -> Coded | None:
    if not text and not quoted:
        return None
    if type_.kind is Kind.BOOLEAN:
        return read_scalar(type_, _WORDS.get(text, text))
    if type_.kind in _NUMBERS:
        if not _NUMBER.fullmatch(text):
            raise RecordFault("malformed_value", f"expected a number for {type_}, got {text[:_SHOWN_CHARACTERS]!r}")
        return read_scalar(type_, Number(text))
    return read_scalar(type_, text)
