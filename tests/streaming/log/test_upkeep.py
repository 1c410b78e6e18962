from __future__ import annotations

from typing import Any, cast

from state.errors import TidewireError
from streaming.log.table import LogTable
from streaming.log.upkeep import COMMITS, LogUpkeep


class Table:
    """Notes what is asked of it."""

    def __init__(self, fails: bool = False) -> None:
        self.asked: list[Any] = []
        self._fails = fails

    def compact(self) -> int:
        self.asked.append("compact")
        if self._fails:
            raise TidewireError("no disk")
        return 2

    def vacuum(self, keep_hours: int) -> None:
        self.asked.append(keep_hours)


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def note(upkeep: LogUpkeep, commits: int) -> None:
    upkeep.note(commits)
    upkeep.join()


def test_after_so_many_commits_or_so_much_time_and_vacuum_once_a_day() -> None:
    table, watch = Table(), Watch()
    upkeep = LogUpkeep(cast(LogTable, table), 200, 60, watch)
    note(upkeep, COMMITS - 1)
    assert table.asked == []
    note(upkeep, 1)
    assert table.asked == ["compact", 200]
    watch.now = 61.0
    note(upkeep, 1)
    assert table.asked == ["compact", 200]
    note(upkeep, 1)
    assert table.asked == ["compact", 200, "compact"]
    watch.now = 86_401.0
    note(upkeep, 2)
    assert table.asked == ["compact", 200, "compact", "compact", 200]


def test_a_failure_disturbs_nobody_and_is_tried_again() -> None:
    table, watch = Table(fails=True), Watch()
    upkeep = LogUpkeep(cast(LogTable, table), 200, 60, watch)
    note(upkeep, COMMITS)
    note(upkeep, COMMITS)
    assert table.asked == ["compact", "compact"]
