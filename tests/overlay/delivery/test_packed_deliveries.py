"""Packed deliveries say what records would have said, in order; read here by what clients use and by bare Arrow."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.delivery import packed_deliveries
from overlay.delivery.delivery import change, change_head, change_tail, changed, delivery, json_text
from overlay.delivery.long_delivery import cut
from overlay.delivery.packed_deliveries import BagChanges, Changes, PackedDeliveries, Shared, lines_of
from state.byte_runs import RECORD_BYTES
from tidewire.client.packed_deliveries import unpack_deliveries

texts = st.text(max_size=5)
scalars = st.none() | st.integers() | texts | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
ats = st.fixed_dictionaries({"epoch": st.integers(0, 3), "batch": st.integers(-1, 9)})
told = st.one_of(
    st.fixed_dictionaries({"old": scalars, "new": scalars | st.lists(scalars, max_size=3)}),
    st.fixed_dictionaries({"removed": st.lists(scalars, max_size=3), "added": st.lists(scalars, max_size=3)}),
    st.fixed_dictionaries(
        {"form": st.sampled_from(["bag", "list"]), "removed": st.just([]), "added": st.just([[1, "a"]])},
        optional={
            "snapshot": st.just("none"),
            "same": st.just(True),
            "whole": st.sampled_from([True, "look"]),
            "key": st.just([0]),
        },
    ),
)
numbers = st.integers(0, 2**62)


@st.composite
def deliveries(draw: st.DrawFn) -> dict[str, Any]:
    made = {"id": draw(texts), "kind": draw(st.sampled_from(["snapshot", "change", "resync", "ended"]))}
    made |= {"version": draw(numbers), "n": draw(numbers)} | draw(told) | {"at": draw(ats)}
    more = {"changes": st.integers(2, 9), "sql": texts, "reason": texts}
    return made | {name: draw(values) for name, values in more.items() if draw(st.integers(0, 3)) == 0}


def in_columns(rows: list[dict[str, Any]]) -> Changes:
    """Return changes with `old` and `new` as an edge gives them."""
    ids = [row["id"].encode() for row in rows]
    sizes = np.array([len(one) for one in ids], np.int64)
    version, n = (np.array([row[name] for row in rows], np.int64) for name in ("version", "n"))
    shared = []
    for name in ("old", "new", "at"):
        made = [json_text(row[name]) for row in rows]
        distinct = sorted(set(made))
        shared.append(Shared(np.array([distinct.index(text) for text in made], np.int64), distinct))
    return Changes(b"".join(ids), sizes, version, n, *shared)


def bags_in_columns(rows: list[dict[str, Any]]) -> BagChanges:
    """Return changes of bags likewise; who has no `key` has place -1."""
    ids = [row["id"].encode() for row in rows]
    sizes = np.array([len(one) for one in ids], np.int64)
    version, n = (np.array([row[name] for row in rows], np.int64) for name in ("version", "n"))
    shared = []
    for name in ("removed", "added", "at", "key"):
        made = [json_text(row[name]) if name in row else None for row in rows]
        distinct = sorted({text for text in made if text is not None})
        places = [-1 if text is None else distinct.index(text) for text in made]
        shared.append(Shared(np.array(places, np.int64), distinct))
    return BagChanges(b"".join(ids), sizes, version, n, *shared)


plain = st.fixed_dictionaries(
    {
        "id": texts,
        "kind": st.just("change"),
        "version": numbers,
        "n": numbers,
        "old": scalars,
        "new": scalars,
        "at": ats,
    }
)
members = st.lists(st.lists(scalars, max_size=2), max_size=2)
of_bags = st.fixed_dictionaries(
    {
        "id": texts,
        "kind": st.just("change"),
        "version": numbers,
        "n": numbers,
        "removed": members,
        "added": members,
        "at": ats,
    },
    optional={"key": st.sampled_from([[0], [1, 0]])},
)
pieces = st.lists(
    st.tuples(st.none(), st.lists(deliveries(), max_size=4))
    | st.tuples(st.just(in_columns), st.lists(plain, max_size=4))
    | st.tuples(st.just(bags_in_columns), st.lists(of_bags, max_size=4)),
    max_size=5,
)


@settings(deadline=None)
@given(pieces, st.sampled_from([1, 1_500, 900_000]))
def test_they_are_what_records_would_have_been(pieces: list, most: int) -> None:
    packed = PackedDeliveries()
    for columns, rows in pieces:
        if columns:
            packed.extend(columns(rows))
        for row in rows if columns is None else ():
            packed.add(msgspec.json.encode(row))
    expected = [row for _, rows in pieces for row in rows]
    assert bool(packed) == bool(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_deliveries, "RECORD_BYTES", most)
        values = packed.take()
    read = [row for value in values for row in unpack_deliveries(value)]
    assert [msgspec.json.encode(row, order="sorted") for row in read] == [
        msgspec.json.encode(row, order="sorted") for row in expected
    ]
    assert not packed and packed.take() == []
    if most == 1:
        assert len(values) == len(expected)


def test_the_layout_is_plain_arrow() -> None:
    packed = PackedDeliveries()
    row = {
        "id": "a",
        "kind": "change",
        "version": 3,
        "n": 2,
        "old": None,
        "new": "1.50",
        "at": {"epoch": 0, "batch": 1},
    }
    packed.extend(in_columns([row, row | {"id": "b"}]))
    [value] = packed.take()
    table = pa.ipc.open_stream(value).read_all()
    shared = pa.dictionary(pa.int32(), pa.string())
    assert {field.name: field.type for field in table.schema} == {
        "id": pa.string(), "kind": shared, "version": pa.int64(), "n": pa.int64(), "old": shared, "new": shared,
        "at": shared,
    }  # fmt: skip
    assert table.to_pylist()[1] == {
        "id": "b", "kind": "change", "version": 3, "n": 2, "old": "null", "new": '"1.50"', "at": '{"epoch":0,"batch":1}'
    }  # fmt: skip


def test_a_record_stays_below_its_limit_and_dictionaries_hold_what_is_used() -> None:
    count = 40_000
    rows = [
        {"id": f"{i:07d}", "version": i, "n": 1, "old": i, "new": i // 100, "at": {"epoch": 0}} for i in range(count)
    ]
    packed = PackedDeliveries()
    packed.extend(in_columns_of(rows))
    values = packed.take()
    assert len(values) > 2 and max(map(len, values)) <= RECORD_BYTES
    assert [row["id"] for value in values for row in unpack_deliveries(value)] == [row["id"] for row in rows]


def in_columns_of(rows: list[dict[str, Any]]) -> Changes:
    count = len(rows)
    ids = "".join(row["id"] for row in rows).encode()
    places = np.arange(count)
    old, new = (
        Shared(places, [str(i) for i in range(count)]),
        Shared(places // 100, [str(i) for i in range(count // 100)]),
    )
    at = Shared(np.zeros(count, np.int64), ['{"epoch":0}'])
    return Changes(ids, np.full(count, 7), places, np.ones(count, np.int64), old, new, at)


def test_a_record_made_by_hand_is_the_same() -> None:
    head, tail = change_head(json_text("a"), 3), change_tail('"1.50"', '{"epoch":0,"batch":1}')
    packed = PackedDeliveries()
    packed.add(change(head, 2, "null", tail))
    [value] = packed.take()
    assert list(unpack_deliveries(value)) == [msgspec.json.decode(change(head, 2, "null", tail))]


def test_lines_are_what_records_would_hold() -> None:
    made = [
        delivery('"a"', "snapshot", 3, 1, '"old":null,"new":"1.50"', '{"epoch":0,"batch":1}', json_text('SELECT "é"')),
        delivery('"b"', "ended", 3, 4, '"removed":[1,null],"added":[]', '{"epoch":0,"batch":1}', reason="quota"),
        changed(change_head('"a"', 3), 2, '"old":"1.50","new":null', '{"epoch":0,"batch":2}', 7),
        *cut(delivery('"c"', "change", 3, 4, '"removed":[1,2],"added":["x"]', '{"epoch":0,"batch":1}'), 90),
    ]
    packed = PackedDeliveries()
    for value in made:
        packed.add(value)
    [record] = packed.take()
    assert [line for _, line in lines_of(record, {b"a", b"b", b"c"})] == made
    assert list(lines_of(record, {b"b"})) == [(b"b", made[1])] and list(lines_of(record, set())) == []
