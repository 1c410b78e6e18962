"""Joins that no cell serves yet: they wait until there is one, whatever else is settled, and are admitted together."""

from __future__ import annotations

import msgspec
import pytest

from operators.control import Withdraw, decode_control
from operators.packed import PackedRegistrations, unpack
from overlay.intake.admission import Admission
from tests.overlay.join_bench import ASK, JoinBench


def acks(bench: JoinBench) -> list[tuple]:
    found = [msgspec.json.decode(record.value) for record in bench.take().get("acks", []) if record.value]
    return [(ack["id"], ack["status"], ack.get("code") or ack.get("reason")) for ack in found]


def test_a_join_without_a_cell_waits_for_it_whatever_is_settled() -> None:
    bench = JoinBench(0)
    bench.ask(0, "a", ASK)
    bench.ask(1, "b", ASK.replace("5", "6"))
    assert acks(bench) == [] and bench.edge.cells_wanted() == {("filing", "quote")}
    assert bench.edge.counts["held"] == 2
    assert not bench.edge.refusals_pending and bench.edge.held_through is None
    assert bench.edge.refuse_held() and acks(bench) == []
    assert bench.again().cells_wanted() == {("filing", "quote")}, "whoever restores can ask for the cell again"
    bench.edge.subscription(2, b"b", None)
    assert acks(bench) == [("b", "ended", "unsubscribed")]
    bench.end(0, catalog=1)
    assert bench.edge.cells_wanted() == set() and acks(bench) == [("a", "accepted", None)]
    bench.edge.check()


def test_what_else_is_missing_is_settled_beside_a_join_that_waits() -> None:
    bench = JoinBench(0)
    bench.ask(0, "a", ASK)
    bench.ask(1, "b", "SELECT MIN(price) FROM bond")
    assert bench.edge.refusals_pending and bench.edge.held_through == 1
    assert bench.edge.refuse_held(1, 1) and acks(bench) == [("b", "refused", "unknown_table")]
    assert bench.edge.cells_wanted() == {("filing", "quote")} and not bench.edge.refusals_pending


def test_a_join_that_gets_no_cell_is_refused_with_the_reason() -> None:
    bench = JoinBench(0)
    bench.ask(0, "a", ASK)
    bench.end(0, catalog=2)
    (ack,) = [msgspec.json.decode(record.value or b"") for record in bench.take()["acks"]]
    assert (ack["status"], ack["code"]) == ("refused", "no_cell") and "32 are there already" in ack["message"]
    assert bench.edge.cells_wanted() == set()


def test_a_table_that_is_dropped_while_a_join_waits_may_come_again_or_is_settled() -> None:
    bench = JoinBench(0)
    bench.ask(0, "a", ASK)
    bench.end(0, catalog=3)
    assert bench.edge.cells_wanted() == set() and bench.edge.refusals_pending
    assert bench.edge.refuse_held() and acks(bench) == [("a", "refused", "unknown_table")]


@pytest.mark.parametrize(("catalog", "reason"), [(2, "cell dropped"), (3, "table dropped"), (4, "cell dropped")])
def test_a_dropped_cell_ends_its_joins_and_is_not_told_of_it(catalog: int, reason: str) -> None:
    """One that is made again is another one."""
    bench = JoinBench(1)
    bench.start(ASK, (700, "8-K"))
    bench.take()
    bench.end(2, catalog=catalog)
    told = bench.take()
    ended, _ = (msgspec.json.decode(record.value or b"") for record in told["deliveries"])
    assert (ended["kind"], ended["reason"]) == ("ended", reason)
    assert "registrations" not in told and bench.edge.counts == {"live": 0, "accepted": 0, "held": 0}
    bench.again()


def test_a_join_is_registered_with_its_cell_and_withdrawn_with_its_last_subscription() -> None:
    bench = JoinBench(1)
    bench.ask(0, "a", ASK)
    bench.ask(1, "b", ASK + " AND q.price < 9")
    (record,) = bench.take()["registrations"]
    assert record.key == b"cell/filing+quote/0"
    packed = unpack(record.value or b"")
    assert isinstance(packed, PackedRegistrations) and [*packed.versions] == [0, 1]
    bench.edge.subscription(2, b"a", None)
    assert "registrations" not in bench.take()
    bench.edge.subscription(3, b"b", None)
    (record,) = bench.take()["registrations"]
    gone = decode_control(record.value or b"")
    assert record.key == b"cell/filing+quote/0" and isinstance(gone, Withdraw)
    assert [channel.relation for channel in gone.channels] == [packed.regions[0].shape.relation]


def test_many_joins_that_wait_for_a_cell_are_judged_and_admitted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, alone = JoinBench(0), []
    judge = Admission.judge
    monkeypatch.setattr(
        Admission, "judge", lambda self, value, final=False: alone.append(value) or judge(self, value, final)
    )
    values = [msgspec.json.encode({"sql": ASK.replace("5", str(i))}) for i in range(50)]
    bench.edge.subscribe_all(range(50), [b"s%d" % i for i in range(50)], values)
    assert bench.edge.cells_wanted() == {("filing", "quote")} and len(alone) == 1
    bench.take()
    assert bench.again().cells_wanted() == {("filing", "quote")} and len(alone) == 2
    bench.end(0, catalog=1)
    assert [status for _, status, _ in acks(bench)] == ["accepted"] * 50 and len(alone) == 2
