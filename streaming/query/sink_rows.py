"""What a shard writes, as rows for the JVM, which makes a record of each row and each partition in it.

* What all virtual edges get alike crosses to the JVM once: records that share a value (the very same object) become
  one row with a list of partitions. (16 copies of a batch's messages cost 90 ms of the worker alone, measured.)
* No integer column has NULLs: a missing partition is `NO_PARTITION`, and becomes NULL in the JVM.
* Spark's serializer flushes by row count only, so records of 900 kB could pile up to an Arrow batch of gigabytes.
  After every `FLUSH_BYTES` filler rows push the count over its limit; as they have no partitions they make no record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from connectors.record import OutRecord
from state.byte_runs import byte_runs

COLUMNS = "topic string, partitions array<int>, key binary, value binary, header binary"
FLUSH_BYTES = 32_000_000
NO_PARTITION = -1
FILLER_TOPIC = ""

Row = tuple[str, list[int], bytes | None, bytes | None, bytes | None]
"""Topic, partitions, key, value, and the value of the header, None where there is none."""


def frames(out: Sequence[OutRecord], flush_rows: int) -> Iterator[pd.DataFrame]:
    """Yield `out` as frames of at most `FLUSH_BYTES`, or of one row; fillers behind each but the last.

    Records of one partition keep their order, but for those whose value an earlier record of another partition has.
    Cost: O(records), and `flush_rows` filler rows (2 ms for 10,000) every `FLUSH_BYTES`.
    """
    rows = _rows(out)
    sizes = (len(key or b"") + len(value or b"") + len(header or b"") for _, _, key, value, header in rows)
    for run in byte_runs(sizes, FLUSH_BYTES):
        yield _frame(rows[run])
        if run.stop < len(rows):
            yield _frame([(FILLER_TOPIC, [], None, None, None)] * (flush_rows + 1))


def _rows(out: Sequence[OutRecord]) -> list[Row]:
    """Return one row for all records that have a topic, a key, a header and the very same value in common."""
    rows: dict[tuple[str, bytes | None, int, bytes | None], Row] = {}
    for number, record in enumerate(out):
        partition = NO_PARTITION if record.partition is None else record.partition
        identity = -1 - number if record.value is None else id(record.value)
        row: Row = (record.topic, [], record.key, record.value, record.header)
        rows.setdefault((record.topic, record.key, identity, record.header), row)[1].append(partition)
    return list(rows.values())


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    topics, partitions, keys, values, headers = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "topic": pd.Series(topics, dtype=object),
            "partitions": pd.Series(partitions, dtype=object),
            "key": pd.Series(keys, dtype=object),
            "value": pd.Series(values, dtype=object),
            "header": pd.Series(headers, dtype=object),
        }
    )
