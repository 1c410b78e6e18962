"""What a cell's seed carries over: the state machine of test_cell.py, and the cases that it is for, one by one."""

from __future__ import annotations

from random import Random

import msgspec

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.unresolved import Position
from shard.cell import CellState
from shard.cell_seed import seed_of_cell
from shard.deleted_rows import LIMIT
from shard.group import Group
from shard.pipeline import process_group
from shard.replayed_changes import Repeats
from shard.state import ShardState
from tests.shard.cell_stack import CellStack, rows_of
from tests.shard.test_stream_pipeline import CATALOG, SPEC, events, silent

PLACEHOLDER = "__debezium_unavailable_value"


def stack_of(*statements: str) -> CellStack:
    catalog = Catalog()
    for version, statement in enumerate(statements):
        catalog = apply_ddl(catalog, statement, version)
    return CellStack(catalog, 2, Random(1))


def join(stack: CellStack, of: str) -> CellState:
    """Make a cell between two batches; return it."""
    stack.declare(apply_ddl(stack.catalog, f"CREATE JOIN {of}", stack.catalog.version + 1))
    return stack.cell(next(reversed(stack.catalog.cells)))


def capture(stack: CellStack, id: int, op: str, place: int, **row: object) -> None:
    where = {"connector": "postgresql", "name": "pg", "sequence": f'[null,"{place}"]', "lsn": place, "ts_us": place}
    after = {"after": {"id": id, **row}} if row else {}
    stack.append("u", b'{"id":%d}' % id, msgspec.json.encode({"op": op, "source": where, **after}))


U = "CREATE TABLE u (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR) WITH ('format'='debezium-json')"
B = "CREATE TABLE b (id INTEGER PRIMARY KEY, s VARCHAR) WITH ('buckets'='4', 'bucket.by'='id')"


def test_a_key_that_changes_over_the_seam_takes_what_it_keeps_from_the_row_that_was_deleted():
    stack = stack_of(U)
    capture(stack, 1, "c", 1, x=1, s="large")
    capture(stack, 1, "d", 2)
    stack.run()
    join(stack, "u, u")
    capture(stack, 5, "c", 2, x=1, s=PLACEHOLDER)
    stack.run()
    (copy,) = stack.cell(next(iter(stack.catalog.cells))).copies.values()
    assert rows_of([copy]) == rows_of(stack.shards("u")) == {b'{"id":5}': [5, 1, "large"]}


def test_what_a_connector_publishes_again_over_the_seam_is_left_out():
    stack = stack_of(U)
    for place, x in ((1, 1), (2, 2), (3, 3)):
        capture(stack, 1, "u", place, x=x, s="a")
    stack.run()
    join(stack, "u, u")
    capture(stack, 1, "u", 2, x=2, s="a")
    stack.run()
    (copy,) = stack.cell(next(iter(stack.catalog.cells))).copies.values()
    assert rows_of([copy]) == rows_of(stack.shards("u")) == {b'{"id":1}': [1, 3, "a"]}


def test_a_table_in_buckets_is_one_copy_of_all():
    stack = stack_of(B)
    for id in range(20):
        stack.append("b", b'{"id":%d}' % id, b'{"id":%d,"s":"%s"}' % (id, b"aab"[id % 3 :]), id % 2)
    stack.run()
    cell = join(stack, "b, b")
    (copy,) = cell.copies.values()
    shards = stack.shards("b")
    assert len(shards) == 4 and rows_of([copy]) == rows_of(shards) and copy.table.rows == 20
    assert copy.highest_partition == 1 and copy.table.moved_partitions == 0
    copy.table.check()
    assert cell.dump() == stack.seeds[cell.cell.name]


def test_who_listens_to_a_shard_and_what_it_counted_stay_there():
    stack = stack_of("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    relation = stack.catalog.relations["t"]
    member = ShardState(relation, "t/0")
    member.seq, member.counters.decoded = 9, 7
    stack.states["t/0"] = Group("t/0", [member]).dump()
    cell = join(stack, "t, t")
    (copy,) = cell.copies.values()
    assert (copy.seq, copy.listeners, copy.counters.decoded) == (-1, {}, 0)
    assert (cell.seq, cell.counters.decoded, cell.interests.joins()) == (-1, 0, [])


def test_deleted_rows_of_all_buckets_are_kept_whole():
    stack = stack_of(B)
    relation = stack.catalog.relations["b"]
    for shard in relation.shards:
        member = ShardState(relation, shard)
        member.graves.bury(shard.encode(), [1, "x" * (LIMIT - 100)])
        stack.states[shard] = Group(shard, [member]).dump()
    (copy,) = join(stack, "b, b").copies.values()
    assert [moment for moment, _ in copy.graves.stored()] == [shard.encode() for shard in relation.shards]
    copy.graves.bury(b"more", [1, "x" * 1_000])
    assert len(copy.graves.stored()) == 4 and copy.graves.find(b"b/0") is None


def test_of_a_partition_and_a_connector_the_greatest_place_counts():
    def reached(*places: tuple[int, str, int, int], key: bytes | None = None) -> Repeats:
        return Repeats([(partition, Position(name, 0, own, time), key) for partition, name, own, time in places])

    both = Repeats.merged(
        [reached((0, "a", 5, 50), (1, "a", 9, 1)), reached((0, "a", 7, 40), (0, "b", 1, 1), key=b"k")]
    )
    assert both.stored() == [
        (0, Position("a", 0, 7, 50), b"k"),
        (0, Position("b", 0, 1, 1), b"k"),
        (1, Position("a", 0, 9, 1), None),
    ]


def test_a_shard_without_a_state_is_empty():
    stack = stack_of(B, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
    catalog = apply_ddl(stack.catalog, "CREATE JOIN b, t", 5)
    (cell,) = catalog.cells.values()
    seed = seed_of_cell(cell, catalog, {"b/1": None})
    assert CellState.open(cell, catalog.relations, None, seed).rows == 0


def test_of_a_stream_a_cell_has_how_far_it_is_and_what_was_folded():
    catalog = apply_ddl(CATALOG, "CREATE VIEW late AS SELECT g, MAX(x) AS x FROM s GROUP BY g", 2)
    first = process_group(SPEC, 0, None, [events(("a", 5, 30), ("a", 7, 61))])
    state = process_group(SPEC, 1, first.state, [silent(90, 4), events(("b", 6, 62), first=2)]).state
    catalog = apply_ddl(catalog, "CREATE TABLE t (g VARCHAR PRIMARY KEY)", 3)
    catalog = apply_ddl(catalog, "CREATE VIEW named AS SELECT v.g, v.n FROM v JOIN t ON t.g = v.g", 4)
    cell = catalog.cells["cell/s+t/0"]
    seed = CellState.open(cell, catalog.relations, None, seed_of_cell(cell, catalog, {"s/0": state, "t/0": None}), None)
    seed.place(catalog, ())
    home = Group.open("s/0", {"s/0": catalog.relations["s"]}, state)["s/0"]
    assert seed.copies["s"].horizon == home.horizon and home.horizon is not None and home.horizon.domains[0].waiting
    fold, late = (catalog.views[name].stages[-2].relation for name in ("v", "late"))
    of_home = Group.open("s/0", {f"{fold.name}/0": fold}, state)[f"{fold.name}/0"]
    copy = seed.group[cell.member(fold.name)]
    assert rows_of([copy]) == rows_of([of_home]) and len(rows_of([copy])) == 3
    assert (copy.filled, copy.plan) == (True, of_home.plan)
    assert not seed.group[cell.member(late.name)].filled, "it begins in both with the next batch"
