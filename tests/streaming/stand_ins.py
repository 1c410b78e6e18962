"""Stand-ins for a shard: they write down what they were given, so that tests see it exactly."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence

from connectors.record import OutRecord, RawRecords
from shard.group_spec import GroupSpec
from shard.order import order_records
from shard.pipeline import GroupResult


def tally(spec: GroupSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
    """Write one record that lists the batch in its order; the state is a count and a checksum of all there was."""
    relation = spec.tables.get(spec.group)
    if relation is None:
        return GroupResult(None, [])
    count, checksum = json.loads(state) if state else (0, 0)
    rows = [row for part in _by_topic(records) for row in _rows(order_records(part))]
    for row in rows:
        checksum = zlib.crc32(json.dumps(row).encode(), checksum)
        if row[5] == "slow":
            time.sleep(2)
        if row[5] == "fail":
            raise ValueError("the stand-in was told to fail")
    report = {
        "epoch": spec.epoch,
        "shard": spec.group,
        "batch": batch,
        "catalog": spec.catalog.version,
        "born": relation.born,
        "count": count + len(rows),
        "checksum": checksum,
        "rows": rows,
    }
    out = OutRecord(spec.topics.notifications, 0, spec.group.encode(), json.dumps(report).encode())
    return GroupResult(json.dumps([count + len(rows), checksum]).encode(), [out])


def _by_topic(records: Sequence[RawRecords]) -> list[list[RawRecords]]:
    topics = sorted({part.topic for part in records})
    return [[part for part in records if part.topic == topic] for topic in topics]


def _rows(records: RawRecords) -> list[list[object]]:
    columns = zip(
        records.partition.tolist(),
        records.offset.tolist(),
        records.timestamp.tolist(),
        records.keys,
        records.values,
        strict=True,
    )
    return [
        [records.topic, partition, offset, micros, _text(key), _text(value)]
        for partition, offset, micros, key, value in columns
    ]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def bulky(spec: GroupSpec, _batch: int, _state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
    """Write 48 MB in four records."""
    out = [OutRecord(spec.topics.notifications, 0, spec.group.encode(), b"." * 12_000_000)] * 4
    return GroupResult(b"", out if records else [])
