"""Records in bulk: what is said of one id keeps its order, and a bad record stops nothing."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.partitioner import home_partition
from operators.packed import PackedRegistrations, is_packed, unpack
from overlay.virtual_edge import VirtualEdge
from tests.effort import examples
from tests.overlay.edge_bench import ASK, CATALOGS, TOPICS, Bench

VALUES = [ASK, ASK + " WHERE risk < 3", ASK + " TTL 9", "SELECT MIN(nothing) FROM stock", "SELECT MIN(price", None]
Records = list[tuple[bytes | None, bytes | None]]


def record(sql: str | None) -> bytes | None:
    return None if sql is None else msgspec.json.encode({"sql": sql})


keys = st.sampled_from([b"a", b"b", b"c", b"@x", b"", b"\xff", None])
records = st.lists(st.tuples(keys, st.sampled_from([*map(record, VALUES), b"{"])), max_size=12)


def heard(bench: Bench) -> dict[bytes, list[bytes]]:
    """What was said of each id, in order."""
    said: dict[bytes, list[bytes]] = {}
    for records in (bench.take().get(topic, []) for topic in ("acks", "deliveries")):
        for one in records:
            said.setdefault(one.key or b"", []).append(one.value or b"")
    return said


@settings(max_examples=examples(100), deadline=None)
@given(records, st.integers(1, 12))
def test_in_bulk_is_the_same_as_one_by_one(records: Records, portion: int) -> None:
    alone, bulk = Bench(), Bench()
    alone.live("b", "c"), bulk.live("b", "c")
    for offset, (key, value) in enumerate(records, 10):
        alone.edge.subscription(offset, key, value)
    for start in range(0, len(records), portion):
        part = records[start : start + portion]
        bulk.edge.subscribe_all(
            range(10 + start, 10 + start + len(part)), *(list(column) for column in zip(*part, strict=True))
        )
    assert alone.edge.counters == bulk.edge.counters
    for one in (alone, bulk):
        one.edge.check()
    brief = [sorted(_brief(one.edge)) for one in (alone, bulk)]
    assert brief[0] == brief[1]
    assert heard(alone) == heard(bulk)


FORMS = [b'{"sql":"%s"}', b'{"sql": "%s"}', b' {"sql":"%s"}', b'{"sql":"%s","ttl":5}']
ASKED = [
    ASK + " WHERE exchange = 'K1' AND risk BETWEEN 1.5 AND 7",
    ASK + " WHERE exchange = 'K2' AND risk BETWEEN 2.25 AND 1e3",
    ASK + " WHERE exchange = 'it''s' AND risk BETWEEN 9 AND 3",
    ASK + " WHERE exchange = 'K1' AND risk BETWEEN 1 AND 2 NOTIFY LATEST TTL 60",
    ASK + " WHERE exchange = 5 AND risk BETWEEN 1 AND 2",
    ASK + " WHERE exchange = 'é' AND risk BETWEEN 1 AND 2",
    ASK + " WHERE symbol >= 'a'",
    "SELECT COUNT(*) FROM stock",
    "SELECT MIN(price) FROM nowhere WHERE risk < 5",
]
crowds = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from([*range(len(ASKED))] * 2 + [None]), st.sampled_from(FORMS)),
    min_size=20, max_size=80,
)  # fmt: skip


@settings(max_examples=examples(40), deadline=None)
@given(crowds)
def test_a_crowd_in_bulk_is_the_same_as_one_by_one(crowd: list[tuple[int, int | None, bytes]]) -> None:
    alone, bulk = Bench(), Bench()
    keys = [b"s%d" % who for who, _, _ in crowd]
    values = [None if what is None else form % ASKED[what].encode() for _, what, form in crowd]
    for offset, (key, value) in enumerate(zip(keys, values, strict=True)):
        alone.edge.subscription(offset, key, value)
    bulk.edge.subscribe_all(range(len(crowd)), keys, values)
    for one in (alone, bulk):
        one.edge.check()
    assert alone.edge.counters == bulk.edge.counters
    assert sorted(_brief(alone.edge)) == sorted(_brief(bulk.edge))
    assert regions(alone) == regions(bulk)
    assert heard(alone) == heard(bulk)


def regions(bench: Bench) -> list[tuple]:
    table, shapes = bench.edge._roster.slots, bench.edge._roster.shapes
    used = table.used().tolist()
    found = [(table.key(i), table.region(i, shapes[int(table.shape[i])].shape), table.notify(i)) for i in used]
    return sorted([(*one, int(table.expires(np.array([i]))[0])) for i, one in zip(used, found, strict=True)], key=repr)


def _brief(edge: VirtualEdge) -> list[tuple]:
    return [(view.id, view.version, view.status, view.sql, view.replaced_by or -1) for view in edge.subscriptions()]


def test_all_that_is_accepted_is_registered_in_order() -> None:
    bench = Bench()
    keys = [b"s%d" % i for i in range(50)]
    bench.edge.subscribe_all(range(50), keys, [record(ASK)] * 50)
    said = bench.take()
    assert [one.key for one in said["acks"]] == keys
    (packed,) = [unpack(one.value) for one in said["registrations"] if one.value and is_packed(one.value)]
    assert isinstance(packed, PackedRegistrations) and packed.versions == list(range(50))
    bench.again()


def test_who_is_not_at_home_is_refused_among_those_who_are() -> None:
    edge = VirtualEdge(1, 3, TOPICS, CATALOGS.__getitem__)
    keys = [b"s%d" % i for i in range(30)]
    edge.subscribe_all(range(30), keys, [None] * 30)
    strangers = [key for key in keys if home_partition(key, 3) != 1]
    assert [one.key for one in edge.take() if one.topic == TOPICS.acks] == strangers and len(strangers) > 5
    assert edge.counters.ignored == 30 - len(strangers)


def test_search_goes_by_id() -> None:
    bench = Bench()
    bench.live("b1", "b0", "a", "b2")
    bench.ask(9, "b1")
    found = list(bench.edge.search(b"b", 2))
    assert [(view.id, view.status, view.replaced_by) for view in found] == [("b0", "live", None), ("b1", "live", 9)]
    assert [view.id for view in bench.edge.search(b"b", 9, b"b1")] == ["b2"]


def test_statements_with_options_come_back_as_written() -> None:
    bench = Bench()
    asked = [f"{ASK} WHERE risk < {i}.5 NOTIFY MIN CHANGE {i} %  TTL {i} HOURS" for i in range(1, 5)] * 2
    bench.edge.subscribe_all(range(8), [b"s%d" % i for i in range(8)], [record(sql) for sql in asked])
    bench.take()
    assert [view.sql for view in bench.again().subscriptions()] == asked
