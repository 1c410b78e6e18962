"""When a time to live may and must be over, from progress alone."""

from tidewire.verification.batches import Position
from tidewire.verification.expiry import Tick, overdue, seconds, wrong_end

TICKS = [Tick(offset, Position(1, batch), time) for offset, batch, time in ((2, 0, 100), (5, 1, 110), (9, 2, 130))]


def test_times() -> None:
    assert (
        seconds("1970-01-01T00:01:00.9Z") == 60 == seconds("1970-01-01T01:01:00+01:00") == seconds("1970-01-01T00:01")
    )
    assert seconds("t") is None


def test_an_end_may_not_come_too_early() -> None:
    assert wrong_end(TICKS, True, 30, 8, Position(1, 2)) is None
    assert "no more than 30 s of 31 s" in (wrong_end(TICKS, True, 31, 8, Position(1, 2)) or "")
    assert wrong_end(TICKS, False, 31, 8, Position(1, 2)) is None
    assert "position" in (wrong_end(TICKS, True, 30, 8, Position(1, 1)) or "")
    assert wrong_end(TICKS, True, 30, 8, Position(0, 7)) is None
    assert wrong_end(TICKS, True, 30, 10, Position(1, 2)) is None
    assert wrong_end(TICKS, True, None, 8, Position(1, 2)) == "it has no TTL"


def test_an_end_must_not_come_too_late() -> None:
    assert overdue(TICKS, 20, 4, None) and overdue(TICKS, 20, 4, 10)
    assert not overdue(TICKS, 20, 4, 8)
    assert not overdue(TICKS, 21, 4, None)
    assert not overdue(TICKS, 1, 10, None)
