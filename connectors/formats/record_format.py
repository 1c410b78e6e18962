"""Record formats: how the bytes of a topic become changes of a relation. One class a format, one contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from catalog.schema.relation import Relation
from connectors.decoded import Decoded
from connectors.formats.avro_format import AvroFormat
from connectors.formats.csv_format import CsvFormat
from connectors.formats.debezium_format import DebeziumFormat
from connectors.formats.protobuf_format import ProtobufFormat
from connectors.json.format import JsonFormat
from connectors.record import RawRecords
from state.errors import UserError

__all__ = ["Decoded", "RecordFormat", "RecordFormatError", "format_of"]


class RecordFormat(Protocol):
    """Decodes batches of one relation. It keeps nothing between batches, so a replay decodes alike."""

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records; changes and dead letters keep that order.

        Raises nothing for bad input; RegistryFailure if a schema is needed that the registry does not say now.
        """
        ...


class RecordFormatError(UserError):
    """A relation names a record format that does not exist."""

    code = "unknown_format"


_FORMATS: dict[str, Callable[[Relation, bool], RecordFormat]] = {
    "json": JsonFormat,
    "debezium-json": DebeziumFormat,
    "avro": AvroFormat,
    "protobuf": ProtobufFormat,
    "csv": CsvFormat,
}


@lru_cache(maxsize=256)
def format_of(relation: Relation, keyless: bool = False) -> RecordFormat:
    """Return the decoder of a relation's format. `keyless`: the topic has one partition, so rows need no key.

    Raises RecordFormatError.
    """
    found = _FORMATS.get(relation.format)
    if found is None:
        known = ", ".join(f"'{name}'" for name in _FORMATS)
        raise RecordFormatError(
            f"cannot read table `{relation.name}`: expected one of the formats {known}, "
            f"got {relation.format!r}; change 'format' in its WITH clause"
        )
    return found(relation, keyless)
