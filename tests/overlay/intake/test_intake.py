"""Records in bulk: what is said of one id keeps its order, and a bad record stops nothing."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk import bulk_compiler
from connectors.kafka.partitioner import home_partition
from operators.control import EpochBegins
from operators.packed import PackedRegistrations, is_packed, unpack
from overlay.intake import admission
from overlay.intake.intake import Intake
from overlay.machine.virtual_edge import VirtualEdge
from overlay.subscriptions.held_records import Held
from tests.effort import deep_examples, examples
from tests.overlay.edge_bench import ASK, CATALOGS, TOPICS, Bench
from tests.overlay.views import views

VALUES = [ASK, ASK + " WHERE risk < 3", ASK + " TTL 9", "SELECT MIN(nothing) FROM stock", "SELECT MIN(price", None]
Records = list[tuple[bytes | None, bytes | None]]


def record(sql: str | None) -> bytes | None:
    return None if sql is None else msgspec.json.encode({"sql": sql})


keys = st.sampled_from([b"a", b"b", b"c", b"@x", b"", b"\xff", b"a\n", b"\x7f", "\u2028".encode(), None])
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


def one_by_one(self: Intake, records: Iterable[Held], final: bool = False) -> None:
    """Judge held-back records as ever: each alone, those that a newer one has replaced meanwhile left out."""
    for record in records:
        if any(held == record for held in self.admission.held):
            IN_BULK(self, [record], final)


IN_BULK = Intake.admit
LATER = [
    "SELECT MIN(price) FROM bond WHERE risk BETWEEN 1.5 AND 7",
    "SELECT MIN(price) FROM bond WHERE risk BETWEEN 2 AND 9",
    "SELECT MIN(price) FROM bond WHERE risk BETWEEN 'x' AND 9",
    "SELECT COUNT(*) FROM bond WHERE symbol >= 'a' TTL 60",
    "SELECT MIN(nothing) FROM bond",
    "SELECT MIN(price) FROM nowhere",
    ASK + " WHERE risk BETWEEN 1 AND 4",
]
early = st.tuples(st.integers(0, 8), st.sampled_from([*range(len(LATER))] * 2 + [None]))
events = st.lists(
    st.one_of(
        st.lists(early, min_size=1, max_size=30),
        st.sampled_from([0, 1, 2]),
        st.tuples(st.integers(0, 60) | st.none()),
        st.just("take"),
    ),
    min_size=2, max_size=8,
)  # fmt: skip


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(events, st.booleans())
def test_what_was_held_back_is_admitted_in_bulk_as_one_by_one(history: list, begun: bool) -> None:
    """Records come before their catalog, are replaced, unsubscribed and settled while they wait; edges restart."""
    made = []
    for patched in (False, True):
        bench, said, offset = Bench(begun=begun), dict[bytes, list[bytes]](), 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bulk_compiler, "FEW", 2)
            patch.setattr(admission, "FEW", 2)
            if patched:
                patch.setattr(Intake, "admit", one_by_one)
            for event in [*history, "take"]:
                if isinstance(event, list):
                    keys = [b"s%d" % who for who, _ in event]
                    values = [record(None if what is None else LATER[what]) for _, what in event]
                    bench.edge.subscribe_all(range(offset, offset + len(event)), keys, values)
                    offset += len(event)
                elif isinstance(event, int):
                    bench.control(EpochBegins(5, event))
                elif isinstance(event, tuple):
                    bench.edge.refuse_held(*event)
                else:
                    for key, lines in heard(bench).items():
                        said.setdefault(key, []).extend(lines)
                    bench.again().check()
                bench.edge.check()
        listed = sorted(_brief(bench.edge)), sorted(regions(bench), key=repr), list(bench.edge._admission.held)
        made.append((said, listed, bench.edge.counters))
    assert made[0] == made[1]


def test_thousands_that_come_before_their_table_are_acknowledged_in_order() -> None:
    bench = Bench()
    keys = [b"s%d" % i for i in range(2_000)]
    bench.edge.subscribe_all(
        range(2_000), keys, [record(f"SELECT MIN(price) FROM bond WHERE risk < {i}") for i in range(2_000)]
    )
    assert bench.edge.counts["held"] == 2_000 and not bench.take().get("acks")
    bench.edge.subscribe_all([2_000], [b"s7"], [None])
    bench.control(EpochBegins(5, 1))
    acks = bench.take()["acks"]
    assert [one.key for one in acks] == [b"s7", *(key for key in keys if key != b"s7")]
    assert bench.edge.counts == {"live": 0, "accepted": 1_999, "held": 0}


def regions(bench: Bench) -> list[tuple]:
    table, columns = bench.edge._store.slots, ("lo", "hi", "empty")
    found = []
    for slot in table.used().tolist():
        one = np.array([slot])
        numbers = [getattr(table, name)[slot].item() for name in columns]
        group, end = table.groups_of(one)[0], int(table.expiry.of(one)[0])
        shape = bench.edge._store.shape_of(slot).key
        found.append((table.key(slot), shape, group, *numbers, table.terms.of(slot).notify, end))
    return sorted(found, key=repr)


def _brief(edge: VirtualEdge) -> list[tuple]:
    return [(view.id, view.version, view.status, view.sql, view.replaced_by or -1) for view in views(edge)]


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


def test_statements_with_options_come_back_as_written() -> None:
    bench = Bench()
    asked = [f"{ASK} WHERE risk < {i}.5 NOTIFY MIN CHANGE {i} %  TTL {i} HOURS" for i in range(1, 5)] * 2
    bench.edge.subscribe_all(range(8), [b"s%d" % i for i in range(8)], [record(sql) for sql in asked])
    bench.take()
    assert [view.sql for view in views(bench.again())] == asked


@pytest.mark.parametrize("key", [b"a\nb", b"\x7f", b"\0", "\u2028".encode(), b"\xc2\x85"])
@pytest.mark.parametrize("beside", [b"plain", "é".encode()])
def test_control_characters_are_refused_and_what_once_was_called_so_can_be_ended(key: bytes, beside: bytes) -> None:
    bench = Bench()
    bench.edge.subscribe_all([0, 1], [key, beside], [record(ASK), record(ASK)])
    refused, accepted = bench.lines("acks")
    assert (refused["id"], refused["code"]) == (key.decode(), "malformed") and "control" in refused["message"]
    assert (accepted["id"], accepted["status"]) == (beside.decode(), "accepted")
    bench.edge._intake.admit([Held(2, key, record(ASK) or b"")])
    bench.edge.subscription(3, key, None)
    assert [ack["status"] for ack in bench.lines("acks")] == ["accepted", "ended"]
