from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from streaming.parcel import RECORDS, Wrap, unwrap

TOPICS = ("t.registrations", "stock", "shared")
WRAP = Wrap(shards=((), ("stock/0",), ("bond/0", "share/0")), known=("bond/0", "share/0", "stock/0"))

Record = tuple[int, bytes | None, bytes | None, int]


def batch(records: Iterable[Record], kind: pa.DataType) -> pa.RecordBatch:
    source, key, value, offset = ([*column] for column in zip(*records, strict=True))
    columns = [
        pa.array(source, pa.int32()),
        pa.array(key, kind),
        pa.array(value, kind),
        pa.array([7] * len(offset), pa.int32()),
        pa.array(offset, pa.int64()),
        pa.array([2**60 + i for i in offset], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, list(RECORDS))


def travel(batches: Iterable[pa.RecordBatch]) -> dict[tuple[str, str], list[tuple[bytes | None, bytes | None, int]]]:
    """Return what arrives, by shard and topic."""
    arrived: dict[tuple[str, str], list[tuple[bytes | None, bytes | None, int]]] = {}
    for wrapped in WRAP(batches):
        for row in wrapped.to_pylist():
            records = unwrap(row["parcel"], TOPICS[row["source"]])
            assert records.partition.tolist() == [7] * len(records)
            assert records.timestamp.tolist() == [2**60 + i for i in records.offset.tolist()]
            assert (records.partition.dtype, records.offset.dtype) == (np.int32, np.int64)
            rows = zip(records.keys, records.values, records.offset.tolist(), strict=True)
            arrived.setdefault((row["shard"], records.topic), []).extend(rows)
    return arrived


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("cut", [1, 2, 100])
def test_every_record_arrives_at_its_shards_wherever_it_is_cut(cut: int, kind: pa.DataType) -> None:
    records: list[Record] = [
        (1, b"a", b"1", 2**53 + 1),
        (0, b"stock/0", b"r", 5),
        (2, b"b", None, 6),
        (1, None, b"", 7),
        (0, b"gone/0", b"r", 8),
        (0, None, b"r", 9),
        (0, b"\xff", b"r", 10),
        (0, b"bond/0", None, 11),
        (0, b"stock/0", b"s", 12),
    ]
    assert travel(batch(records[i : i + cut], kind) for i in range(0, len(records), cut)) == {
        ("stock/0", "stock"): [(b"a", b"1", 2**53 + 1), (None, b"", 7)],
        ("stock/0", "t.registrations"): [(b"stock/0", b"r", 5), (b"stock/0", b"s", 12)],
        ("bond/0", "shared"): [(b"b", None, 6)],
        ("share/0", "shared"): [(b"b", None, 6)],
        ("bond/0", "t.registrations"): [(b"bond/0", None, 11)],
    }


def test_nothing_for_any_shard_is_no_row() -> None:
    assert travel([batch([(0, b"gone/0", b"r", 8)], pa.large_binary())]) == {}
