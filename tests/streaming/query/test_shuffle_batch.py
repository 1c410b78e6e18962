from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.placement import Placement
from streaming.query import shuffle_batch
from streaming.query.shuffle_batch import RECORDS, ShuffleBatches, unwrap

TOPICS = ("t.registrations", "stock", "shared", "parted")
DDL = (
    "CREATE TABLE stock (k VARCHAR PRIMARY KEY)",
    "CREATE TABLE bond (k VARCHAR PRIMARY KEY) WITH ('topic'='shared')",
    "CREATE TABLE parted (k VARCHAR, n INTEGER, PRIMARY KEY (k, n)) WITH ('buckets'='3', 'bucket.by'='k')",
    "DROP TABLE bond; CREATE TABLE share (k VARCHAR PRIMARY KEY) WITH ('topic'='shared')",
)
VERSIONS = [reduce(lambda old, new: apply_ddl(old, new, old.version + 1), DDL[:n], Catalog()) for n in range(5)]
WRAP = ShuffleBatches(TOPICS, ((0, Placement.of(VERSIONS[3])), (8, Placement.of(VERSIONS[4]))))

Record = tuple[int, bytes | None, bytes | None, int]


@pytest.fixture(autouse=True)
def number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle_batch, "current_batch", lambda: 7)


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
        ("bond/0", "t.registrations"): [(b"bond/0", None, 11)],
    }


def test_a_batch_is_parted_by_its_own_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[Record] = [(2, b"b", None, 6), (0, b"bond/0", b"r", 7), (0, b"share/0", b"r", 8)]
    assert {shard for shard, _ in travel([batch(records, pa.binary())])} == {"bond/0"}
    monkeypatch.setattr(shuffle_batch, "current_batch", lambda: 8)
    assert {shard for shard, _ in travel([batch(records, pa.binary())])} == {"share/0"}
    early = ShuffleBatches(TOPICS, ((0, Placement.of(VERSIONS[1])),))
    assert [wrapped.num_rows for wrapped in early([batch(records, pa.binary())])] == [0]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("cut", [1, 3, 100])
def test_records_go_to_the_shard_of_their_bucket_in_their_order(cut: int, kind: pa.DataType) -> None:
    keys = [b'{"k":"%d","n":%d}' % (i % 5, i) if i % 3 else b' {"n":%d, "k":"%d"}' % (i, i % 5) for i in range(60)]
    keys[10:12] = [None, b"no key"]
    records: list[Record] = [(3, key, b"%d" % i, i) for i, key in enumerate(keys)]
    arrived = travel(batch(records[i : i + cut], kind) for i in range(0, len(records), cut))
    for i, key in enumerate(keys):
        bucket = 0 if i in (10, 11) else crc32(b'{"k":"%d"}' % (i % 5)) % 3
        assert (key, b"%d" % i, i) in arrived[f"parted/{bucket}", "parted"]
    assert sum(map(len, arrived.values())) == 60
    assert all(offsets == sorted(offsets) for offsets in ([o for *_, o in part] for part in arrived.values()))


@pytest.mark.parametrize(
    "name", [b"parted/3", b"parted/02", b"parted/-1", b"parted/", b"parted", "parted/\u0662".encode()]
)
def test_no_registration_makes_a_shard(name: bytes) -> None:
    assert travel([batch([(0, name, b"r", 8)], pa.large_binary())]) == {}
    assert len(travel([batch([(0, b"parted/2", b"r", 8)], pa.large_binary())])) == 1


def test_nothing_for_any_shard_is_no_row() -> None:
    assert travel([batch([(0, b"gone/0", b"r", 8)], pa.large_binary())]) == {}
