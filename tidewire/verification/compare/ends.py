"""How lives end: that an end was called for, and says the last answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidewire.verification.compare.findings import Findings
from tidewire.verification.compare.gone_windows import GoneWindows
from tidewire.verification.compare.quota import RowQuota, whole_is_over
from tidewire.verification.compare.recomputed import Recompute
from tidewire.verification.compare.same_value import says
from tidewire.verification.recompute.answers import Answers
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.endings import uncalled
from tidewire.verification.records.expiry import was_followed, wrong_end
from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.lifetimes import Life, Lives
from tidewire.verification.records.policy import Policy
from tidewire.verification.records.question import Unreadable

UNKNOWN = "(unknown)"
"""Stands for a value that cannot be recomputed."""


@dataclass(slots=True)
class Ending:
    """How an epoch of a life ended, as deliveries show it: what was told last, what the answer was (maybe UNKNOWN).

    `answers` write differences; `policy` is the question's, `subject` the table or cell that it is about; `over`:
    beyond its quota.
    None before the first epoch.
    """

    told: Any = UNKNOWN
    exact: Any = UNKNOWN
    answers: Answers | None = None
    policy: Policy | None = None
    subject: tuple[str, int] | None = None
    over: bool | None = None


def ending_of(answers: Answers, policy: Policy, states: tuple[Any, Any], broken: bool, over: bool) -> Ending:
    """Return how an epoch ends; `states` are that which MIN CHANGE told last, and the exact one.

    `broken`: as the anchor is; `over`: beyond its quota.
    """
    told = exact = answers.shown(states[1])
    if policy.holds_back:
        told = answers.shown(states[0])
    elif policy.kind == "enter" and broken:  # who left behind the last one told is not seen
        told = UNKNOWN
    return Ending(told, exact, answers, policy, over=over)


class Ends:
    """Judges ends. `standing` are the tables and cells that are declared still, by name and `born`."""

    def __init__(
        self,
        lives: Lives,
        batches: Batches,
        recompute: Recompute,
        findings: Findings,
        windows: GoneWindows,
        standing: set[tuple[str, int]],
        quota: RowQuota,
    ) -> None:
        self._lives = lives
        self._horizon = batches.horizon or Position(-1, -1)
        self._recompute = recompute
        self._findings = findings
        self._windows = windows
        self._standing = standing
        self._quota = quota

    def judge(self, life: Life, ended: Delivery, last: Ending) -> None:
        """Judge an end: that it was called for, and that it says the last answer."""
        gone = self._windows.were_gone(life, ended.at.epoch) if ended.reason == "window_gone" else None
        known, wrong = uncalled(life, ended.reason, self._stands(last.subject), self._is_over(life, ended, last), gone)
        if wrong is not None:
            self._findings.count(life, ended, False, f"an end that nothing called for: {wrong}", {})
            return
        if not known:
            self._findings.report.unjudged += 1
            return
        if ended.reason == "expired" and last.policy is not None and life.query is not None:
            ttl, whole = last.policy.ttl, life.partition not in self._lives.whole_from
            ticks = self._lives.ticks.get(life.partition, [])
            wrong = wrong_end(ticks, whole, life.promise(ttl), ended.log_offset, ended.at.position)
            if wrong is not None and (ttl is not None or life.query.whole):
                self._findings.count(life, ended, False, f"an end by TTL, but {wrong}", {})
                return
        if last.exact is UNKNOWN or last.answers is None:
            gone = ended.said.get("new", ended.said.get("added"))
            self._findings.count(life, ended, gone in (None, []), "an end that leaves something", {"new": None})
            return
        said = last.answers.last(last.exact)
        right = says(ended, said, last.answers, last.exact)
        if right and ended.reason == "expired" and not self._was_followed(life, ended):
            self._findings.report.unjudged += 1
            return
        self._findings.count(life, ended, right, "the last value", said)

    def _was_followed(self, life: Life, ended: Delivery) -> bool:
        return was_followed(self._lives.ticks.get(life.partition, []), ended.log_offset, ended.at.position)

    def _stands(self, subject: tuple[str, int] | None) -> bool | None:
        """Whether a table or cell is declared still; None where there is none to ask of."""
        return None if subject is None else subject in self._standing

    def _is_over(self, life: Life, ended: Delivery, last: Ending) -> bool | None:
        """Whether the answer is beyond its quota; what is so after a new epoch began ends where the old one did.

        Rows that are told anew in an epoch may be too many then, and end where they would have been.
        """
        if ended.reason == "quota" and not last.over and isinstance(last.answers, BagAnswers):
            try:
                anew = self._recompute(life, ended.at.position)
            except Unreadable:
                return None
            seq = anew.sequence.end_of(ended.at.batch)
            return None if anew.answers is None else whole_is_over(anew.answers, seq, self._quota)
        if last.over is False and ended.at.epoch < self._horizon.epoch:
            return None
        return last.over
