"""Where lives begin, and which deliveries fit none."""

import msgspec

from tests.tidewire.verification.lived import lived
from tidewire.verification.compare.anchors import Anchor, Anchors
from tidewire.verification.compare.findings import Findings
from tidewire.verification.compare.report import Report
from tidewire.verification.records.batches import Position
from tidewire.verification.records.forms import Delivery

LIFE, LIVES, BATCHES = lived()
SNAPSHOT, *CHANGES = LIFE.delivered


def found(delivered: list[Delivery]) -> tuple[list[Anchor], Report]:
    findings = Findings(Report())
    anchors = Anchors(LIVES, BATCHES, findings)
    return list(anchors.of(LIFE, anchors.within_life(LIFE, delivered))), findings.report


def test_a_life_begins_with_its_snapshot() -> None:
    assert found(LIFE.delivered) == ([Anchor(Position(3, 0), SNAPSHOT, CHANGES)], Report())


def test_a_snapshot_that_is_not_there_is_missed_and_the_ack_says_where_it_was_due() -> None:
    anchors, report = found(CHANGES)
    assert anchors == [Anchor(Position(3, 0), None, CHANGES)]
    assert (report.missed, report.extra) == (1, 0)


def test_a_second_snapshot_is_a_duplicate() -> None:
    anchors, report = found([SNAPSHOT, CHANGES[0], SNAPSHOT, *CHANGES[1:]])
    assert anchors == [Anchor(Position(3, 0), SNAPSHOT, CHANGES)]
    assert (report.extra, report.duplicates) == (1, 1)


def test_a_change_of_an_epoch_that_nothing_began_is_extra() -> None:
    later = msgspec.structs.replace(CHANGES[-1].at, epoch=4)
    anchors, report = found([*LIFE.delivered[:-1], msgspec.structs.replace(CHANGES[-1], at=later)])
    assert anchors == [Anchor(Position(3, 0), SNAPSHOT, CHANGES[:-1])]
    assert report.extra == 1


def test_what_comes_after_the_end_is_extra() -> None:
    ended = msgspec.structs.replace(CHANGES[0], kind="ended")
    anchors, report = found([SNAPSHOT, ended, *CHANGES[1:]])
    assert anchors == [Anchor(Position(3, 0), SNAPSHOT, [])]
    assert report.extra == len(CHANGES) - 1


def test_a_resync_within_an_epoch_begins_anew_and_what_came_before_is_known_up_to_its_last_change() -> None:
    at = msgspec.structs.replace(CHANGES[1].at, topic=None, partition=None, offset=None)
    resync = msgspec.structs.replace(CHANGES[1], kind="resync", at=at)
    anchors, report = found([SNAPSHOT, CHANGES[0], resync, *CHANGES[2:]])
    assert anchors == [
        Anchor(Position(3, 0), SNAPSHOT, CHANGES[:1], is_broken=True),
        Anchor(CHANGES[1].at.position, resync, CHANGES[2:]),
    ]
    assert anchors[0].known_until == CHANGES[0].at.batch and report == Report()
    assert found([SNAPSHOT, resync, resync, *CHANGES[2:]])[1].duplicates == 1
