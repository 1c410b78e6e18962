"""How long what comes from outside may be, and what is sized from it.

    MAX_RECORD_BYTES      65,536   key and value of a row; the texts of a Debezium row
    MAX_ENVELOPE_BYTES 1,048,576   key and value of a Debezium record, which has the row twice and its source
    KEPT_BYTES           262,144   of the key and of the value that a dead letter keeps, in base64

To change one, change with it (`tests/connectors/test_record_limits.py` fails until these fit) what no longer holds of

    2 (6 MAX_RECORD_BYTES + 2) + 1,000 <= RECORD_BYTES          a text before and after in a delivery: JSON makes six
    2 * 6 MAX_RECORD_BYTES <= MAX_ENVELOPE_BYTES <= MAX_BYTES   bytes of one at worst; both in an envelope
    MAX_RECORD_BYTES <= KEPT_BYTES                              a dead letter has its record whole,
    2 * 4/3 KEPT_BYTES + 1,000 <= RECORD_BYTES                  key and value, in base64
    RECORD_BYTES, MAX_BYTES < MESSAGE_MAX_BYTES                 what a broker of ours takes

with `RECORD_BYTES` of `state/byte_runs.py`, `MAX_BYTES` of `connectors/json/reader.py` (the longest JSON that is
read), and `MESSAGE_MAX_BYTES` of `connectors/kafka/producer.py`, also in `conf/broker.properties`. A row of 128 kB
would need a `RECORD_BYTES` beyond what a broker takes by default. And always:

* the numbers that `verify` and the tests' twin state for themselves: `tidewire/verification/input/decoding.py`,
  `tidewire/verification/input/debezium.py`, `tests/oracle/json_twin.py`;
* `docs/formats.md`, which tells users the numbers.
"""

from __future__ import annotations

MAX_RECORD_BYTES = 65_536
MAX_ENVELOPE_BYTES = 1_048_576
KEPT_BYTES = 262_144
