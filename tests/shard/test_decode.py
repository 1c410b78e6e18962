"""Records of a member's topic become changes: whose keys may be absent, which columns are derived, what is settled."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from shard.decode import decode, settle
from shard.state import ShardState

TABLE = "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR{}) {}"
ROW = b'{"k":1,"v":"a"}'


def member(columns: str = "", options: str = "") -> ShardState:
    relation = apply_ddl(Catalog(), TABLE.format(columns, options), 1).relations["t"]
    return ShardState(relation, relation.shards[0] if relation.bucket_by else relation.shard)


def rows(*pairs: tuple[bytes | None, bytes | None], partition: int = 0) -> RawRecords:
    places = np.arange(len(pairs))
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    return RawRecords("t", keys, values, np.full(len(pairs), partition, np.int32), places, places)


def taken(of: ShardState, several: frozenset[str] = frozenset(), partition: int = 0) -> bool:
    """Whether a row without a key is taken; it is a dead letter where it is not."""
    decoded = decode(of, rows((None, ROW), partition=partition), several)
    assert len(decoded.changes) + len(decoded.dead) == 1
    assert not decoded.dead or decoded.dead[0].code == "missing_key"
    return not decoded.dead


def test_a_row_needs_no_key_where_its_topic_has_one_partition() -> None:
    assert taken(member())
    assert taken(member(), frozenset({"u"}))
    assert not taken(member(), frozenset({"t"}))
    assert not taken(member(), partition=1)


def test_once_another_partition_was_seen_a_key_is_needed_for_ever() -> None:
    """The batch in which it is seen counts, and so do those that follow."""
    of = member()
    decode(of, rows((b'{"k":1}', ROW), partition=2), frozenset())
    assert of.highest_partition == 2
    assert not taken(of)
    assert of.highest_partition == 2


def test_a_row_of_a_table_with_buckets_says_by_its_key_which_it_is_in() -> None:
    assert not taken(member(options="WITH ('buckets'='2', 'bucket.by'='k')"))


def test_what_is_derived_is_filled_in() -> None:
    of = member(", r INT4RANGE")
    changes = decode(of, rows((None, b'{"k":1,"v":"a","r":"(1,5]"}')), frozenset()).changes
    assert len(changes.valid) == len(of.relation.columns) == 7
    assert changes.codes[of.relation.index("r.upper"), 0] == 5


@pytest.mark.parametrize("there", [False, True])
def test_what_was_left_out_is_what_is_stored(there: bool) -> None:
    of = member(options="WITH ('absent'='keep')")
    if there:
        raw = rows((b'{"k":1}', ROW))
        of.table.apply(settle(of, decode(of, raw, frozenset()), raw).changes)
    raw = rows((b'{"k":1}', b'{"k":1}'))
    of.table.apply(settle(of, decode(of, raw, frozenset()), raw).changes)
    assert of.table.rows == 1
    assert of.table.stored.image(0) == [1, "a" if there else None]
