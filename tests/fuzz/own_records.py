"""What tidewire's own parts write for each other, damaged: by name, what is drawn and what must hold of it.

Whoever reads it raises nothing but a declared error, and goes on where the damage is to be lived through. What is
damaged and still a record, which without a checksum nobody can know, must not lead to any other error either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from connectors.kafka.catalog_versions import CatalogBehind
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.packed import Header, PackedError, pack_registrations, unpack, unpack_sound
from overlay.machine.notification import NotificationError
from overlay.subscriptions.edge_state import EdgeStateError
from shard.pipeline import process_group
from state.errors import StateError
from tests.fuzz.mutation import damaged
from tests.operators.test_packed import SAMPLES
from tests.overlay.edge_bench import CATALOGS, Bench
from tests.overlay.machine.test_edge_memory import STORED, restored
from tests.shard import test_pipeline as test_shard
from tests.shard import test_register


def unpacks_or_refuses(value: bytes) -> None:
    for read in (unpack, unpack_sound):
        with contextlib.suppress(PackedError):
            read(value)


def ends_its_batch(values: list[bytes]) -> None:
    """Good registrations beside any others are answered, in a batch and its replay alike."""
    header = Header("register", 7, "t/0", ve=3, catalog=0)
    (good,) = pack_registrations(header, [1], [test_register.GOOD])
    pairs = [(b"t/0", value) for value in (*values, good)]
    batch = [test_shard.records(test_shard.TOPICS.registrations, pairs), test_shard.rows((1, 1, 10))]
    try:
        result = process_group(test_shard.SPEC, 0, None, batch)
    except StateError:
        return
    assert process_group(test_shard.SPEC, 0, None, batch) == result
    answered = [packed for packed in test_shard.sent(result) if packed.header.kind == "snapshot"]
    assert any(1 in packed.version.tolist() for packed in answered)
    process_group(test_shard.SPEC, 1, result.state, [test_shard.rows((1, 2, 5), (2, 1, 3), first=1)])


def chunks() -> list[bytes]:
    """Return what a shard writes to an edge: messages, and answers."""
    written: list[bytes] = []
    bench = Bench()
    bench.edge.notification = lambda _, __, value: written.append(value) is None  # type: ignore[method-assign]
    bench.message(1, 7, 9, None)
    bench.snapshot(1, {0: 7, 1: None, 2: 9})
    return written


NOTIFIED = chunks() + [
    encode_control(record) for record in (EpochBegins(6, 0), RegisterAll(5, 0), Progress(5, 1, 0, "t"))
]


def goes_on(value: bytes) -> None:
    """An edge that reads a damaged notification says so, or takes it as a record; then it goes on."""
    bench = Bench(catalogs=lambda version: CATALOGS[min(version, 2)])
    bench.live("a", "b")
    bench.take()
    try:
        bench.edge.notification(bench.offset, b"stock/0", value)
        bench.control(Progress(5, 1, 0, "t"))
    except NotificationError:
        return
    lost = bench.edge.counters.losses
    assert len(bench.edge.losses()) == lost
    registered = bench.take().get("registrations", [])
    assert bool(registered) >= bool(lost)
    bench.again()


def is_restored_or_refused(place: int, value: bytes) -> None:
    with contextlib.suppress(EdgeStateError, CatalogBehind):
        restored(*STORED[:place], value, *STORED[place + 1 :])


REGISTERED = test_register.ASKED | damaged(test_register.ASKED) | damaged(st.sampled_from(list(SAMPLES.values())))
OWN_RECORDS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    "packed": (damaged(st.sampled_from(list(SAMPLES.values()))), unpacks_or_refuses),
    "registrations": (st.lists(REGISTERED, max_size=4), ends_its_batch),
    "notifications": (damaged(st.sampled_from(NOTIFIED)), goes_on),
    "edge-state": (
        st.integers(0, len(STORED) - 1).flatmap(lambda i: st.tuples(st.just(i), damaged(st.just(STORED[i])))),
        lambda drawn: is_restored_or_refused(*drawn),
    ),
}
