"""Who is asked again for a final answer, when, and what comes of it; a topic made anew is in the chain's tests."""

from __future__ import annotations

import pytest

from connectors.record import OutRecord
from operators.control import EpochBegins, RegisterAll
from operators.packed import PackedRegistrations, unpack
from overlay.maintain import contradictions
from overlay.maintain.contradictions import FIRST
from tests.overlay.maintain.test_finals import AT_TEN, ELEVEN, UPTO, StreamBench, begun

LATER = AT_TEN.replace("10:00", "11:00")
TWELVE = ELEVEN + 3_600_000_000


def finals(*questions: str) -> StreamBench:
    """Return an edge of whose subscribers all are final, 9.00 each, at the beginning of epoch 6."""
    bench = begun(*questions)
    bench.hourly(1, TWELVE, {})
    bench.take()
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    assert asked(bench) == []
    return bench


def asked(bench: StreamBench) -> list[int]:
    """Return whose finals are asked for with this step, by version."""
    found = [unpack(record.value or b"") for record in bench.take().get("registrations", [])]
    return [FIRST - version for one in found if isinstance(one, PackedRegistrations) for version in one.versions]


def told(records: dict[str, list[OutRecord]]) -> list[OutRecord]:
    return [one for one in records.get("deliveries", []) if b"progress" not in (one.value or b"")]


def test_the_earliest_is_asked_first_and_all_others_when_their_windows_have_ended() -> None:
    bench = finals(LATER, AT_TEN)
    bench.hourly(0, ELEVEN - 1, {}, epoch=6)
    assert asked(bench) == [8]
    bench.hourly(1, ELEVEN - 1, {FIRST - 8: 100}, epoch=6)
    assert asked(bench) == [] and bench.edge.contradictions() == [], "it says less, since the window has not ended yet"
    bench.hourly(2, ELEVEN, {}, epoch=6)
    assert asked(bench) == [8]
    bench.hourly(3, TWELVE, {FIRST - 8: 900}, epoch=6)
    assert asked(bench) == [7]
    bench.hourly(4, TWELVE, {FIRST - 7: 901}, epoch=6)
    out = bench.take()
    (found,) = bench.edge.contradictions()
    assert found == ("q0", 7, LATER, "2026-03-02T12:00:00", '"9.00"', '"9.01"')
    assert told(out) == [] and "registrations" not in out
    assert bench.edge.counters.contradictions == 1 and bench.edge.counters.stale_snapshots == 0
    view = bench.edge.find(b"q0")
    assert view is not None and (view.text, view.certainty, view.n) == ('"9.00"', "final", 2)
    bench.edge.check()


def test_who_has_the_same_answer_is_asked_once_and_who_is_contradicted_by_each_process() -> None:
    bench = finals(AT_TEN, AT_TEN)
    bench.hourly(0, ELEVEN, {}, epoch=6)
    assert asked(bench) == [7, 8]
    bench.hourly(1, ELEVEN, {FIRST - 7: 900, FIRST - 8: 5}, epoch=6)
    assert asked(bench) == [] and [each.id for each in bench.edge.contradictions()] == ["q1"]
    again = StreamBench()
    again.edge.restore(bench.state)
    assert again.edge.dump() == bench.edge.dump()
    again.offset = bench.offset
    again.hourly(2, ELEVEN, {}, epoch=6)
    assert asked(again) == [8]
    again.hourly(3, ELEVEN, {FIRST - 8: 5, FIRST - 7: 5}, epoch=6)
    assert [(each.id, each.upto) for each in again.edge.contradictions()] == [("q1", UPTO)]
    again.hourly(4, ELEVEN, {FIRST - 8: 5}, epoch=6)
    assert asked(again) == [] and again.edge.contradictions() == []
    again.edge.check()


def test_one_about_windows_that_have_gone_cannot_be_asked_and_is_asked_no_more() -> None:
    bench = finals(AT_TEN)
    bench.hourly(0, ELEVEN, {}, epoch=6)
    assert asked(bench) == [7]
    bench.refused(1, FIRST - 7, epoch=6)
    out = bench.take()
    assert told(out) == [] and "acks" not in out and bench.edge.counters.contradictions == 0
    bench.hourly(2, ELEVEN, {FIRST - 7: 5}, epoch=6)
    assert asked(bench) == [] and bench.edge.contradictions() == []


def test_a_view_that_is_not_heard_of_is_asked_more_and_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contradictions, "PATIENCE", 4)
    bench, batches = finals(AT_TEN), []
    for batch in range(20):
        bench.hourly(batch, ELEVEN - 1, {FIRST - 7: 5}, epoch=6)
        batches += [batch] * len(asked(bench))
    assert batches == [0, 2, 5, 10, 15]


def test_no_more_than_some_are_asked_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contradictions, "MOST", 2)
    bench = finals(AT_TEN, AT_TEN, AT_TEN)
    bench.hourly(0, ELEVEN, {}, epoch=6)
    assert asked(bench) == [7, 8]
    bench.hourly(1, ELEVEN, {FIRST - 7: 900}, epoch=6)
    assert asked(bench) == [9]


def test_who_is_replaced_meanwhile_is_not_compared() -> None:
    bench = finals(AT_TEN)
    bench.hourly(0, ELEVEN, {}, epoch=6)
    assert asked(bench) == [7]
    bench.edge.subscription(20, b"q0", None)
    bench.hourly(1, ELEVEN, {FIRST - 7: 5}, epoch=6)
    assert bench.edge.contradictions() == [] and bench.edge.find(b"q0") is None


def test_nobody_is_asked_whose_era_goes_on() -> None:
    bench = begun(AT_TEN)
    bench.hourly(1, ELEVEN, {})
    bench.hourly(2, ELEVEN + 1, {})
    assert [version for version in asked(bench) if version < 1] == []
