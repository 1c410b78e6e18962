"""What a batch writes to the topic of a view: folded by key it is the view, and each change stands there once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from connectors.record import OutRecord, RawRecords
from operators.control import Write, encode_control
from shard import views
from shard.decode import decode
from shard.group import StoredGroup
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from shard.state import ShardState
from tests.effort import examples
from tests.shard.test_pipeline import TOPICS, records, rows
from tests.shard.test_view_batch import asked, sent

TABLES = (
    "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER); CREATE TABLE u (x INTEGER PRIMARY KEY, z INTEGER)"
)
VIEWS = {
    "v": ("out", "SELECT x, MIN(y) AS low, COUNT(*) AS n FROM t WHERE y < 90 GROUP BY x", ("x",)),
    "w": ("all", "SELECT SUM(n) AS n, MAX(low) AS high FROM v", ()),
    "top": ("first", "SELECT y, id FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY x ORDER BY y, id) <= 2", ("id",)),
}
"""By name the topic, the query and the key."""
JOINED = "SELECT v.x, v.low, u.z FROM v LEFT JOIN u ON v.x = u.x"
CREATED = "; ".join(f"CREATE VIEW {name} WITH ('topic'='{topic}') AS {sql}" for name, (topic, sql, _) in VIEWS.items())
CATALOG = apply_ddl(Catalog(), f"{TABLES}; {CREATED}; CREATE VIEW j WITH ('topic'='pairs') AS {JOINED}", 0)
SPEC = GroupSpec(7, "t/0", CATALOG, TOPICS, 4)
Line = tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]
"""Key, value and header."""


def told(view: str, keys: Sequence[str] = (), rows: bool = True, epoch: int = 7) -> RawRecords:
    value = encode_control(Write(epoch, 0, rows, list(keys)))
    return records(TOPICS.registrations, [(f"{view}/0".encode(), value)])


def written(result: GroupResult, topic: str) -> list[Line]:
    found = [record for record in result.out if record.topic == topic]
    assert all(record.partition is None for record in found)
    return [line_of(record) for record in found]


def line_of(record: OutRecord) -> Line:
    value = None if record.value is None else json.loads(record.value)
    return json.loads(record.key or b""), value, json.loads(record.header or b"")


def fold(held: dict[str, Any], lines: Sequence[Line]) -> None:
    for key, value, _ in lines:
        if value is None:
            held.pop(json.dumps(key), None)
        else:
            held[json.dumps(key)] = value


LOADED = process_group(SPEC, 0, None, [rows((1, 3, 30), (2, 3, 20), (3, 4, 99), (4, 5, 50))])


def test_nothing_is_written_before_the_engine_says_so() -> None:
    listening = process_group(SPEC, 1, LOADED.state, [asked("v", 11), rows((2, 3, 10), first=4)])
    assert sent(listening, "v/0") and written(LOADED, "out") == written(listening, "out") == []


def test_first_all_rows_and_then_what_each_publication_changes() -> None:
    begun = process_group(SPEC, 1, LOADED.state, [told("v"), rows((2, 3, 10), (4, 5, 95), (1, 3, 31), first=4)])
    at = {"topic": "t", "partition": 0}
    head = {"shard": "v/0", "epoch": 7, "batch": 1}
    assert written(begun, "out") == [
        ({"x": 3}, {"x": 3, "low": 20, "n": 2}, head | {"n": 0}),
        ({"x": 5}, {"x": 5, "low": 50, "n": 1}, head | {"n": 1}),
        ({"x": 3}, {"x": 3, "low": 10, "n": 2}, head | {"n": 2, "at": at | {"offset": 4}}),
        ({"x": 5}, None, head | {"n": 3, "at": at | {"offset": 5}}),
    ], "the last publication changes no row of the view"
    then = process_group(SPEC, 2, begun.state, [rows((7, 6, 1), first=7)])
    assert written(then, "out") == [
        ({"x": 6}, {"x": 6, "low": 1, "n": 1}, head | {"batch": 2, "n": 0, "at": at | {"offset": 7}})
    ]
    assert process_group(SPEC, 2, begun.state, [rows((7, 6, 1), first=7)]) == then, "a batch that runs again"
    assert written(process_group(SPEC, 3, then.state, [rows((7, 6, 1), first=8)]), "out") == []


def test_keys_that_no_row_has_are_deleted() -> None:
    keys = ['{"x":3}', '{"x":9}', "junk", '{"x":9}']
    begun = process_group(SPEC, 1, LOADED.state, [told("v", keys)])
    assert [(record.key, record.value is None) for record in begun.out if record.topic == "out"] == [
        (b'{"x":3}', False), (b'{"x":5}', False), (b"junk", True), (b'{"x":9}', True),
    ]  # fmt: skip
    more = process_group(SPEC, 2, begun.state, [told("v", ['{"x":5}', '{"x":8}'], rows=False)])
    assert [line[:2] for line in written(more, "out")] == [({"x": 8}, None)], "the rows themselves were told"


def test_told_again_all_rows_are_written_again() -> None:
    begun = process_group(SPEC, 1, LOADED.state, [told("v")])
    again = process_group(SPEC, 2, begun.state, [told("v")])
    assert [line[:2] for line in written(again, "out")] == [line[:2] for line in written(begun, "out")]


@pytest.mark.parametrize("record", [told("v", epoch=6), told("t")])
def test_another_epoch_or_a_table_is_passed_over(record: RawRecords) -> None:
    result = process_group(SPEC, 1, LOADED.state, [record, rows((2, 3, 10), first=4)])
    assert written(result, "out") == [] and "writing" not in StoredGroup.read("t/0", result.state).members["t/0"]


def test_a_view_of_one_row_has_the_empty_key() -> None:
    begun = process_group(SPEC, 1, LOADED.state, [told("w"), rows((9, 9, 9), first=4)])
    assert [line[:2] for line in written(begun, "all")] == [({}, {"n": 3, "high": 50}), ({}, {"n": 4, "high": 50})]
    assert written(begun, "out") == [], "who is read by it is not written itself"


def test_rows_that_are_made_otherwise_are_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = process_group(SPEC, 1, LOADED.state, [told("v")])
    monkeypatch.setattr(views, "_MADE", 0)
    anew = process_group(SPEC, 2, begun.state, [rows((2, 3, 10), first=4)])
    assert [line[:2] for line in written(anew, "out")] == [
        ({"x": 3}, {"x": 3, "low": 20, "n": 2}), ({"x": 5}, {"x": 5, "low": 50, "n": 1}),
        ({"x": 3}, {"x": 3, "low": 10, "n": 2}),
    ]  # fmt: skip


def test_a_view_that_was_dropped_and_created_again_waits_to_be_told() -> None:
    begun = process_group(SPEC, 1, LOADED.state, [told("v")])
    (topic, sql, _) = VIEWS["v"]
    ddl = f"DROP VIEW j, w, v; CREATE VIEW v WITH ('topic'='{topic}') AS {sql.replace('90', '50')}"
    spec = replace(SPEC, catalog=apply_ddl(CATALOG, ddl, 1))
    assert written(process_group(spec, 2, begun.state, [rows((2, 3, 10), first=4)]), "out") == []
    old = process_group(spec, 2, begun.state, [told("v")])
    assert written(old, "out") == [], "what was told of the one before"


def test_all_types_are_written_as_rows_are_published() -> None:
    table = (
        "CREATE TABLE a (k VARCHAR PRIMARY KEY, b BOOLEAN, s SMALLINT, i BIGINT, d DECIMAL(8,2), w DECIMAL(30,3), "
        "r REAL, f DOUBLE, day DATE, at TIMESTAMP) WITH ('topic'='t')"
    )
    sql = "SELECT k, b, s, i, d, w, r, f, day, at, i + i * 4 AS sum FROM a"
    catalog = apply_ddl(Catalog(), f"{table}; CREATE VIEW v WITH ('topic'='out') AS {sql}", 0)
    one = (
        '{"k":"\\"\\u00e4\\u2028","b":true,"s":-3,"i":9007199254740993,"d":"1.50","w":"-123456789012345678.125",'
        '"r":0.5,"f":-0.0,"day":"2026-03-01","at":"2026-03-01T12:00:00.5"}'
    )
    none = '{"k":"n"}'
    pairs = [(b'{"k":"\\"\\u00e4\\u2028"}', one.encode()), (b'{"k":"n"}', none.encode())]
    spec = replace(SPEC, group="a/0", catalog=catalog)
    state = process_group(spec, 0, None, [records("t", pairs)]).state
    out = [record for record in process_group(spec, 1, state, [told("v")]).out if record.topic == "out"]
    assert [record.key for record in out] == ['{"k":"\\"ä\u2028"}'.encode(), b'{"k":"n"}']
    assert [(record.value or b"").decode() for record in out] == [
        '{"k":"\\"ä\u2028","b":true,"s":-3,"i":9007199254740993,"d":"1.50","w":"-123456789012345678.125","r":0.5,'
        '"f":0.0,"day":"2026-03-01","at":"2026-03-01T12:00:00.500000","sum":45035996273704965}',
        '{"k":"n","b":null,"s":null,"i":null,"d":null,"w":null,"r":null,"f":null,"day":null,"at":null,"sum":null}',
    ]


Event = tuple[int, int | None, int | None]


def naive(name: str, held: dict[int, tuple[int | None, int | None]]) -> list[dict[str, Any]]:
    """The rows of a view, from the rows of `t`."""
    groups: dict[int | None, list[int]] = {}
    for x, y in held.values():
        if y is not None and y < 90:
            groups.setdefault(x, []).append(y)
    if name == "v":
        return [{"x": x, "low": min(ys), "n": len(ys)} for x, ys in groups.items()]
    if name == "w":
        high = max((min(ys) for ys in groups.values()), default=None)
        return [{"n": sum(map(len, groups.values())) if groups else None, "high": high}]
    by_group: dict[int | None, list[tuple[bool, int, int, int | None]]] = {}
    for id, (x, y) in held.items():
        by_group.setdefault(x, []).append((y is None, y or 0, id, y))
    return [{"y": y, "id": id} for each in by_group.values() for _, _, id, y in sorted(each)[:2]]


def published(events: Sequence[Event | int], first: int) -> RawRecords:
    def value(event: Event | int) -> bytes | None:
        return None if isinstance(event, int) else json.dumps(dict(zip(["id", "x", "y"], event, strict=True))).encode()

    pairs = [(b'{"id":%d}' % (event if isinstance(event, int) else event[0]), value(event)) for event in events]
    return records("t", pairs, first=first)


_SMALL = st.one_of(st.none(), st.sampled_from([1, 2, 90]))
_EVENTS = st.lists(st.one_of(st.integers(1, 4), st.tuples(st.integers(1, 4), _SMALL, _SMALL)), max_size=14)


@settings(max_examples=examples(150))
@given(_EVENTS, st.integers(0, 2**32), st.sampled_from([*VIEWS]))
def test_folded_by_key_it_is_the_view_after_each_publication(events: list[Event | int], seed: int, name: str) -> None:
    rng, (topic, _, key) = Random(seed), VIEWS[name]
    state, offset, batch, begun = None, 0, 0, False
    folded: dict[str, Any] = {}
    stored: dict[int, tuple[int | None, int | None]] = {}
    seen: list[tuple[int, int]] = []
    while offset < len(events) or not begun:
        part = events[offset : offset + rng.randint(1, 4)]
        begin = not begun and (rng.random() < 0.5 or offset >= len(events))
        taken = ([told(name)] if begin else []) + ([published(part, offset)] if part else [])
        result = process_group(SPEC, batch, state, taken)
        assert rng.random() < 0.8 or result == process_group(SPEC, batch, state, taken), "a batch that runs again"
        begun |= begin
        lines = written(result, topic) if begun else []
        assert begun or not written(result, topic)
        seen += [(line[2]["batch"], line[2]["n"]) for line in lines]
        before = [line for line in lines if "at" not in line[2]]
        fold(folded, before)
        assert not before or same(folded, naive(name, stored), key)
        assert begin or not before
        for place, event in enumerate(part, offset):
            took = [line for line in lines if line[2].get("at", {}).get("offset") == place]
            was = dict(folded)
            fold(folded, took)
            assert len({json.dumps(line[0]) for line in took}) == len(took), "a row once"
            assert all(was.get(json.dumps(line[0])) != line[1] for line in took), "nothing that is as it was"
            stored.pop(event if isinstance(event, int) else event[0], None)
            if not isinstance(event, int):
                stored[event[0]] = event[1:]
            assert not begun or same(folded, naive(name, stored), key)
        offset, batch, state = offset + len(part), batch + 1, result.state
    assert seen == sorted(set(seen)), "numbers rise"


def same(folded: dict[str, Any], meant: list[dict[str, Any]], key: tuple[str, ...]) -> bool:
    return folded == {json.dumps({name: row[name] for name in row if name in key}): row for row in meant}


def test_a_view_in_a_cell_names_the_topic_of_each_cause() -> None:
    cell = cell_name(["t", "u"])
    spec = replace(SPEC, group=cell, members=(), several=frozenset())
    begun = process_group(spec, 1, None, [told("j"), rows((1, 3, 30)), records("u", [(b'{"x":3}', b'{"x":3,"z":8}')])])
    lines = written(begun, "pairs")
    assert [(line[0], line[1], line[2]["at"]["topic"]) for line in lines] == [
        ({"x": 3}, {"x": 3, "low": 30, "z": None}, "t"), ({"x": 3}, {"x": 3, "low": 30, "z": 8}, "u"),
    ]  # fmt: skip


def test_what_is_written_can_be_read_as_a_table() -> None:
    catalog = apply_ddl(
        Catalog(), "CREATE TABLE v (x INTEGER PRIMARY KEY, low INTEGER, n BIGINT) WITH ('topic'='out')", 0
    )
    begun = process_group(SPEC, 1, LOADED.state, [told("v"), rows((4, 5, 95), first=4)])
    pairs = [(record.key, record.value) for record in begun.out if record.topic == "out"]
    decoded = decode(ShardState(catalog.relations["v"], "v/0"), records("out", pairs), frozenset())
    assert not decoded.dead and decoded.changes.live.tolist() == [True, True, False]
