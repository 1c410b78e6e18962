from dataclasses import replace

import msgspec
import pytest

from shard.group import Group, alone, write_delta
from shard.state import ShardState
from state.blob import open_blob, write_blob
from state.errors import StateError
from tests.shard.test_register import RELATION, state

OTHER = replace(RELATION, name="u", topic="u")
TABLES = {"t/0": RELATION, "u/0": OTHER}


def both() -> bytes:
    other = ShardState(OTHER, "u/0")
    other.seq = 7
    return Group("g/0", [other, state()]).dump()


def test_members_come_back_by_name():
    group = Group.open("g/0", TABLES, both())
    assert group["t/0"].table.rows == 2 and group["t/0"].seq == -1
    assert group["u/0"].table.rows == 0 and group["u/0"].seq == 7
    assert group.dump() == both()


def test_no_bytes_are_an_empty_group():
    assert alone(RELATION, "t/0", None).table.rows == 0


def test_what_is_not_opened_is_written_as_it_was_read():
    group = Group.open("g/0", TABLES, both())
    group["u/0"].seq = 8
    read = Group.open("g/0", TABLES, group.dump())
    assert read["t/0"].table.rows == 2 and read["u/0"].seq == 8
    assert Group.open("g/0", TABLES, both()).dump() == both()


def test_a_member_comes_and_goes_with_the_catalog():
    one = Group.open("g/0", {"t/0": RELATION}, both()).dump()
    more = Group.open("g/0", TABLES, one)
    assert more["t/0"].table.rows == 2 and more["u/0"].seq == -1


def test_a_table_created_again_begins_empty_beside_the_others():
    group = Group.open("g/0", TABLES | {"u/0": replace(OTHER, born=9)}, both())
    assert group["u/0"].seq == -1 and group["t/0"].table.rows == 2


def test_a_member_without_a_state_of_its_birth_begins_with_the_seed():
    born = replace(OTHER, born=9)
    seeded = ShardState(born, "u/0")
    seeded.seq = 100
    seed = Group("g/0", [seeded, ShardState(RELATION, "t/0")]).dump()
    group = Group.open("g/0", TABLES | {"u/0": born}, both(), seed)
    assert group["u/0"].seq == 100, "what is stored is of the table that was dropped"
    assert group["t/0"].table.rows == 2, "what is stored is newer than the seed"
    assert Group.open("g/0", TABLES | {"u/0": born}, None, seed)["u/0"].seq == 100


def test_a_seed_is_written_with_the_first_batch_whichever_member_that_is_for():
    seeded = ShardState(OTHER, "u/0")
    seeded.seq = 100
    seed = Group("g/0", [seeded]).dump()
    group = Group.open("g/0", TABLES, None, seed)
    assert group["t/0"].seq == -1
    assert Group.open("g/0", TABLES, group.dump())["u/0"].seq == 100
    born = replace(OTHER, born=9)
    seed = Group("g/0", [ShardState(born, "u/0")]).dump()
    written = Group.open("g/0", TABLES | {"u/0": born}, both(), seed).dump()
    assert Group.open("g/0", {"u/0": born}, written)["u/0"].seq == -1


def with_deltas(*deltas: bytes) -> bytes:
    _, sections = open_blob(Group("t/0", [state()]).dump(), b"tw-shard", 3)
    return write_blob(b"tw-shard", 3, "t/0", sections | {f"0/delta/{k}": delta for k, delta in enumerate(deltas)})


def test_deltas_stand_behind_a_base_and_are_taken_in_their_order():
    """Twelve of them: 10 comes after 9."""
    member, deltas = state(), []
    for seq in range(12):
        member.begin()
        member.seq = seq
        deltas.append(write_delta("t/0", member.delta()))
    stored = with_deltas(*deltas)
    assert alone(RELATION, "t/0", stored).seq == 11
    assert Group.open("t/0", {"t/0": RELATION}, stored).dump() == stored, "what is not opened stays as it is"
    group = Group.open("t/0", {"t/0": RELATION}, stored)
    assert group["t/0"].table.rows == 2
    assert group.dump() == Group("t/0", [member]).dump(), "what is opened is written as a base"


def test_a_delta_that_does_not_fit_its_base_is_refused():
    member = state()
    delta = write_delta("t/0", member.delta())
    for wrong, reason in (
        (delta[:-1] + b"?", "damaged"),
        (write_delta("u/0", member.delta()), "another declaration"),
        (write_delta("t/0", ShardState(replace(RELATION, born=RELATION.born - 1), "t/0").delta()), "of a table that"),
    ):
        with pytest.raises(StateError, match=reason):
            alone(RELATION, "t/0", with_deltas(delta, wrong))


def test_a_state_without_the_counters_of_today_is_read():
    shard = state()
    shard.counters.registrations = 7
    _, sections = open_blob(Group("t/0", [shard]).dump(), b"tw-shard", 3)
    memory = msgspec.msgpack.decode(bytes(sections["0/memory"]))
    for name in ("unfit_registrations", "unreadable_registrations", "unfit_reasons"):
        del memory["counters"][name]
    older = write_blob(b"tw-shard", 3, "t/0", {**sections, "0/memory": msgspec.msgpack.encode(memory)})
    read = alone(RELATION, "t/0", older)
    assert read.counters == shard.counters and read.table.rows == 2


def test_another_groups_state_is_refused():
    with pytest.raises(StateError, match="g/0"):
        alone(RELATION, "t/1", both())


def test_a_later_format_is_refused():
    with pytest.raises(StateError, match="expected version 3, found 4"):
        alone(RELATION, "t/0", write_blob(b"tw-shard", 4, "t/0", {}))
