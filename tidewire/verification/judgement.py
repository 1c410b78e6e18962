"""Expected against delivered, one life at a time.

For each epoch in which a version lived there is an anchor: its snapshot, or the resync of a new epoch. The anchor's
value must be the answer at its position; from there to the end of the life in this epoch, each change of the answer
must have been delivered once, naming the record that caused it, with old, new and batch right, in order. Across the
whole life `n` must be gapless. Where input is gone, the order and `n` are judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidewire.verification.answers import Answers
from tidewire.verification.batches import Batches, Position
from tidewire.verification.lives import Delivery, Life, Lives, Where
from tidewire.verification.ordering import Sequence
from tidewire.verification.question import Unreadable
from tidewire.verification.report import Report


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What one table's input in one epoch says about one query. `answers` is None where the input is gone."""

    sequence: Sequence
    answers: Answers | None


UNKNOWN = "(unknown)"
"""Stands for a value that cannot be recomputed."""

Recompute = Callable[[Life, Position], Recomputed]
"""Recompute the answers of a life in the epoch of a position at which it was live. Raises Unreadable."""


@dataclass(slots=True)
class Anchor:
    """Where a life begins in an epoch; `delivery` is None where it is known from elsewhere."""

    at: Position
    delivery: Delivery | None
    changes: list[Delivery] = field(default_factory=list)


