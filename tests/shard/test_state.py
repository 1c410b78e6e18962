from dataclasses import replace

import msgspec
import pytest

from connectors.unresolved import Position
from shard.replayed_changes import Repeats
from shard.state import ShardState
from state.blob import read_blob, write_blob
from state.boxes import Boxes, hashes_of
from state.errors import StateError
from tests.shard.test_register import LOW, RELATION, ROWS, state


def test_dump_and_open_keep_everything():
    shard = state()
    shard.seq, shard.highest_partition = 41, 3
    shard.listeners = {ROWS: {2: Boxes.none()}, LOW: {5: Boxes.of(hashes_of([b"[]"])), 0: Boxes.none()}}
    shard.operator.listen(list(shard.listeners))
    shard.counters.unknown_members = ["extra"]
    shard.repeats = Repeats([(0, Position("a", 0, 9, 5), None), (1, Position("b", 7, 9, 1_772_409_599_000_000), b"k")])
    again = ShardState.open(RELATION, RELATION.shard, shard.dump())
    assert (again.seq, again.highest_partition) == (41, 3)
    assert {channel: list(edges) for channel, edges in again.listeners.items()} == {LOW: [0, 5], ROWS: [2]}
    assert again.listeners[LOW][5].dump() == shard.listeners[LOW][5].dump()
    assert again.counters == shard.counters and again.operator.rows == 2
    assert again.repeats.stored() == shard.repeats.stored()
    assert again.dump() == shard.dump()


def test_no_bytes_is_an_empty_shard():
    assert ShardState.open(RELATION, RELATION.shard, None).operator.rows == 0


def test_a_table_created_again_begins_empty():
    again = ShardState.open(replace(RELATION, born=RELATION.born + 1), RELATION.shard, state().dump())
    assert again.operator.rows == 0 and again.seq == -1 and again.listeners == {}


def test_a_table_of_an_earlier_birth_than_its_state_is_refused_as_any_other_declaration():
    with pytest.raises(StateError, match="another declaration"):
        ShardState.open(replace(RELATION, born=RELATION.born - 1), RELATION.shard, state().dump())


def test_a_state_without_the_counters_of_today_is_read():
    shard = state()
    shard.counters.registrations = 7
    sections = read_blob(shard.dump(), b"tw-shard", 2, RELATION.shard)
    memory = msgspec.msgpack.decode(bytes(sections["memory"]))
    for name in ("unfit_registrations", "unreadable_registrations", "unfit_reasons"):
        del memory["counters"][name]
    sections = {"memory": msgspec.msgpack.encode(memory), "operator": bytes(sections["operator"])}
    again = ShardState.open(RELATION, RELATION.shard, write_blob(b"tw-shard", 2, RELATION.shard, sections))
    assert again.counters == shard.counters and again.operator.rows == 2


def test_another_shards_state_is_refused():
    with pytest.raises(StateError, match="t/0"):
        ShardState.open(RELATION, "t/1", state().dump())
