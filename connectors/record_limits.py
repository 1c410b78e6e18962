"""How long what comes from outside may be, and what is sized from it.

    MAX_RECORD_BYTES      65,536   key and value of a row; the texts of a Debezium row
    MAX_ENVELOPE_BYTES 1,048,576   key and value of a Debezium record, which has the row twice and its source
    KEPT_BYTES           262,144   of the key and of the value that a dead letter keeps, in base64

To change one, change with it (`tests/connectors/test_record_limits.py` fails until these fit):

* `state/byte_runs.py`, `RECORD_BYTES`: what tidewire's parts write for each other and for subscribers. A text that a
  row may have must fit beside the one before it when every byte is escaped as JSON, which makes six of one;
* `connectors/json/reader.py`, `MAX_BYTES`: the longest JSON that is read at all, with room above an envelope;
* `connectors/kafka/producer.py` and `conf/broker.properties`: what a broker takes;
* the numbers that `verify` and the tests' twin state for themselves: `tidewire/verification/input/decoding.py`,
  `tidewire/verification/input/debezium.py`, `tests/oracle/json_twin.py`;
* `docs/formats.md`, which tells users the numbers.
"""

from __future__ import annotations

MAX_RECORD_BYTES = 65_536
MAX_ENVELOPE_BYTES = 1_048_576
KEPT_BYTES = 262_144
