"""A member is a function of a base and the deltas since: where it was written and read again makes no difference.

One is never closed. Others are opened before each batch from each base that there was, and from the group's bytes, and
run the same batch: the records that are sent, the base and the delta behind it are the same to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.schema.relation import Relation
from connectors.record import OutRecord, RawRecords
from shard.group import Group, read_delta, write_delta
from shard.order import Ordered, order
from shard.pipeline import begun, process_group
from shard.state import ShardState
from state.blob import read_blob, write_blob
from tests.effort import deep_examples
from tests.shard.test_members import EDGES, MEMBERS, SHAPES, TOPICS, Members, ids, shapes, small, tables, texts

MAGIC = b"TWTESTS\x00"
Ran = tuple[list[OutRecord], bytes, bytes]


@dataclass
class Past:
    """`kept` is never closed; `bases` have each base that there was, and the deltas since."""

    kept: ShardState
    bases: list[tuple[bytes, list[bytes]]] = field(default_factory=list)


EDGE, PARTITION = st.integers(0, EDGES - 1), st.integers(0, 1)
PUT = st.tuples(st.just("put"), tables, PARTITION, ids, small, texts, small)
REGISTER = st.tuples(st.just("register"), tables, EDGE, shapes, small, small)
WITHDRAW = st.tuples(st.just("withdraw"), tables, EDGE, shapes)
DELETE = st.tuples(st.just("delete"), tables, PARTITION, ids, small)
RARE = st.one_of(
    st.tuples(st.just("damage"), tables, EDGE),
    st.tuples(st.just("move"), small, ids, ids),
    st.tuples(st.just("truncate"), PARTITION, small),
    st.tuples(st.just("widen"), tables),
    st.tuples(st.just("drop_or_create"), tables),
)
EVENTS = st.one_of(PUT, PUT, PUT, REGISTER, REGISTER, WITHDRAW, DELETE, RARE)


class Reopened(Members):
    """What happens to `Members`, one group a table."""

    def forget(self) -> None:
        super().forget()
        self.pasts: dict[str, Past] = {}

    def run(self, share: float) -> None:
        """Run a batch of a share of what is unread."""
        ends = {}
        for place, log in self.logs.items():
            start = self.read.get(place, 0)
            ends[place] = start + round(share * (len(log) - start))
        self.batch += 1
        for table, name in MEMBERS.items():
            pieces = (
                self.pieces(topic, key, ends, Random(0)) for topic, key in ((table, None), (TOPICS.registrations, name))
            )
            taken = [piece for some in pieces for piece in some]
            if taken and table in self.catalog.relations:
                self.run_member(self.catalog.relations[table], name, taken)
        self.read |= ends

    def run_member(self, relation: Relation, name: str, taken: list[RawRecords]) -> None:
        past = self.past_of(relation, name)
        ordered = order(taken, TOPICS.registrations, {relation.topic})
        groups = [group_of(name, *pair) for pair in past.bases]
        reopened = [opened(relation, name, *pair) for pair in past.bases]
        expected = self.ran(past.kept, ordered)
        for member in reopened:
            assert member is not None and self.ran(member, ordered) == expected
            member.table.check()
        for group in groups:
            result = process_group(self.spec(name), self.batch, group, taken)
            assert result.out == expected[0]
            assert result.state == Group(name, [past.kept]).dump()
        for _, deltas in past.bases:
            deltas.append(expected[2])
        past.bases = [*past.bases[-3:], (expected[1], [])]

    def past_of(self, relation: Relation, name: str) -> Past:
        past = self.pasts.get(name)
        if past is None or past.kept.relation.born != relation.born:
            assert past is None or opened(relation, name, *past.bases[0]) is None
            past = self.pasts[name] = Past(ShardState(relation, name))
        elif past.kept.relation != relation:
            wider = opened(relation, name, past.bases[-1][0], [])
            assert wider is not None
            past.kept = wider
        return past

    def ran(self, member: ShardState, ordered: Ordered) -> Ran:
        spec = self.spec(member.shard)
        one = begun(spec, self.batch, member, ordered, False)
        moved = one.take(ordered)
        if moved is not None:
            one.tell(moved)
        out = list(one.records())
        return out, write_blob(MAGIC, 1, "", member.base()), write_delta(member.shard, member.delta())


def opened(relation: Relation, name: str, base: bytes, deltas: list[bytes]) -> ShardState | None:
    read = [read_delta(name, delta) for delta in deltas]
    return ShardState.open(relation, name, read_blob(base, MAGIC, 1, ""), read)


def group_of(name: str, base: bytes, deltas: list[bytes]) -> bytes:
    """Return the state of a group as one would write it that writes bases more rarely."""
    sections = {f"0/{own}": part for own, part in read_blob(base, MAGIC, 1, "").items()}
    since = {f"0/delta/{number}": delta for number, delta in enumerate(deltas)}
    return write_blob(b"tw-shard", 3, name, {"members": msgspec.json.encode([name]), **sections, **since})


@pytest.mark.deep
@settings(max_examples=deep_examples(240), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.lists(EVENTS, min_size=1, max_size=8), st.sampled_from([0.5, 1.0])), min_size=2, max_size=8)
)
def test_where_a_base_was_written_makes_no_difference(batches: list[tuple[list[tuple[Any, ...]], float]]) -> None:
    history = Reopened()
    for table, shape in product(MEMBERS, SHAPES):
        history.register(table, 0, shape, 0, 2)
    for events, share in batches:
        for name, *arguments in events:
            getattr(history, name)(*arguments)
        history.run(share)
