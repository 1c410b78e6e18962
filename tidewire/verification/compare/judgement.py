"""Expected against delivered, one life at a time.

For each epoch in which a version lived there is an anchor: its snapshot, or the resync of a new epoch.

1. *Anchors.* An anchor's value is the answer at its position.
2. *Changes.* From there to the end of the life in this epoch, each change of the answer is delivered once, naming the
   record that caused it, with what it says, batch and `changes` right, in order, as far as the policy tells it.
3. *Numbers.* Across the whole life `n` is gapless (`compare/numbers.py`).
4. *Places.* Where input is gone, causes are records of the input all the same, in order.
5. *Quotas.* An answer that grows too large ends its life there.
6. *Ends.* An end was called for, and says the last answer (`compare/ends.py`).
7. *Forms.* Deliveries are packed where that was asked for, and there alone; acks say of which form rows are.
8. *Pushes.* Of what is told over HTTP alone nothing is written, and its ack has its SQL.
9. *Finals.* An answer about windows of event time is told to be final at the end of the first batch in which all of
   them have ended and no event of them can come any more, and nothing is told of it from then on (`compare/finals.py`).
10. *Gone windows.* Who asks about windows of which rows may have gone is refused, and nobody else with this reason
    (`compare/gone_windows.py`).
"""

from __future__ import annotations

from typing import Any

from tidewire.verification.compare.anchors import Anchor, Anchors
from tidewire.verification.compare.ends import UNKNOWN, Ending, Ends, ending_of
from tidewire.verification.compare.finals import judge_final
from tidewire.verification.compare.findings import Findings, name, shown, written
from tidewire.verification.compare.gone_windows import GoneWindows
from tidewire.verification.compare.numbers import judge_numbers
from tidewire.verification.compare.quota import QUOTA, RowQuota, first_over
from tidewire.verification.compare.recomputed import Recompute, Recomputed
from tidewire.verification.compare.report import Report
from tidewire.verification.compare.same_value import may_say, says
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.recompute.answers import Answers
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.lifetimes import Life, Lives
from tidewire.verification.records.policy import Policy, Step, told_steps
from tidewire.verification.records.question import Unreadable, says_policy

NOTHING: tuple[Any, ...] = ()
"""The list before a snapshot."""


