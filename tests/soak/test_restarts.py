from __future__ import annotations

from pathlib import Path

from tests.soak.restarts import SLOW_SECONDS, Restarts, logs_of_slow
from tidewire.stack.process_state import ProcessState, Restart


def engine(started: str, ready: float | None, *last: Restart) -> ProcessState:
    return ProcessState(name="engine", state="ready", started=started, ready_after_s=ready, last=list(last))


def test_what_becomes_known_later_replaces_what_was_not_and_a_new_up_forgets_nothing() -> None:
    found = Restarts()
    found.note([engine("12:00", 9.0)])
    found.note([engine("12:10", None, Restart(at="12:09", why="SIGKILL", down_s=0.5))])
    found.note([engine("12:10", 13.0, Restart(at="12:09", why="SIGKILL", down_s=0.5, ready_after_s=13.5))])
    found.note([engine("12:20", 170.0)])
    assert [(one["started"], one["ready_after_s"]) for one in found.starts] == [
        ("12:00", 9.0),
        ("12:10", 13.0),
        ("12:20", 170.0),
    ]
    assert [(one["ended"], one["why"], one["ready_after_s"]) for one in found.deaths] == [("12:09", "SIGKILL", 13.5)]


def test_only_what_took_long_is_shown_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    process = ProcessState(name="engine", state="ready", log=str(log), ready_after_s=170.0)
    assert not list(logs_of_slow([process], SLOW_SECONDS - 1))
    [shown] = logs_of_slow([process, ProcessState(name="edge-0", state="waiting")], SLOW_SECONDS)
    assert shown["log"] == [f"line {number}" for number in range(60, 100)]
