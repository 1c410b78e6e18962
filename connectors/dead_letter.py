"""Dead letters: records that cannot be decoded, as values, and how they look in the topic `dead-letters`.

Stable codes, so that a program can act on them:

    too_large          key and value together are longer than `MAX_RECORD_BYTES` (`connectors/record_limits.py`)
    invalid_utf8       some bytes are not UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF)
    byte_order_mark    the text begins with U+FEFF, which RFC 8259 forbids to send
    malformed_json     not one JSON text: syntax, NaN, Infinity, text after the end
    lone_surrogate     an escape such as \\ud800 without its other half: no UTF-8 exists for it
    too_deep           arrays and objects nested more than 64 deep
    not_an_object      valid JSON, but a row is an object
    missing_column     a column without a value that may not be left out
    null_not_allowed   null in a NOT NULL or primary-key column
    wrong_type         a JSON type that the column does not take
    malformed_value    a string that is not a date, timestamp or decimal
    out_of_range       a number or date beyond the column's bounds
    out_of_scale       a decimal with nonzero digits beyond the column's scale
    missing_key        no Kafka key (a tombstone, or a row in a topic of several partitions)
    malformed_key      the Kafka key is not the primary key as JSON
    key_disagrees      the Kafka key and the row's primary key differ
    not_an_envelope    an object without `op` that is none of the records that a connector sends beside changes
    unknown_operation  an `op` that is not c, u, d, r, t or m
    missing_image      a create, update or read without the row in `after`
    malformed_schema   the schema that the record carries is none, or lacks what a value needs
    missing_schema     neither the record nor the table says how a value is written
    unavailable_value  a placeholder for a value that did not change, and no stored row has it
    malformed_frame    does not begin with the registry's framing
    unknown_schema     the number of a schema that neither the table lists nor the registry has, or one that is unfit
    malformed_avro     not one datum of the schema that wrote it
    malformed_protobuf not one message of the schema that wrote it
    unknown_message    a message that its schema does not have, or that is not the table's
    malformed_csv      not one line of fields, or more fields than columns
    tombstone          a record without a value, for a stream
    late               a row of a stream, before the horizon that its partition had reached
    ahead              a row of a stream whose event time is too far after the time of its record
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

import msgspec

from connectors.record import OutRecord, RawRecords
from connectors.record_limits import KEPT_BYTES
from connectors.topics import Topics


class RecordFault(Exception):
    """Why one record cannot be decoded; caught inside the decoder, which turns it into a `DeadLetter`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record that could not be decoded, where it stood and why. `timestamp` is in microseconds."""

    code: str
    message: str
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @classmethod
    def of(cls, fault: RecordFault, records: RawRecords, i: int) -> DeadLetter:
        """Return the letter of record number `i`."""
        position = int(records.partition[i]), int(records.offset[i]), int(records.timestamp[i])
        return cls(fault.code, fault.message, records.topic, *position, records.keys[i], records.values[i])

    def record(self, topics: Topics) -> OutRecord:
        """Return the record for the topic `dead-letters`; its key is `topic/partition/offset`.

        Key and value stand in it as base64, at most 256 kB of each, so that the letter stays below the sink's
        limit whatever came; `key_length`, `length` and `sha256` are those of the whole key and the whole value.
        Cost: O(bytes of key and value).
        """
        body = {
            "code": self.code,
            "message": self.message,
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "timestamp": self.timestamp,
            "key": _base64(self.key),
            "key_length": None if self.key is None else len(self.key),
            "value": _base64(self.value),
            "length": None if self.value is None else len(self.value),
            "sha256": None if self.value is None else hashlib.sha256(self.value).hexdigest(),
        }
        position = f"{self.topic}/{self.partition}/{self.offset}".encode()
        return OutRecord(topics.dead_letters, 0, position, msgspec.json.encode(body))


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(memoryview(data)[:KEPT_BYTES]).decode()
