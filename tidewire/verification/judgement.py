"""Expected against delivered, one life at a time.

For each epoch in which a version lived there is an anchor: its snapshot, or the resync of a new epoch. The anchor's
value must be the answer at its position; from there to the end of the life in this epoch, each change of the answer
must have been delivered once, naming the record that caused it, with what it says, batch and `changes` right, in order,
as far as the subscription's policy tells it. Across the whole life `n` must be gapless. Where input is gone, the order
and `n` are judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidewire.verification.answers import Answers, Said
from tidewire.verification.batches import Batches, Position
from tidewire.verification.declared import Table
from tidewire.verification.endings import uncalled
from tidewire.verification.expiry import wrong_end
from tidewire.verification.forms import Delivery, Where
from tidewire.verification.lives import Life, Lives
from tidewire.verification.ordering import Sequence
from tidewire.verification.policy import EVERY_CHANGE, Policy, Step, told_steps
from tidewire.verification.question import Unreadable, says_policy
from tidewire.verification.quota import first_over
from tidewire.verification.report import Report


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What one table's input in one epoch says about one query. `answers` is None where the input is gone."""

    sequence: Sequence
    answers: Answers | None
    policy: Policy = EVERY_CHANGE


UNKNOWN = "(unknown)"
"""Stands for a value that cannot be recomputed."""


