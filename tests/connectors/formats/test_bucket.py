from __future__ import annotations

import dataclasses
import json
import random
from zlib import crc32

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.dead_letter import RecordFault
from connectors.formats.bucket import NOWHERE, Buckets, checksums
from connectors.json.byte_layout import ByteLayout
from connectors.json.canonical_key import CanonicalKey
from connectors.json.format import JsonFormat
from tests.connectors.documents import Publisher, relation_of
from tests.connectors.relations import records


def bucketed(relation: Relation, rng: random.Random) -> Relation:
    by = [name for name in relation.key if rng.random() < 0.6] or [relation.key[0]]
    return dataclasses.replace(relation, buckets=rng.choice([2, 3, 64]), bucket_by=tuple(by))


def naive(relation: Relation, canonical: bytes) -> int:
    """The bucket of a canonical key: its members are cut out of the text, one by one."""
    whole, by = CanonicalKey(relation), CanonicalKey(dataclasses.replace(relation, key=relation.bucket_by))
    values = dict(zip(whole.columns, whole.read(canonical), strict=True))
    return crc32(by.write([values[column] for column in by.columns])) % relation.buckets


def test_sums_are_those_of_zlib() -> None:
    strings = [b"123456789", b"", b"\xff" * 70, bytes(range(256)), '{"exchange":"é"}'.encode()]
    assert checksums(ByteLayout.of(strings)).tolist() == [crc32(string) for string in strings]
    assert crc32(b"123456789") == 0xCBF43926


def test_every_record_that_is_taken_was_sent_to_the_bucket_of_its_key() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        relation = bucketed(relation_of(rng), rng)
        publisher = Publisher(relation, rng)
        raw = records([publisher.record() for _ in range(40)])
        buckets = Buckets(relation).of_keys(raw.keys).tolist()
        decoded = JsonFormat(relation).decode(raw)
        by_offset = dict(zip(raw.offset.tolist(), buckets, strict=True))
        for key, offset in zip(decoded.changes.keys, decoded.changes.offset.tolist(), strict=True):
            assert by_offset[offset] == naive(relation, key), (seed, key)


def test_each_key_is_told_as_it_is_read_exactly() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        relation = bucketed(relation_of(rng), rng)
        publisher = Publisher(relation, rng)
        keys = [publisher.record()[0] for _ in range(40)]
        exact = CanonicalKey(relation)
        expected = []
        for key in keys:
            try:
                expected.append(NOWHERE if key is None else naive(relation, exact.write(exact.read(key))))
            except RecordFault:
                expected.append(NOWHERE)
        assert Buckets(relation).of_keys(keys).tolist() == expected, seed


def test_spellings_of_a_key_meet() -> None:
    (relation,) = tables("a DECIMAL(9,2), b VARCHAR, PRIMARY KEY (a, b)", "a, b")
    spellings = ['{"a":"1.50","b":"x"}', ' {"b": "\\u0078", "a": 1.5}', '{"a":15e-1,"b":"y","b":"x"}']
    assert len(set(Buckets(relation).of_keys([s.encode() for s in spellings]).tolist())) == 1
    (single,) = tables("a INTEGER PRIMARY KEY", "a")
    assert len(set(Buckets(single).of_keys([b"7", b'{"a":7}', b" 7 "]).tolist())) == 1


@pytest.mark.parametrize(
    ("kind", "value", "literal"),
    [
        ("VARCHAR", '"N\\u0059\\"SE"', "'NY\"SE'"),
        ("VARCHAR", '""', "''"),
        ("BIGINT", "-9223372036854775808", "-9223372036854775808"),
        ("DECIMAL(9,2)", "1.5", "1.500"),
        ("DECIMAL(30,4)", '"-1.5"', "-1.5"),
        ("DECIMAL(30,4)", "0", "-0.0"),
        ("DOUBLE", "-0.0", "0"),
        ("DOUBLE", "1e2", "100"),
        ("REAL", "0.5", "0.5"),
        ("BOOLEAN", "true", "TRUE"),
        ("DATE", '"2026-03-01"', "DATE '2026-03-01'"),
        ("TIMESTAMP", '"2026-03-01 10:00:00.500"', "TIMESTAMP '2026-03-01 10:00:00.5'"),
    ],
)
def test_a_question_goes_to_the_shard_of_its_rows(kind: str, value: str, literal: str) -> None:
    catalog = apply_ddl(Catalog(), ddl(f"a {kind}, b INTEGER, PRIMARY KEY (b, a)", "a"), 0)
    relation = catalog.relations["t"]
    buckets = Buckets(relation)
    region = Compiler(catalog).compile(f"SELECT COUNT(*) FROM t WHERE b = 3 AND a = {literal}").region
    assert buckets.of_keys([f'{{"b":9,"a":{value}}}'.encode()]).tolist() == [
        buckets.of_group(region.shape.equal, region.group)
    ]


def test_a_question_that_no_row_meets_goes_somewhere() -> None:
    catalog = apply_ddl(Catalog(), ddl("a INTEGER PRIMARY KEY", "a"), 0)
    region = Compiler(catalog).compile("SELECT COUNT(*) FROM t WHERE a = 3 AND a = 4").region
    assert Buckets(catalog.relations["t"]).of_group(region.shape.equal, region.group) == NOWHERE


def test_texts_are_spread() -> None:
    (relation,) = tables("a VARCHAR PRIMARY KEY", "a")
    counts = [0] * 64
    for bucket in Buckets(relation).of_keys([json.dumps(f"s{i}").encode() for i in range(6400)]).tolist():
        counts[bucket] += 1
    assert min(counts) > 60 and max(counts) < 140


def ddl(columns: str, by: str) -> str:
    return f"CREATE TABLE t ({columns}) WITH ('buckets'='64', 'bucket.by'='{by}')"


def tables(columns: str, by: str) -> list[Relation]:
    return list(apply_ddl(Catalog(), ddl(columns, by), 0).relations.values())
