"""One subscription through a batch: causes, policies, members that come back."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from catalog.query.shape import Output, Shape
from catalog.sql.notify import Notify
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.answer_layout import AnswerLayout, Whole
from overlay.answers.answer_table import AnswerTable
from overlay.answers.conflation import Threshold
from overlay.maintain.maintainers import AggregateMaintainer, Notifier, SetMaintainer
from overlay.maintain.part_change import PartChange

BIGINT = ColumnType(Kind.BIGINT)


class World:
    """An answer of slot 7, and what was said of it."""

    def __init__(self, function: str, whole: Whole) -> None:
        self.output = Output(function, None if function == "count" else "v")
        shape = Shape("t", (self.output,), (), None)
        self.plan = AnswerLayout(shape, [None if self.output.column is None else BIGINT])
        self.lines: list[dict] = []
        self.answers = AnswerTable()
        self.kept = self.answers.start(7, whole)
        self.voice = Notifier(lambda _, line: self.lines.append(msgspec.json.decode(line)), b"a", '{"id":"a"', 1)

    def hit(self, row: int, rows: int | None, value: int | None = None, units: int = 0) -> PartChange:
        return PartChange(str(row), self.plan.channels[0], rows, value, units)

    def told(self, *names: str) -> list[tuple]:
        return [tuple(line.get(name) for name in names) for line in self.lines]


def test_each_cause_is_told_with_the_text_told_before_it() -> None:
    world = World("sum", ((1, 5),))
    following = AggregateMaintainer(7, world.kept, world.plan, world.voice, False, None)
    hits = [world.hit(1, 1, units=2), world.hit(2, 1, units=0), world.hit(3, -1, units=-7)]
    assert following.take(hits, 0, 3, world.answers)
    following.end()
    assert world.told("n", "old", "new", "at") == [(2, 5, 7, 1), (3, 7, 0, 3)]
    assert world.kept.whole == ((2, 0),) and (world.voice.told, world.voice.conflated) == (2, 0)


def test_latest_tells_the_end_and_min_change_what_is_far() -> None:
    world = World("min", (10,))
    latest = AggregateMaintainer(7, world.kept, world.plan, world.voice, True, None)
    latest.take([world.hit(1, None, 9), world.hit(2, None, 8)], 0, 2, world.answers)
    assert world.lines == []
    latest.end()
    assert world.told("n", "old", "new", "at", "changes") == [(2, 10, 8, 2, 2)]
    world = World("min", (10,))
    threshold = Threshold(Notify("min_change", Decimal(3)), world.output, BIGINT)
    far = AggregateMaintainer(7, world.kept, world.plan, world.voice, False, threshold)
    far.take([world.hit(1, None, 8), world.hit(2, None, 7), world.hit(3, None, 6)], 0, 3, world.answers)
    far.end()
    assert world.told("n", "old", "new", "at", "changes") == [(2, 10, 7, 2, 2)]
    assert (world.kept.told, world.kept.untold, world.voice.conflated) == (7, 1, 1)


def test_members_that_leave_and_return_within_a_cause_are_no_change() -> None:
    world = World("distinct", {1})
    following = SetMaintainer(7, world.kept, world.plan, world.voice, False)
    hits = [world.hit(1, -1, 1), world.hit(1, 1, 1), world.hit(2, 1, 1), world.hit(3, 1, 4), world.hit(3, -1, 1)]
    assert following.take(hits, 0, 5, world.answers)
    assert world.told("n", "removed", "added", "at") == [(2, [1], [4], 3)]
    assert following.suppressed == 1 and world.kept.members == {4}