@dataclass(slots=True)
class Ending:
    """How an epoch of a life ended, as deliveries show it: what was told last, what the answer was (maybe UNKNOWN).

    `answers` write differences; `policy` is the question's, `table` the one it is about; `over`: beyond its quota.
    None before the first epoch.
    """

    told: Any = UNKNOWN
    exact: Any = UNKNOWN
    answers: Answers | None = None
    policy: Policy | None = None
    table: Table | None = None
    over: bool | None = None


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

    def __init__(
        self, lives: Lives, batches: Batches, recompute: Recompute, report: Report, standing: set[tuple[str, int]]
    ) -> None:
        """`standing` are the tables that are declared still, by lower-case name and `born`."""
        self._standing = standing
        self._lives = lives
        self._batches = batches
        self._horizon = batches.horizon or Position(-1, -1)
        self._recompute = recompute
        self._report = report

    def judge(self, life: Life) -> None:
        """Compare everything that was delivered to `life` with what should have been.

        Where its record is gone, and with it maybe a policy, it is taken for one that is told every change; if that
        does not fit, it is not judged, but for its numbers.
        """
        if life.pushed:
            self._judge_pushed(life)
            return
        if life.query is None or says_policy(life.query):
            self._judge(life)
            return
        whole, self._report = self._report, Report()
        self._judge(life)
        trial, self._report = self._report, whole
        if trial.wrong or trial.missed or trial.extra > trial.duplicates:
            trial = Report(deliveries=trial.deliveries, unjudged=trial.deliveries, gaps=trial.gaps)
        whole.add(trial)

    def _judge_pushed(self, life: Life) -> None:
        """What is told over HTTP cannot be seen afterwards: only that nothing was written, and what the ack says."""
        report, query, ack = self._report, life.query, life.ack or {}
        report.pushed += 1
        report.deliveries += len(life.delivered)
        for d in life.delivered:
            self._extra(life, d, "a record of a subscription that is only pushed")
        if query is not None and query.whole and not query.params and ack.get("sql", query.sql) != query.sql:
            report.wrong += 1
            report.fault("wrong", _name(life), "the SQL of its ack", query.sql, ack["sql"])

    def _judge(self, life: Life) -> None:
        report = self._report
        delivered = [d for d in life.delivered if d.at.position <= self._horizon]
        report.unjudged += len(life.delivered) - len(delivered)
        report.deliveries += len(delivered)
        delivered = self._within_life(life, delivered)
        self._judge_numbers(life, delivered)
        ended = next((d for d in delivered if d.kind == "ended"), None)
        last = Ending()
        for anchor in map(self._raise_to_floor, self._anchors(life, delivered)):
            try:
                recomputed = self._recompute(life, anchor.at)
            except Unreadable as reason:
                report.unreadable += 1
                report.unjudged += len(anchor.changes) + (anchor.delivery is not None)
                report.fault("unreadable", _name(life), str(reason))
                return
            until = self._until(life, anchor.at.epoch, ended)
            last = self._judge_epoch(life, anchor, recomputed, until, last, ended)
            last.table = recomputed.sequence.table
        if last.policy is not None:
            self._judge_form(life, delivered, last.policy)
        if ended is not None:
            self._judge_end(life, ended, last)

    # the parts of a life -------------------------------------------------------------------------------------

    def _within_life(self, life: Life, delivered: list[Delivery]) -> list[Delivery]:
        """Drop, and count as extra, what came after the end or after the successor's snapshot."""
        kept: list[Delivery] = []
        over: str | None = None
        for d in delivered:
            replaced = (life.replaced_offset, life.replaced_row)
            if replaced[0] is not None and (d.log_offset, d.row) > replaced:
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
                follows = previous is None or d.n - previous in _strides(d)
                previous = d.n
            if not follows:
                self._report.gaps += 1
                self._report.fault("gap", _name(life), f"n = {d.n} at deliveries/{life.partition}/{d.log_offset}")

    def _judge_form(self, life: Life, delivered: list[Delivery], policy: Policy) -> None:
        """Judge that deliveries are packed if and only if that was asked for."""
        other = next((d for d in delivered if d.packed != policy.packed), None)
        if other is not None and (policy.packed or life.query is None or life.query.whole):
            self._report.wrong += 1
            asked, came = (("records", "packed")[packed] for packed in (policy.packed, other.packed))
            self._report.fault("wrong", _name(life), f"the form of {_shown(other)}", asked, came)

    def _judge_epoch(
        self, life: Life, anchor: Anchor, recomputed: Recomputed, until: int, last: Ending, ended: Delivery | None
    ) -> Ending:
        """Judge one epoch of a life; return how it ends."""
        sequence, answers = recomputed.sequence, recomputed.answers
        begin, end = sequence.end_of(anchor.at.batch), sequence.end_of(until)
        if answers is None:
            self._judge_places(life, anchor, sequence)
            return Ending(policy=recomputed.policy)
        told, over = answers.at(begin), first_over(answers, begin, end)
        if over is not None:
            end = self._judge_quota(life, sequence, over, end, ended, recomputed.policy)
        if anchor.delivery is not None:
            self._judge_anchor(life, anchor.delivery, answers, told, last)
        elif recomputed.policy.kind == "least" and anchor.changes:
            begin, told = self._taken_on_trust(life, anchor, sequence, answers, begin)
        steps = [(sequence.taken[step.seq - 1].batch, step) for step in answers.steps(begin, end)]
        expected = told_steps(answers, steps, recomputed.policy, told)
        self._judge_changes(life, anchor, sequence, answers, expected)
        exact = answers.shown(answers.at(max(begin, end)))
        if recomputed.policy.kind == "least":
            shown = answers.shown(expected[-1].after if expected else told)
            return Ending(shown, exact, answers, recomputed.policy, over=over is not None)
        return Ending(exact, exact, answers, recomputed.policy, over=over is not None)

    def _judge_changes(
        self, life: Life, anchor: Anchor, sequence: Sequence, answers: Answers, steps: list[Step]
    ) -> None:
        """Compare an epoch's changes with the steps that must have been told."""
        expected = {step.seq: step for step in steps}
        found = set[int]()
        before = 0
        for d in anchor.changes:
            seq = self._seq(life, d, sequence)
            if seq is None or seq not in expected or seq in found:
                repeated = seq in found
                self._extra(life, d, "a repeat" if repeated else "the answer did not change there", duplicate=repeated)
                continue
            found.add(seq)
            step = expected[seq]
            right = same(d.said, answers.said(step)) and d.at.batch == sequence.taken[seq - 1].batch
            note = "old, new, batch or changes" if seq > before else "out of order"
            right = right and seq > before and d.changes == step.changes
            self._count(life, d, right, note, _written(answers.said(step), step.changes))
            before = max(before, seq)
        for seq, step in expected.items():
            if seq not in found:
                self._missed(life, sequence, seq, _written(answers.said(step), step.changes))

    def _taken_on_trust(
        self, life: Life, anchor: Anchor, sequence: Sequence, answers: Answers, begin: int
    ) -> tuple[int, Any]:
        """Begin MIN CHANGE with its first delivery where nothing says what was told before; return seq and state."""
        d = anchor.changes[0]
        seq = self._seq(life, d, sequence)
        if seq is None or seq <= begin:
            return begin, answers.at(begin)
        anchor.changes = anchor.changes[1:]
        self._report.unjudged += 1
        return seq, answers.at(seq)

    def _judge_quota(
        self, life: Life, sequence: Sequence, over: int, end: int, ended: Delivery | None, policy: Policy
    ) -> int:
        """Judge that a DISTINCT that has become too large has ended; return up to where its changes were told."""
        batch = sequence.taken[over - 1].batch
        at = Position(sequence.epoch, batch)
        if ended is None or ended.reason != "quota" or ended.at.position != at:
            self._report.missed += 1
            self._report.fault("missed", _name(life), f"its end by quota in epoch {at.epoch}, batch {at.batch}")
            return end
        return sequence.end_of(batch - 1) if policy.kind == "latest" else over - 1

    def _judge_anchor(self, life: Life, d: Delivery, answers: Answers, state: Any, last: Ending) -> None:
        value = answers.shown(state)
        if d.kind == "snapshot":
            asked = life.query.sql if life.query is not None and not life.query.params else d.sql
            said = answers.first(value)
            right = same(d.said, said) and d.sql == asked
            self._count(life, d, right, "the snapshot's value or SQL", said | {"sql": asked})
        elif last.told is UNKNOWN:
            self._count(life, d, _leads_to(d.said, value), "the resync's new value", answers.first(value))
        else:
            said = answers.between(last.told, value)
            self._count(life, d, same(d.said, said), "the resync's old or new", said)

    def _judge_end(self, life: Life, ended: Delivery, last: Ending) -> None:
        """Judge an end: that it was called for, and that it says the last answer."""
        known, wrong = uncalled(life, ended.reason, self._stands(last.table), self._is_over(ended, last))
        if wrong is not None:
            self._count(life, ended, False, f"an end that nothing called for: {wrong}", {})
            return
        if not known:
            self._report.unjudged += 1
            return
        if ended.reason == "expired" and last.policy is not None and life.query is not None:
            ttl, whole = last.policy.ttl, life.partition not in self._lives.whole_from
            ticks = self._lives.ticks.get(life.partition, [])
            wrong = wrong_end(ticks, whole, life.promise(ttl), ended.log_offset, ended.at.position)
            if wrong is not None and (ttl is not None or life.query.whole):
                self._count(life, ended, False, f"an end by TTL, but {wrong}", {})
                return
        if last.exact is UNKNOWN or last.answers is None:
            gone = ended.said.get("new", ended.said.get("added"))
            self._count(life, ended, gone in (None, []), "an end that leaves something", {"new": None})
            return
        said = last.answers.last(last.exact)
        self._count(life, ended, same(ended.said, said), "the last value", said)

    def _stands(self, table: Table | None) -> bool | None:
        return None if table is None else (table.name.lower(), table.born) in self._standing

    def _is_over(self, ended: Delivery, last: Ending) -> bool | None:
        """Whether the answer is beyond its quota; what is so after a new epoch began ends where the old one did."""
        if last.over is False and ended.at.epoch < self._horizon.epoch:
            return None
        return last.over

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
        if right and (d.changes == 1 or d.kind == "change"):
            self._report.right += 1
            return
        self._report.wrong += 1
        self._report.fault("wrong", _name(life), f"{note}: {_shown(d)}", expected, _written(d.said, d.changes))

    def _extra(self, life: Life, d: Delivery, note: str, duplicate: bool = False) -> None:
        self._report.extra += 1
        self._report.duplicates += duplicate
        self._report.fault("extra", _name(life), f"{note}: {_shown(d)}", None, _written(d.said, d.changes))

    def _missed(self, life: Life, sequence: Sequence, seq: int, expected: Said) -> None:
        taken = sequence.taken[seq - 1]
        self._report.missed += 1
        place = f"{sequence.table.topic}/{taken.record.partition}/{taken.record.offset}"
        note = f"change by {place} in epoch {sequence.epoch}, batch {taken.batch}"
        self._report.fault("missed", _name(life), note, expected)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same value: true is not 1, 1 is 1.0, "1.50" is not "1.5".

    >>> same(True, 1), same([1, None], [1.0, None]), same({"old": 1}, {"old": 2})
    (False, True, False)
    """
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _strides(d: Delivery) -> set[int]:
    """Return by how much `n` may grow with `d`: not at all with a resync that says nothing new.

    Averages and sums of doubles may differ and yet be the same when written.
    """
    said = list(d.said.values())
    unchanged = said == [[], []] if "added" in d.said else same(*said)
    if d.kind != "resync" or not unchanged:
        return {1}
    values = said[0] if isinstance(said[0], list) else [said[0]]
    return {0, 1} if any(isinstance(value, float) for value in values) else {0}


def _leads_to(said: Said, value: Any) -> bool:
    """Whether what is said of an answer that is not known before can have led to `value`."""
    if "added" not in said:
        return same(said["new"], value)
    return isinstance(value, frozenset) and value.issuperset(said["added"]) and value.isdisjoint(said["removed"])


def _written(said: Said, changes: int) -> Said:
    return said if changes == 1 else said | {"changes": changes}


def _name(life: Life) -> str:
    return f"`{life.id}` version {life.version}"


def _shown(d: Delivery) -> str:
    place = f" by {d.at.topic}/{d.at.partition}/{d.at.offset}" if d.at.topic is not None else ""
    return f"{d.kind} n = {d.n}{place} in epoch {d.at.epoch}, batch {d.at.batch}"
