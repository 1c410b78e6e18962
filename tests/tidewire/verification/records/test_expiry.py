"""When a time to live may and must be over, from progress alone."""

from tidewire.verification.records.batches import Position
from tidewire.verification.records.expiry import Promise, Tick, overdue, seconds, was_followed, wrong_end

TICKS = [Tick(offset, Position(1, batch), time) for offset, batch, time in ((2, 0, 100), (5, 1, 110), (9, 2, 130))]


def test_times() -> None:
    assert (
        seconds("1970-01-01T00:01:00.9Z") == 60 == seconds("1970-01-01T01:01:00+01:00") == seconds("1970-01-01T00:01")
    )
    assert seconds("t") is None


def wrong(whole: bool, promise: Promise, offset: int, at: Position) -> str:
    return wrong_end(TICKS, whole, promise, offset, at) or ""


def test_an_end_may_not_come_too_early() -> None:
    assert wrong(True, Promise(30), 8, Position(1, 2)) == ""
    assert "no more than 30 s of 31 s" in wrong(True, Promise(31), 8, Position(1, 2))
    assert wrong(False, Promise(31), 8, Position(1, 2)) == ""
    assert "position" in wrong(True, Promise(30), 8, Position(1, 3))
    assert wrong(True, Promise(30), 8, Position(1, 1)) == ""
    assert wrong(True, Promise(30), 8, Position(0, 7)) == ""
    assert wrong(True, Promise(30), 10, Position(1, 2)) == ""
    assert wrong(True, Promise(None), 8, Position(1, 2)) == "it has no TTL"


def test_an_end_amid_a_loss_was_not_followed_to_its_progress() -> None:
    assert not was_followed(TICKS, 8, Position(1, 1))
    assert all(was_followed(TICKS, *end) for end in ((8, Position(1, 2)), (8, Position(0, 7)), (10, Position(1, 1))))


def test_an_end_comes_when_the_ack_said() -> None:
    assert wrong(True, Promise(20, 130, 4), 8, Position(1, 2)) == ""
    assert "1 s were left" in wrong(True, Promise(21, 131, 4), 8, Position(1, 2))
    assert "earlier progress" in wrong(True, Promise(10, 110, 1), 8, Position(1, 2))
    assert "no progress up to its snapshot" in wrong(True, Promise(15, 130, 4), 8, Position(1, 2))
    assert wrong(False, Promise(15, 130, 4), 8, Position(1, 2)) == ""


def test_an_end_must_not_come_too_late() -> None:
    assert overdue(TICKS, Promise(20, None, 4), None) and overdue(TICKS, Promise(20, None, 4), 10)
    assert not overdue(TICKS, Promise(20, None, 4), 8)
    assert not overdue(TICKS, Promise(21, None, 4), None)
    assert not overdue(TICKS, Promise(1, None, 10), None)
    assert overdue(TICKS, Promise(21, 110, 4), 8) and not overdue(TICKS, Promise(1, 131, 4), None)
