from dataclasses import replace

import pytest

from connectors.unresolved import Position
from shard.replayed_changes import Repeats
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.errors import StateError
from tests.shard.test_register import LOW, RELATION, ROWS, state


def again(shard: ShardState, **changes: object) -> ShardState | None:
    sections = {name: memoryview(part) if isinstance(part, bytes) else part for name, part in shard.base().items()}
    return ShardState.open(replace(RELATION, **changes), RELATION.shard, sections)


def test_sections_keep_everything():
    shard = state()
    shard.seq, shard.highest_partition = 41, 3
    shard.listeners = {ROWS: {2: Boxes.none()}, LOW: {5: Boxes.of(hashes_of([b"[]"])), 0: Boxes.none()}}
    shard.table.listen(list(shard.listeners))
    shard.counters.unknown_members = ["extra"]
    shard.repeats = Repeats([(0, Position("a", 0, 9, 5), None), (1, Position("b", 7, 9, 1_772_409_599_000_000), b"k")])
    read = again(shard)
    assert read is not None and (read.seq, read.highest_partition) == (41, 3)
    assert {channel: list(edges) for channel, edges in read.listeners.items()} == {LOW: [0, 5], ROWS: [2]}
    assert read.listeners[LOW][5].dump() == shard.listeners[LOW][5].dump()
    assert read.counters == shard.counters and read.table.rows == 2
    assert read.repeats.stored() == shard.repeats.stored()
    assert read.bytes > 0 == shard.bytes
    read.table.check()


def test_a_table_created_again_takes_nothing_over():
    assert again(state(), born=RELATION.born + 1) is None


def test_a_table_of_an_earlier_birth_than_its_state_is_refused_as_any_other_declaration():
    with pytest.raises(StateError, match="another declaration"):
        again(state(), born=RELATION.born - 1)
