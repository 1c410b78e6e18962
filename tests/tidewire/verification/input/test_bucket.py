"""The second writing of the rule against the first, over keys of every type, good and bad."""

import dataclasses
import random

from catalog.ddl.statements import to_ddl
from connectors.formats.bucket import Buckets
from tests.connectors.documents import Publisher, relation_of
from tests.connectors.formats.test_bucket import bucketed
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.bucket import bucket_of
from tidewire.verification.input.declared import Declared
from tidewire.verification.records.journal import Record


def test_both_tell_the_same_bucket() -> None:
    told = set()
    for seed in range(40):
        rng = random.Random(seed)
        relation = bucketed(relation_of(rng), rng)
        relation = dataclasses.replace(relation, key=tuple(c.name for c in relation.columns if c.name in relation.key))
        record = Record(0, 0, 0, None, to_ddl(relation).encode())
        tables = Declared([record], scratch=SCRATCH).at(0)
        if not tables:
            continue  # names that differ in case only: two columns for us, one for DuckDB
        [table] = tables.values()
        assert set(table.bucket_by) == set(relation.bucket_by)
        publisher = Publisher(relation, rng)
        keys = [publisher.record()[0] for _ in range(30)]
        buckets = Buckets(relation).of_keys(keys).tolist()
        assert buckets == [bucket_of(table, key) for key in keys], (seed, table)
        told |= set(buckets)
    assert len(told) > 30


def test_a_table_in_one_piece_has_one_bucket() -> None:
    [table] = Declared([Record(0, 0, 0, None, b"CREATE TABLE t (k INTEGER PRIMARY KEY)")]).at(0).values()
    assert bucket_of(table, b"7") == 0