class Judgement:
    """Judges lives and counts in `report`. Nothing beyond the last committed batch is judged."""

    def __init__(self, lives: Lives, batches: Batches, recompute: Recompute, report: Report) -> None:
        self._lives = lives
        self._batches = batches
        self._horizon = batches.horizon or Position(-1, -1)
        self._recompute = recompute
        self._report = report

    def judge(self, life: Life) -> None:
        """Compare everything that was delivered to `life` with what should have been."""
        report = self._report
        delivered = [d for d in life.delivered if d.at.position <= self._horizon]
        report.unjudged += len(life.delivered) - len(delivered)
        report.deliveries += len(delivered)
        delivered = self._within_life(life, delivered)
        self._judge_numbers(life, delivered)
        ended = next((d for d in delivered if d.kind == "ended"), None)
        last: Any = UNKNOWN
        for anchor in map(self._raise_to_floor, self._anchors(life, delivered)):
            try:
                recomputed = self._recompute(life, anchor.at)
            except Unreadable as reason:
                report.unreadable += 1
                report.unjudged += len(anchor.changes) + (anchor.delivery is not None)
                report.fault("unreadable", _name(life), str(reason))
                return
            until = self._until(life, anchor.at.epoch, ended)
            last = self._judge_epoch(life, anchor, recomputed, until, last)
        if ended is not None:
            right = ended.new is None and _agrees(ended.old, last)
            self._count(life, ended, right, "the last value", {"old": last, "new": None})

    # the parts of a life -------------------------------------------------------------------------------------

    def _within_life(self, life: Life, delivered: list[Delivery]) -> list[Delivery]:
        """Drop, and count as extra, what came after the end or after the successor's snapshot."""
        kept: list[Delivery] = []
        over: str | None = None
        for d in delivered:
            if life.replaced_offset is not None and d.log_offset > life.replaced_offset:
                over = "after the snapshot of the version that replaced it"
            if over:
                self._extra(life, d, over)
                continue
            kept.append(d)
            if d.kind == "ended":
                over = "after it had ended"
        return kept

    def _anchors(self, life: Life, delivered: list[Delivery]) -> list[Anchor]:
        anchors: list[Anchor] = []
        first = self._first_anchor(life, delivered)
        if first is not None:
            anchors.append(first)
        for d in delivered:
            if d.kind in ("snapshot", "resync"):
                if any(anchor.at.epoch == d.at.epoch for anchor in anchors) or (d.kind == "snapshot" and anchors):
                    self._extra(life, d, f"a second {d.kind} in epoch {d.at.epoch}", duplicate=True)
                else:
                    anchors.append(Anchor(d.at.position, d))
            elif d.kind == "change":
                self._assign(life, d, anchors, first)
        return anchors

    def _assign(self, life: Life, d: Delivery, anchors: list[Anchor], first: Anchor | None) -> None:
        anchor = anchors[-1] if anchors else None
        if first is not None and first.delivery is None and d.at.position <= first.at:
            self._report.unjudged += 1
        elif anchor is None or anchor.at.epoch != d.at.epoch:
            self._extra(life, d, f"no snapshot or resync came before it in epoch {d.at.epoch}")
        else:
            anchor.changes.append(d)

    def _first_anchor(self, life: Life, delivered: list[Delivery]) -> Anchor | None:
        """Return where judging begins if the snapshot is not there: trimmed, or missed (which is counted)."""
        live_at = life.live_at
        if (delivered and delivered[0].kind == "snapshot") or not (delivered or live_at):
            return None
        whole_from = self._lives.whole_from.get(life.partition)
        trimmed = whole_from is not None and (live_at is None or live_at <= whole_from)
        if not trimmed and (live_at is None or live_at <= self._horizon):
            self._report.missed += 1
            self._report.fault("missed", _name(life), "its snapshot")
        if delivered and delivered[0].kind == "resync":
            return None
        if whole_from is not None and trimmed:
            return Anchor(whole_from, None)
        if live_at is not None:
            return Anchor(live_at, None) if live_at <= self._horizon else None
        at = delivered[0].at.position
        return Anchor(Position(at.epoch, at.batch - 1), None)

    def _raise_to_floor(self, anchor: Anchor) -> Anchor:
        """Leave out what came before the first batch whose cuts are known; what it held is known all the same."""
        floor = self._batches.floor(anchor.at.epoch)
        if anchor.at.batch >= floor:
            return anchor
        kept = [d for d in anchor.changes if d.at.batch > floor]
        self._report.unjudged += len(anchor.changes) - len(kept) + (anchor.delivery is not None)
        return Anchor(Position(anchor.at.epoch, floor), None, kept)

    def _until(self, life: Life, epoch: int, ended: Delivery | None) -> int:
        """Return the last batch of `epoch` whose changes the life must have been told."""
        until = self._lives.reached.get(life.partition, {}).get(epoch, -1)
        if epoch == self._horizon.epoch:
            until = min(until, self._horizon.batch)
        for end in (ended.at.position if ended else None, life.replaced_at):
            if end is not None and end.epoch == epoch:
                until = min(until, end.batch)
        return until

    # judging -------------------------------------------------------------------------------------------------

    def _judge_numbers(self, life: Life, delivered: list[Delivery]) -> None:
        """Judge that `n` is gapless. A trimmed log may begin anywhere; a repeat is counted elsewhere."""
        previous: int | None = None
        seen: set[tuple[str, int, Where]] = set()
        for d in delivered:
            if (d.kind, d.n, d.at) in seen:
                continue
            seen.add((d.kind, d.n, d.at))
            if d.kind == "snapshot":
                follows, previous = d.n == 1, d.n
            else:
                step = 0 if d.kind == "resync" and same(d.old, d.new) else 1
                follows = previous is None or d.n == previous + step
                previous = d.n
            if not follows:
                self._report.gaps += 1
                self._report.fault("gap", _name(life), f"n = {d.n} at deliveries/{life.partition}/{d.log_offset}")

    def _judge_epoch(self, life: Life, anchor: Anchor, recomputed: Recomputed, until: int, last: Any) -> Any:
        """Judge one epoch of a life; return the value at its end, or UNKNOWN."""
        sequence, answers = recomputed.sequence, recomputed.answers
        begin, end = sequence.end_of(anchor.at.batch), sequence.end_of(until)
        if answers is None:
            self._judge_places(life, anchor, sequence)
            return UNKNOWN
        value = answers.at(begin)
        if anchor.delivery is not None:
            self._judge_anchor(life, anchor.delivery, value, last)
        expected = {seq: (old, new) for seq, old, new in answers.between(begin, end)}
        before = begin
        for d in anchor.changes:
            seq = self._seq(life, d, sequence)
            if seq is None or seq not in expected:
                repeated = seq is not None and seq <= before and begin < seq and answers.between(seq - 1, seq) != []
                self._extra(life, d, "a repeat" if repeated else "the answer did not change there", duplicate=repeated)
                continue
            old, new = expected.pop(seq)
            right = same(d.old, old) and same(d.new, new) and d.at.batch == sequence.taken[seq - 1].batch
            note = "old, new or batch" if seq > before else "out of order"
            self._count(life, d, right and seq > before, note, {"old": old, "new": new})
            before = max(before, seq)
        for seq, (old, new) in expected.items():
            self._missed(life, sequence, seq, old, new)
        return answers.at(max(begin, end))

    def _judge_anchor(self, life: Life, d: Delivery, value: Any, last: Any) -> None:
        right = same(d.new, value)
        if d.kind == "snapshot":
            asked = life.query.sql if life.query is not None and not life.query.params else d.sql
            right = right and d.old is None and d.sql == asked
            self._count(life, d, right, "the snapshot's value or SQL", {"old": None, "new": value, "sql": asked})
        else:
            self._count(life, d, right and _agrees(d.old, last), "the resync's old or new", {"old": last, "new": value})

    def _judge_places(self, life: Life, anchor: Anchor, sequence: Sequence) -> None:
        """Judge what can be without values: that causes are records of the batch, in order."""
        before = 0
        self._report.unjudged += anchor.delivery is not None
        for d in anchor.changes:
            seq = self._seq(life, d, sequence)
            if seq is not None and seq <= before:
                self._extra(life, d, "a repeat, or out of order", duplicate=True)
                continue
            self._report.unjudged += 1
            before = seq or before

    def _seq(self, life: Life, d: Delivery, sequence: Sequence) -> int | None:
        if d.at.topic != sequence.table.topic or d.at.partition is None or d.at.offset is None:
            return None
        return sequence.seq_of(d.at.partition, d.at.offset)

    # counting ------------------------------------------------------------------------------------------------

    def _count(self, life: Life, d: Delivery, right: bool, note: str, expected: dict[str, Any]) -> None:
        if right:
            self._report.right += 1
            return
        self._report.wrong += 1
        self._report.fault("wrong", _name(life), f"{note}: {_shown(d)}", expected, {"old": d.old, "new": d.new})

    def _extra(self, life: Life, d: Delivery, note: str, duplicate: bool = False) -> None:
        self._report.extra += 1
        self._report.duplicates += duplicate
        self._report.fault("extra", _name(life), f"{note}: {_shown(d)}", None, {"old": d.old, "new": d.new})

    def _missed(self, life: Life, sequence: Sequence, seq: int, old: Any, new: Any) -> None:
        taken = sequence.taken[seq - 1]
        self._report.missed += 1
        place = f"{sequence.table.topic}/{taken.record.partition}/{taken.record.offset}"
        note = f"change by {place} in epoch {sequence.epoch}, batch {taken.batch}"
        self._report.fault("missed", _name(life), note, {"old": old, "new": new})


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same value: true is not 1, 1 is 1.0, "1.50" is not "1.5".

    >>> same(True, 1), same(1, 1.0), same(None, None)
    (False, True, True)
    """
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _agrees(value: Any, expected: Any) -> bool:
    return expected is UNKNOWN or same(value, expected)


def _name(life: Life) -> str:
    return f"`{life.id}` version {life.version}"


def _shown(d: Delivery) -> str:
    place = f" by {d.at.topic}/{d.at.partition}/{d.at.offset}" if d.at.topic is not None else ""
    return f"{d.kind} n = {d.n}{place} in epoch {d.at.epoch}, batch {d.at.batch}"
