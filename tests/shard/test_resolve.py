from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.debezium_format import DebeziumFormat
from connectors.kafka.partitioner import home_partition
from shard.deleted_rows import Graves
from shard.replayed_changes import Repeats
from shard.resolve import resolve
from state.row_store import RowStore
from tests.connectors.debezium_source import COLUMNS, UNITS, Pair, Source
from tests.connectors.relations import records

TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, doc VARCHAR) WITH ('format'='debezium-json'{})"
IDS = st.integers(1, 5)
SAME = '"__debezium_unavailable_value"'


class Shard:
    """The stages decode, resolve and apply over a row store; says what a batch became."""

    def __init__(self, options: str = "") -> None:
        self.relation = apply_ddl(Catalog(), TABLE.format(options), 0).relations["t"]
        self.rows = RowStore(3, (2,))
        self.graves = Graves()
        self.repeats = Repeats()

    def __call__(self, *pairs: tuple[str | None, str | None]):
        raw = records([tuple(None if part is None else part.encode() for part in pair) for pair in pairs])
        decoded = DebeziumFormat(self.relation, keyless=True).decode(raw)
        assert not decoded.dead
        self.repeats = Repeats(self.repeats.stored())
        resolved = resolve(decoded, raw, self.relation, self.rows, self.graves, self.repeats)
        self.rows.commit(self.rows.replay(resolved.changes))
        self.rows.check()
        return resolved

    @property
    def held(self) -> dict:
        return {self.rows.key(i).decode(): self.rows.image(i)[1:] for i in range(len(self.rows))}


def put(op: str, id: int, n: object, doc: str, lsn: int = 0, **more: object):
    before = f'"before":{more["before"]},' if "before" in more else ""
    said = f'{{"op":"{op}",{before}"after":{{"id":{id},"n":{n},"doc":{doc}}},"source":{{"lsn":{lsn}}}}}'
    return (None if before else f'{{"id":{id}}}', said)


def gone(id: int, lsn: int = 0):
    return f'{{"id":{id}}}', f'{{"op":"d","source":{{"lsn":{lsn}}}}}'


TRUNCATE = (None, '{"op":"t"}')


def test_a_truncate_deletes_what_is_there_then():
    shard = Shard()
    shard(put("c", 1, 1, '"a"'), put("c", 2, 2, '"b"'))
    resolved = shard(put("c", 3, 3, '"c"'), gone(1), put("c", 4, 4, '"d"'), gone(4), TRUNCATE, put("c", 2, 5, '"e"'))
    assert [key.decode() for key in resolved.changes.keys[4:]] == ['{"id":2}', '{"id":3}', '{"id":2}']
    assert resolved.changes.offset.tolist()[4:] == [104, 104, 105]
    assert resolved.changes.cause.tolist() == [0, 1, 2, 3, 4, 4, 5]
    assert resolved.causes.topics == ["t"] and resolved.causes.offset.tolist() == [100, 101, 102, 103, 104, 105]
    assert shard.held == {'{"id":2}': [5, "e"]}
    twice = shard(TRUNCATE, TRUNCATE)
    assert twice.changes.cause.tolist() == [0] and twice.causes.offset.tolist() == [100]
    assert shard.held == {}


@pytest.mark.parametrize("cut", range(4))
def test_a_change_of_key_keeps_what_did_not_change_in_any_batches(cut):
    shard = Shard()
    shard(put("c", 1, 1, '"long"'))
    moving = [gone(1, 9), ('{"id":1}', None), put("c", 2, 7, SAME, 9)]
    for batch in (moving[:cut], moving[cut:]):
        if batch:
            shard(*batch)
    assert shard.held == {'{"id":2}': [7, "long"]}


def test_the_create_may_stand_before_the_delete_of_its_batch():
    shard = Shard()
    shard(put("c", 1, 1, '"long"'))
    shard(put("c", 2, 7, SAME, 9), gone(1, 9))
    assert shard.held == {'{"id":2}': [7, "long"]}


def test_an_update_without_a_key_goes_by_what_was_before():
    shard = Shard()
    shard(put("c", 1, 1, '"long"'))
    resolved = shard(put("u", 2, 3, SAME, before='{"id":1}'), put("u", 2, 4, SAME, before='{"id":2}'))
    assert resolved.changes.cause.tolist() == [0, 0, 1]
    assert (resolved.causes.partition.tolist(), resolved.causes.offset.tolist()) == ([3, 3], [100, 101])
    assert shard.held == {'{"id":2}': [4, "long"]}