class Judgement:
    """Judges lives and counts in `report`. Nothing beyond the last committed batch is judged."""

    def __init__(
        self,
        lives: Lives,
        batches: Batches,
        recompute: Recompute,
        report: Report,
        standing: set[tuple[str, int]],
        quota: RowQuota = QUOTA,
    ) -> None:
        """`standing` are the tables and cells that are declared still, by name and `born`; `quota` is of rows."""
        self._quota = quota
        self._standing = standing
        self._lives = lives
        self._batches = batches
        self._horizon = batches.horizon or Position(-1, -1)
        self._recompute = recompute
        self._findings = Findings(report)
        self._anchors = Anchors(lives, batches, self._findings)
        self._windows = GoneWindows(batches, recompute, self._findings)
        self._ends = Ends(lives, batches, recompute, self._findings, self._windows, standing, quota)

    def judge(self, life: Life) -> None:
        """Compare everything that was delivered to `life` with what should have been.

        Where its record is gone, and with it maybe a policy, it is taken for one that is told every change; if that
        does not fit, it is not judged, but for its numbers.
        """
        if life.pushed:
            self._judge_pushed(life)
            return
        if life.is_refused_as_gone and not life.delivered:
            self._windows.judge_refused(life)
            return
        if life.query is None or says_policy(life.query):
            self._judge(life)
            return
        trial = Report()
        Judgement(self._lives, self._batches, self._recompute, trial, self._standing, self._quota)._judge(life)
        if trial.wrong or trial.missed or trial.extra > trial.duplicates:
            trial = Report(deliveries=trial.deliveries, unjudged=trial.deliveries, gaps=trial.gaps)
        self._findings.report.add(trial)

    def _judge_pushed(self, life: Life) -> None:
        """8: what is told over HTTP cannot be seen afterwards: only that nothing was written, and what the ack says."""
        report, query, ack = self._findings.report, life.query, life.ack or {}
        report.pushed += 1
        report.deliveries += len(life.delivered)
        for d in life.delivered:
            self._findings.extra(life, d, "a record of a subscription that is only pushed")
        if query is not None and query.whole and not query.params and not query.is_said_by(ack.get("sql", query.sql)):
            report.wrong += 1
            report.fault("wrong", name(life), "the SQL of its ack", query.sql, ack["sql"])

    def _judge(self, life: Life) -> None:
        report = self._findings.report
        delivered = [d for d in life.delivered if d.at.position <= self._horizon]
        report.unjudged += len(life.delivered) - len(delivered)
        report.deliveries += len(delivered)
        delivered = self._anchors.within_life(life, delivered)
        judge_numbers(life, delivered, self._findings)  # 3
        ended = next((d for d in delivered if d.kind == "ended"), None)
        last = Ending()
        anchors = list(self._anchors.of(life, delivered))
        for anchor, following in zip(anchors, [*anchors[1:], None], strict=False):
            try:
                recomputed = self._recompute(life, anchor.at)
            except Unreadable as reason:
                report.unreadable += 1
                report.unjudged += len(anchor.changes) + (anchor.delivery is not None)
                report.fault("unreadable", name(life), str(reason))
                return
            until = anchor.known_until if anchor.is_broken else self._until(life, anchor.at.epoch, ended)
            if following is not None and not anchor.is_broken:
                until = self._lost_from(life, anchor, recomputed, until, following)
            last = self._judge_epoch(life, anchor, recomputed, until, last, ended)
            last.subject = recomputed.subject or recomputed.sequence.subject
        if last.policy is not None:
            self._judge_form(life, delivered, last.policy)
        if last.answers is not None and last.answers.form is not None:
            self._judge_ack(life, last.answers.form)
        if ended is not None:
            self._ends.judge(life, ended, last)

    def _until(self, life: Life, epoch: int, ended: Delivery | None) -> int:
        """Return the last batch of `epoch` whose changes the life must have been told."""
        until = self._lives.reached.get(life.partition, {}).get(epoch, -1)
        if epoch == self._horizon.epoch:
            until = min(until, self._horizon.batch)
        final = next((d.at.position for d in life.delivered if d.kind == "final"), None)
        for end in (ended.at.position if ended else None, final, life.replaced_at):
            if end is not None and end.epoch == epoch:
                until = min(until, end.batch)
        return until

    def _lost_from(self, life: Life, anchor: Anchor, recomputed: Recomputed, until: int, following: Anchor) -> int:
        """Return the last batch of an epoch that was told, where the next one's resync admits that others were lost.

        Changes behind are no fault then, and are counted as not judged.
        """
        answers, known = recomputed.answers, anchor.known_until
        if answers is None or following.delivery is None or known >= until or recomputed.policy.holds_back:
            return until
        ends = [recomputed.sequence.end_of(batch) for batch in (known, until)]
        lost = len(list(answers.steps(*ends)))
        if not lost or not self._admits(life, following, *[answers.shown(answers.at(end)) for end in ends]):
            return until
        anchor.is_broken = True
        self._findings.report.unjudged += lost
        return known

    def _admits(self, life: Life, resync: Anchor, told: Any, made: Any) -> bool:
        """Whether a resync says that `told` was told last, and not what changes have `made` of it since."""
        try:
            anew = self._recompute(life, resync.at)
        except Unreadable:
            return False
        answers, d = anew.answers, resync.delivery
        if answers is None or d is None:
            return False
        now = answers.shown(answers.at(anew.sequence.end_of(resync.at.batch)))
        return says(d, answers.between(told, now), answers, told) and not says(
            d, answers.between(made, now), answers, made
        )

    def _judge_form(self, life: Life, delivered: list[Delivery], policy: Policy) -> None:
        """7: judge that deliveries are packed if and only if that was asked for."""
        other = next((d for d in delivered if d.packed != policy.packed), None)
        if other is not None and (policy.packed or life.query is None or life.query.whole):
            self._findings.report.wrong += 1
            asked, came = (("records", "packed")[packed] for packed in (policy.packed, other.packed))
            self._findings.report.fault("wrong", name(life), f"the form of {shown(other)}", asked, came)

    def _judge_ack(self, life: Life, form: str) -> None:
        """7: judge that the ack of an answer of rows says of which form it is."""
        ack = life.ack or {}
        if ack.get("status") == "live" and ack.get("form") != form:
            self._findings.report.wrong += 1
            self._findings.report.fault("wrong", name(life), "the form in its ack", form, ack.get("form"))

    def _judge_epoch(
        self, life: Life, anchor: Anchor, recomputed: Recomputed, until: int, last: Ending, ended: Delivery | None
    ) -> Ending:
        """Judge one epoch of a life, as 1, 2, 4 and 5 say; return how it ends."""
        sequence, answers = recomputed.sequence, recomputed.answers
        begin, end = sequence.end_of(anchor.at.batch), sequence.end_of(until)
        if answers is None:
            self._judge_places(life, anchor, sequence)
            self._findings.report.unjudged += anchor.final is not None
            return Ending(policy=recomputed.policy)
        told, over = answers.at(begin), first_over(answers, begin, end, self._quota)
        if isinstance(answers, BagAnswers) and (ended is None or ended.reason != "quota"):
            over = None  # a change of so many rows may be told in parts as well
        if over is not None:
            end = self._judge_quota(life, sequence, over, end, ended, recomputed.policy)
        changes = anchor.changes
        if anchor.delivery is not None:
            self._judge_anchor(life, anchor.delivery, answers, told, last)
        elif recomputed.policy.kind == "least" and changes:
            begin, told, changes = self._taken_on_trust(changes, sequence, answers, begin)
        steps = [(sequence.taken[step.seq - 1].batch, step) for step in answers.steps(begin, end)]
        expected = told_steps(answers, steps, recomputed.policy, told)
        self._judge_changes(life, changes, sequence, answers, expected)
        states = expected[-1].after if expected else told, answers.at(max(begin, end))
        judge_final(self._findings, life, anchor, recomputed, until, states, ended)
        return ending_of(answers, recomputed.policy, states, anchor.is_broken, over is not None)

    def _judge_changes(
        self, life: Life, changes: list[Delivery], sequence: TakenRecords, answers: Answers, steps: list[Step]
    ) -> None:
        """2: compare an epoch's changes with the steps that must have been told."""
        expected = {step.seq: step for step in steps}
        found = set[int]()
        before = 0
        for d in changes:
            seq = _seq(d, sequence)
            if seq is None or seq not in expected or seq in found:
                repeated = seq in found
                self._findings.extra(
                    life, d, "a repeat" if repeated else "the answer did not change there", duplicate=repeated
                )
                continue
            found.add(seq)
            step = expected[seq]
            said = answers.said(step)
            right = says(d, said, answers, answers.shown(step.before)) and d.at.batch == sequence.taken[seq - 1].batch
            note = "old, new, batch or changes" if seq > before else "out of order"
            right = right and seq > before and d.changes == step.changes
            self._findings.count(life, d, right, note, written(said, step.changes))
            before = max(before, seq)
        for seq, step in expected.items():
            if seq not in found:
                self._findings.missed(life, sequence, seq, written(answers.said(step), step.changes))

    def _taken_on_trust(
        self, changes: list[Delivery], sequence: TakenRecords, answers: Answers, begin: int
    ) -> tuple[int, Any, list[Delivery]]:
        """Begin MIN CHANGE with its first delivery where nothing says what was told before.

        Returns seq and state that it begins with, and the changes that are still to be judged.
        """
        seq = _seq(changes[0], sequence)
        if seq is None or seq <= begin:
            return begin, answers.at(begin), changes
        self._findings.report.unjudged += 1
        return seq, answers.at(seq), changes[1:]

    def _judge_quota(
        self, life: Life, sequence: TakenRecords, over: int, end: int, ended: Delivery | None, policy: Policy
    ) -> int:
        """5: judge the end that a DISTINCT has, or a delivery of rows, that is too large; return where changes end."""
        batch = sequence.taken[over - 1].batch
        at = Position(sequence.epoch, batch)
        if ended is None or ended.reason != "quota" or ended.at.position != at:
            self._findings.lacks(life, f"its end by quota in epoch {at.epoch}, batch {at.batch}")
            return end
        return sequence.end_of(batch - 1) if policy.kind == "latest" else over - 1

    def _judge_anchor(self, life: Life, d: Delivery, answers: Answers, state: Any, last: Ending) -> None:
        """1: judge what an anchor says of the answer `state`: all of it, or how it differs from what was told last."""
        value = answers.shown(state)
        if d.kind == "snapshot":
            query = None if life.query is None or life.query.params else life.query
            asked = d.sql if query is None or query.is_said_by(d.sql or "") else query.sql
            said = answers.first(value)
            right = says(d, said, answers, NOTHING) and d.sql == asked
            self._findings.count(life, d, right, "the snapshot's value or SQL", said | {"sql": asked})
        elif last.told is UNKNOWN:
            self._findings.count(life, d, may_say(d, answers, value), "the resync's new value", answers.first(value))
        else:
            said = answers.between(last.told, value)
            self._findings.count(life, d, says(d, said, answers, last.told), "the resync's old or new", said)

    def _judge_places(self, life: Life, anchor: Anchor, sequence: TakenRecords) -> None:
        """4: judge what can be without values: that causes are records of the input, in order."""
        before = 0
        self._findings.report.unjudged += anchor.delivery is not None
        if sequence.limit is None:  # windows went without a row that could be their cause: theirs is an earlier one
            self._findings.report.unjudged += len(anchor.changes)
            return
        for d in anchor.changes:
            seq = _seq(d, sequence)
            if seq is not None and seq <= before:
                self._findings.extra(life, d, "a repeat, or out of order", duplicate=True)
                continue
            self._findings.report.unjudged += 1
            before = seq or before


def _seq(d: Delivery, sequence: TakenRecords) -> int | None:
    """Return the number in the input of the record that a delivery names as its cause; None where it is none of it."""
    if d.at.topic is None or d.at.partition is None or d.at.offset is None:
        return None
    return sequence.seq_of(d.at.topic, d.at.partition, d.at.offset)
