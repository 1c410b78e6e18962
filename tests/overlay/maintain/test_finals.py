"""Who is told that an answer is final, by which horizon, and what comes of it; the chain's tests have the histories."""

from __future__ import annotations

import numpy as np

from connectors.record import OutRecord
from operators.control import EpochBegins, Progress, RegisterAll
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, pack_messages, pack_snapshot, unpack
from operators.record_error import HORIZON_FORMAT
from operators.reply import WINDOW_GONE, Refused, Reply
from shard.encode import NOTHING
from tests.catalog.streamed import CATALOG
from tests.overlay.edge_bench import Bench

AT_TEN = "SELECT MAX(high) FROM hourly WHERE symbol = 'a' AND hour = TIMESTAMP '2026-03-02 10:00:00'"
ELEVEN = int(np.datetime64("2026-03-02T11:00:00", "us").astype(np.int64))
UPTO = "2026-03-02T11:00:00"


class StreamBench(Bench):
    """A virtual edge that hears of `hourly`, and how far it is complete."""

    def __init__(self) -> None:
        super().__init__(catalogs=lambda _: CATALOG)

    def hourly(
        self, batch: int, horizon: int, answers: dict[int, int], epoch: int = 5, shard: str = "hourly/0"
    ) -> None:
        """One batch: answers by version, as they held before it, or a record that says nothing but the horizon."""
        if answers:
            new, known = np.array([*answers.values()], np.int64), np.ones(len(answers), np.bool_)
            self._answer(Header("snapshot", epoch, shard, batch, horizon=horizon), [*answers], Answers(new, known, {}))
        else:
            header = Header("messages", epoch, shard, batch, horizon=horizon, format=HORIZON_FORMAT)
            self._hear(pack_messages(header, NOTHING.messages, NOTHING.seq, NOTHING.causes, NOTHING.several))
        self.control(Progress(epoch, batch, 0, "noon"))

    def refused(self, batch: int, version: int, epoch: int) -> None:
        nothing = Answers(np.zeros(1, np.int64), np.zeros(1, np.bool_), {})
        header = Header("snapshot", epoch, "hourly/0", batch)
        self._answer(header, [version], nothing, {0: Refused(WINDOW_GONE, "gone", "")})
        self.control(Progress(epoch, batch, 0, "noon"))

    def _answer(
        self, header: Header, versions: list[int], answers: Answers, replies: dict[int, Reply] | None = None
    ) -> None:
        header.format = HORIZON_FORMAT
        self._hear(pack_snapshot(header, np.array(versions, np.int64), answers, replies or {}))

    def _hear(self, packed: bytes) -> None:
        self.edge.notification(self.offset, b"hourly/0", packed)
        self.offset += 1

    def told(self) -> list[tuple[str, str]]:
        """Who was told what since the last call, less progress."""
        return [(one["id"], one["kind"]) for one in self.lines() if one["kind"] != "progress"]


def begun(*questions: str) -> StreamBench:
    """Return an edge whose subscribers, from version 7 on, have their snapshots: 9.00 each."""
    bench = StreamBench()
    for i, sql in enumerate(questions):
        bench.ask(7 + i, f"q{i}", sql)
    bench.take()
    bench.hourly(0, ELEVEN - 1, {7 + i: 900 for i in range(len(questions))})
    return bench


def test_final_is_told_once_by_the_horizon_that_reaches_the_end_of_the_window() -> None:
    bench = begun(AT_TEN)
    assert bench.told() == [("q0", "snapshot")]
    bench.hourly(1, ELEVEN, {})
    final, progress = bench.lines()
    assert final == {
        "id": "q0", "kind": "final", "version": 7, "n": 2, "old": "9.00", "new": "9.00",
        "at": {"epoch": 5, "batch": 1, "upto": UPTO},
    }  # fmt: skip
    assert progress["upto"] == {"hourly": UPTO}
    bench.hourly(2, ELEVEN + 1, {})
    assert bench.told() == []
    bench.edge.check()


def test_the_horizon_of_another_view_makes_nothing_final() -> None:
    bench = begun(AT_TEN)
    bench.take()
    bench.hourly(1, ELEVEN + 5, {}, shard="daily/0")
    assert bench.told() == []


def test_who_comes_when_the_window_is_over_has_a_snapshot_and_the_final_answer() -> None:
    bench = StreamBench()
    bench.ask(7, "q0", AT_TEN)
    bench.take()
    bench.hourly(0, ELEVEN, {7: 900})
    assert bench.told() == [("q0", "snapshot"), ("q0", "final")]


def test_notify_final_ends_with_it() -> None:
    bench = begun(f"{AT_TEN} NOTIFY FINAL")
    bench.take()
    bench.hourly(1, ELEVEN, {})
    out = bench.take()
    assert [b'"kind":"final"' in (one.value or b"") for one in out["deliveries"]] == [True, False, False]
    assert out["acks"][0].value == b'{"id":"q0","version":7,"status":"ended","reason":"final"}'
    assert bench.edge.find(b"q0") is None


def test_who_is_final_is_registered_no_more_and_keeps_the_answer() -> None:
    bench = begun(AT_TEN, AT_TEN.replace("10:00", "12:00"))
    bench.hourly(1, ELEVEN, {})
    bench.take()
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    assert _versions(bench.take()["registrations"]) == [8]
    view = bench.edge.find(b"q0")
    assert view is not None and (view.text, view.certainty, view.final_at) == ('"9.00"', "final", UPTO)
    bench.edge.check()


def test_it_is_final_still_when_it_is_read_back() -> None:
    bench = begun(AT_TEN)
    bench.hourly(1, ELEVEN, {})
    bench.take()
    again = StreamBench()
    again.edge.restore(bench.state)
    assert again.edge.dump() == bench.edge.dump()
    again.edge.check()


def test_a_live_question_whose_windows_are_gone_ends_and_is_never_called_final() -> None:
    bench = begun(AT_TEN)
    bench.take()
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    bench.take()
    bench.refused(0, 7, epoch=6)
    out = bench.take()
    (ended,) = [one.value or b"" for one in out["deliveries"] if b"progress" not in (one.value or b"")]
    assert b'"kind":"ended"' in ended and f'"reason":"{WINDOW_GONE}"'.encode() in ended
    assert bench.edge.find(b"q0") is None


def _versions(records: list[OutRecord]) -> list[int]:
    found = [unpack(record.value or b"") for record in records]
    return [version for one in found if isinstance(one, PackedRegistrations) for version in one.versions]