def test_values_that_do_not_change_over_and_over():
    shard = Shard()
    shard(put("c", 1, 1, '"long"'), put("u", 1, 2, SAME), put("u", 1, 3, SAME), gone(1, 5), put("c", 2, 3, SAME, 5))
    assert shard.held == {'{"id":2}': [3, "long"]}
    shard(put("u", 2, 4, "null"), put("u", 2, 5, SAME))
    assert shard.held == {'{"id":2}': [5, None]}


def test_a_value_that_nobody_has_is_a_dead_letter():
    shard = Shard()
    resolved = shard(put("u", 1, 1, SAME), put("c", 2, 2, '"x"'), TRUNCATE, put("u", 2, 3, SAME))
    assert [(letter.code, letter.offset) for letter in resolved.dead] == [
        ("unavailable_value", 100),
        ("unavailable_value", 103),
    ]
    assert "`doc`" in resolved.dead[0].message
    assert shard.held == {}


def test_what_was_left_out_needs_no_row():
    shard = Shard(", 'absent'='keep'")
    new = ('{"id":1}', '{"op":"u","after":{"id":1,"n":1}}')
    assert not shard(new).dead and shard.held == {'{"id":1}': [1, None]}
    shard(('{"id":1}', '{"op":"u","after":{"id":1,"doc":"x"}}'), put("u", 1, 2, SAME))
    assert shard.held == {'{"id":1}': [2, "x"]}


def test_plain_changes_are_passed_on_as_they_are():
    shard = Shard()
    raw = records([(b'{"id":1}', b'{"op":"c","after":{"id":1,"n":1,"doc":"a"}}')])
    decoded = DebeziumFormat(shard.relation).decode(raw)
    assert resolve(decoded, raw, shard.relation, shard.rows, shard.graves, shard.repeats).changes is decoded.changes


@given(
    st.lists(st.tuples(st.sampled_from(["put", "move", "delete", "truncate"]), IDS, IDS, st.integers(0, 3))),
    st.sampled_from(["default", "full"]),
    st.integers(1, 5),
)
def test_only_a_record_of_the_row_itself_moves_it(
    steps: list[tuple[str, int, int, int]], identity: str, batch: int
) -> None:
    """Each key has its home among 4 partitions, and a truncate stands anywhere."""
    source, pairs, homes = Source(identity=identity), list[Pair](), list[int]()
    for kind, id, other, anywhere in steps:
        row = {"id": id, "kind": "k", "weight": 1.0, "price": "1.00", "doc": "d", "at": 1}
        came: list[Pair] = []
        if kind == "put":
            came = source.put(row)
        elif kind == "truncate":
            came = source.truncate()
        elif kind == "delete" and id in source.rows:
            came = source.delete(id)
        elif kind == "move" and id in source.rows and other not in source.rows:
            came = source.move(id, other)
        pairs += came
        homes += [anywhere if key is None else home_partition(key, 4) for key, _ in came]
    relation = apply_ddl(Catalog(), f"CREATE TABLE item ({COLUMNS}) WITH ({UNITS})", 0).relations["item"]
    rows, graves, repeats = RowStore(6, (1, 4)), Graves(), Repeats()
    for start in range(0, len(pairs), batch):
        raw = records(pairs[start : start + batch])
        raw.partition[:] = homes[start : start + batch]
        raw.offset += start
        decoded = DebeziumFormat(relation, keyless=False).decode(raw)
        assert not decoded.dead
        rows.commit(rows.replay(resolve(decoded, raw, relation, rows, graves, repeats).changes))
    assert {rows.image(row)[0] for row in range(len(rows))} == source.rows.keys()
    assert rows.moved_partitions == 0


def test_a_record_of_the_row_in_another_partition_moves_it() -> None:
    shard = Shard()
    shard(put("c", 1, 1, '"a"'), put("c", 2, 2, '"b"'))
    shard(TRUNCATE, put("c", 1, 1, '"a"'))
    assert shard.rows.moved_partitions == 0
    raw = records([tuple(part.encode() for part in put("u", 1, 5, '"a"'))])
    raw.partition[:] = 0
    decoded = DebeziumFormat(shard.relation, keyless=True).decode(raw)
    shard.rows.commit(
        shard.rows.replay(resolve(decoded, raw, shard.relation, shard.rows, shard.graves, shard.repeats).changes)
    )
    assert shard.rows.moved_partitions == 1
