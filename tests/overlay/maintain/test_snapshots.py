"""What a shard answers a registration with that is no value."""

from __future__ import annotations

import msgspec
import numpy as np

from operators.control import Progress
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, pack_snapshot, unpack
from operators.reply import Later, Refused, Reply
from tests.overlay.edge_bench import Bench


def reply(bench: Bench, batch: int, version: int, what: Reply) -> None:
    none = Answers(np.zeros(1, np.int64), np.zeros(1, np.bool_), {})
    packed = pack_snapshot(Header("snapshot", 5, "stock/0", batch), np.array([version]), none, {0: what})
    bench.edge.notification(bench.offset, b"stock/0", packed)
    bench.offset += 1
    bench.control(Progress(5, batch, 0, "noon"))


def test_what_a_shard_refuses_is_acknowledged_so_and_gone() -> None:
    bench = Bench()
    bench.ask(7, "a")
    bench.take()
    reply(bench, 0, 7, Refused("quota", "no room", "ask less"))
    out = bench.take()
    assert [msgspec.json.decode(record.value or b"") for record in out["acks"]] == [
        {"id": "a", "version": 7, "status": "refused", "code": "quota", "message": "no room", "hint": "ask less"}
    ]
    assert bench.edge.find(b"a") is None and bench.edge.counters.refused == 1
    bench.edge.check()


def test_what_is_answered_later_is_registered_again_with_the_step() -> None:
    bench = Bench()
    bench.ask(7, "a")
    bench.take()
    reply(bench, 0, 7, Later())
    (record,) = bench.take()["registrations"]
    packed = unpack(record.value or b"")
    assert isinstance(packed, PackedRegistrations) and (packed.versions, packed.live) == ([7], [False])
    bench.edge.check()
