"""An answer of aggregates through a batch: causes and policies."""

from __future__ import annotations

from decimal import Decimal

from catalog.sql.notify import Notify
from overlay.answers.conflation import Threshold
from tests.overlay.maintain.one_answer import BIGINT, OneAnswer


def test_each_cause_is_told_with_the_text_told_before_it() -> None:
    world = OneAnswer("sum", ((1, 5),))
    maintainer = world.follow()
    hits = [world.hit(1, 1, units=2), world.hit(2, 1, units=0), world.hit(3, -1, units=-7)]
    assert maintainer.take(hits, 0, 3, world.answers)
    maintainer.end()
    assert world.told("n", "old", "new", "at") == [(2, 5, 7, 1), (3, 7, 0, 3)]
    assert world.stored.answer == ((2, 0),) and (world.notifier.told, world.notifier.conflated) == (2, 0)


def test_latest_tells_the_end_and_min_change_what_is_far() -> None:
    world = OneAnswer("min", (10,))
    latest = world.follow(latest=True)
    latest.take([world.hit(1, None, 9), world.hit(2, None, 8)], 0, 2, world.answers)
    assert world.lines == []
    latest.end()
    assert world.told("n", "old", "new", "at", "changes") == [(2, 10, 8, 2, 2)]
    world = OneAnswer("min", (10,))
    threshold = Threshold(Notify("min_change", Decimal(3)), world.output, BIGINT)
    far = world.follow(threshold=threshold)
    far.take([world.hit(1, None, 8), world.hit(2, None, 7), world.hit(3, None, 6)], 0, 3, world.answers)
    far.end()
    assert world.told("n", "old", "new", "at", "changes") == [(2, 10, 7, 2, 2)]
    assert (world.stored.last_told, world.stored.untold_changes, world.notifier.conflated) == (7, 1, 1)
