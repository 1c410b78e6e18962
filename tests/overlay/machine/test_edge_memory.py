"""Deltas of head and held-back records; those of subscriptions are the store's."""

from __future__ import annotations

import contextlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.catalog import Catalog
from connectors.kafka.catalog_versions import CatalogBehind
from connectors.topics import Topics
from operators.answer import Extremum, Members
from operators.control import Progress
from overlay.intake.admission import Admission
from overlay.machine.edge_memory import EdgeMemory
from overlay.machine.virtual_edge import VirtualEdge
from overlay.subscriptions import edge_state
from overlay.subscriptions.edge_state import Delta, EdgeStateError, ShapeState, Values, encode_deltas, encode_snapshot
from overlay.subscriptions.held_records import Held
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.table.slot_rows import ROW, Slots
from tests.effort import deep_examples
from tests.fuzz.mutation import damaged
from tests.overlay.edge_bench import CATALOGS, Bench


def test_deltas_add_up_to_the_whole() -> None:
    admission = Admission()
    memory = EdgeMemory(SubscriptionStore(), admission)
    assert memory.changes() == Delta()
    memory.set(epoch=3, ended_eras={1: (2, 5)})
    admission.held.put(Held(7, b"a", b"v"))
    admission.held.put(Held(8, b"b", b"w"))
    records = encode_deltas(memory.changes())
    admission.held.drop(7)
    records += encode_deltas(memory.changes())
    assert memory.changes() == Delta()
    for values in (records, encode_snapshot(4, memory.whole())):
        again = EdgeMemory(SubscriptionStore(), Admission())
        again.restore(values)
        assert again.whole() == memory.whole() and again.changes() == Delta()
    assert again.snapshot == 4


def announced(version: int) -> Catalog:
    if version not in CATALOGS:
        raise CatalogBehind(f"catalog version {version} was announced, and is not there")
    return CATALOGS[version]


def restored(*values: bytes) -> VirtualEdge:
    edge = VirtualEdge(0, 1, Topics(), announced)
    edge.restore(values)
    return edge


def stored() -> list[bytes]:
    """Return what an edge stores that has subscriptions of all kinds: plain, of texts, under a policy, held back."""
    bench = Bench()
    bench.live("a", "b")
    bench.ask(10, "c", "SELECT DISTINCT symbol FROM stock WHERE symbol > 'a' NOTIFY LATEST")
    bench.ask(11, "d", "SELECT COUNT(*) FROM nowhere")
    bench.ask(12, "e", "SELECT MIN(price) FROM stock WHERE risk BETWEEN 1 AND 2 NOTIFY MIN CHANGE 0.5 TTL 9 SECONDS")
    bench.take()
    bench.snapshot(1, {10: None, 12: None}, parts={0: (Members(("x", None)),), 1: (Extremum(7),)})
    bench.control(Progress(5, 1, 0, "t"))
    bench.edge.subscription(13, b"a", None)
    bench.take()
    return bench.state


STORED = stored()
SHAPE = ShapeState(0, '["stock",[["min","price"]],[],null]', 0, "stock/0", "t", (("DECIMAL", 12, 2),))
ODD = {
    "columns of different lengths": Delta(values=Values(b"\0" * 4, b"\0" * 8, b"\0" * 2, b"\0" * 8, b"\0" * 8)),
    "half a column": Delta(values=Values(b"\0" * 3)),
    "answers of no slot": Delta(values=Values(b"\xff" * 4, b"\0" * 8, b"\0", b"\0" * 8, b"\0" * 8)),
    "answers far away": Delta(values=Values(b"\xff\xff\xff\x6f", b"\0" * 8, b"\0", b"\0" * 8, b"\0" * 8)),
    "half a row": Delta(slots=Slots(b"\0" * 7)),
    "a row of nothing": Delta(slots=Slots(b"\0" * ROW.itemsize)),
    "a row far away": Delta(slots=Slots(b"\xff" * ROW.itemsize)),
    "an answer that is none": Delta(answers=[(0, b"\xff")]),
    "members of what has none": Delta(answers=[(99, b"\x95\xc2\xc0\xc0\xc0\0")]),
    "a shape that is none": Delta(shapes=[msgspec.structs.replace(SHAPE, key="{}")]),
    "a shape of an unknown type": Delta(shapes=[msgspec.structs.replace(SHAPE, types=(("TOPK", 0, 0),))]),
}


@pytest.mark.parametrize("what", ODD)
def test_a_delta_that_does_not_fit_is_refused_and_told_by_number(what: str) -> None:
    odd = [edge_state._ENCODER.encode(edge_state.Record(2, "delta", delta=ODD[what]))]
    with pytest.raises(EdgeStateError, match="does not fit what stands before it") as refused:
        restored(*STORED, *odd, *STORED)
    assert refused.value.record == len(STORED)


def test_what_is_missing_altogether_is_told_of_all() -> None:
    without = [value for value in STORED if b"stock/0" not in value]
    assert len(without) < len(STORED)
    with pytest.raises(EdgeStateError) as refused:
        restored(*without)
    assert refused.value.record is None or refused.value.record < len(without)


@pytest.mark.deep
@given(place=st.integers(0, len(STORED) - 1), data=st.data())
@settings(max_examples=deep_examples(600), deadline=None)
def test_damaged_state_is_restored_or_refused(place: int, data: st.DataObject) -> None:
    value = data.draw(damaged(st.just(STORED[place])))
    with contextlib.suppress(EdgeStateError, CatalogBehind):
        restored(*STORED[:place], value, *STORED[place + 1 :])
