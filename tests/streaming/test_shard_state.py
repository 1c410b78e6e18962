from dataclasses import replace

import pytest

from catalog.shape import Shape
from state.errors import StateError
from streaming.shard_state import ShardState
from tests.streaming.test_register import RELATION, state


def test_dump_and_open_keep_everything():
    shard = state()
    shard.seq, shard.highest_partition = 41, 3
    shard.listeners = {Shape("t", "min", "y", (), "x"): 0b101}
    shard.operator.listen(list(shard.listeners))
    shard.counters.unknown_members = ["extra"]
    again = ShardState.open(RELATION, shard.dump())
    assert (again.seq, again.highest_partition, again.listeners) == (41, 3, shard.listeners)
    assert again.counters == shard.counters and again.operator.rows == 2
    assert again.dump() == shard.dump()


def test_no_bytes_is_an_empty_shard():
    assert ShardState.open(RELATION, None).operator.rows == 0


def test_a_table_created_again_begins_empty():
    again = ShardState.open(replace(RELATION, born=RELATION.born + 1), state().dump())
    assert again.operator.rows == 0 and again.seq == -1 and again.listeners == {}


def test_another_shards_state_is_refused():
    with pytest.raises(StateError, match="t/0"):
        ShardState.open(replace(RELATION, name="u"), state().dump())
