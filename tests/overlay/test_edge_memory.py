"""Deltas of head and held-back records; those of subscriptions are the roster's."""

from __future__ import annotations

from overlay.admission import Admission
from overlay.edge_memory import EdgeMemory
from overlay.edge_state import Delta, encode_deltas, encode_snapshot
from overlay.held_records import Held
from overlay.roster import Roster


def test_deltas_add_up_to_the_whole() -> None:
    admission = Admission()
    memory = EdgeMemory(Roster(), admission)
    assert memory.changes() == Delta()
    memory.set(epoch=3, ended_eras={1: (2, 5)})
    admission.held.put(Held(7, b"a", b"v"))
    admission.held.put(Held(8, b"b", b"w"))
    records = encode_deltas(memory.changes())
    admission.held.drop(7)
    records += encode_deltas(memory.changes())
    assert memory.changes() == Delta()
    for values in (records, encode_snapshot(4, memory.whole())):
        again = EdgeMemory(Roster(), Admission())
        again.restore(values)
        assert again.whole() == memory.whole() and again.changes() == Delta()
    assert again.snapshot == 4
