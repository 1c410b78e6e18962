"""Stages `decode` and `resolve` of a member: records of its topic become changes that say all themselves."""

from __future__ import annotations

from catalog.schema.relation import as_declared
from connectors.formats.record_format import Decoded, format_of
from connectors.record import RawRecords
from shard.derived_columns import with_derived
from shard.resolve import Resolved, resolve
from shard.state import ShardState


def decode(member: ShardState, rows: RawRecords, several: frozenset[str]) -> Decoded:
    """Decode the rows of a member's topic.

    A row without a key is taken only from a topic of one partition, and never after records of another one.
    Of a table with buckets each row must say by its key which one it is in.
    """
    member.highest_partition = max(member.highest_partition, int(rows.partition.max()))
    single = member.highest_partition == 0 and member.relation.topic not in several
    keyless = single and not member.relation.bucket_by
    decoded = format_of(as_declared(member.relation), keyless=keyless).decode(rows)
    return with_derived(member.relation, decoded)


def settle(member: ShardState, decoded: Decoded, rows: RawRecords) -> Resolved:
    """Resolve what hangs on stored rows; what cannot be resolved is a dead letter like what cannot be decoded."""
    return resolve(decoded, rows, member.relation, member.table.stored, member.graves, member.repeats)
