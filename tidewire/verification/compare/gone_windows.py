"""Whether rows of the windows that a question is about may have gone: who asks for them then is refused, or ends."""

from __future__ import annotations

from tidewire.verification.compare.findings import Findings, name
from tidewire.verification.compare.recomputed import Recompute
from tidewire.verification.records.batches import Batches
from tidewire.verification.records.lifetimes import Life
from tidewire.verification.records.question import Unreadable


class GoneWindows:
    """Judges who was refused because windows are kept no more. *Cost*: a recomputation an epoch."""

    def __init__(self, batches: Batches, recompute: Recompute, findings: Findings) -> None:
        self._batches = batches
        self._recompute = recompute
        self._findings = findings

    def judge_refused(self, life: Life) -> None:
        """Judge that rows of what was asked about may have gone by the end of any batch."""
        gone, report = self.were_gone(life), self._findings.report
        if gone is None:
            report.unjudged += 1
        elif not gone:
            report.wrong += 1
            report.fault("wrong", name(life), "refused with window_gone", "an answer", "the windows are kept")

    def were_gone(self, life: Life, since: int = -1) -> bool | None:
        """Whether rows of what a life asks about may have gone in an epoch from `since` on; None: not known."""
        known = False
        for epoch, batches in self._batches.epochs.items():
            if epoch < since:
                continue
            try:
                finality = self._recompute(life, batches[-1].at).finality
            except Unreadable:
                continue
            if finality is not None and finality.exact:
                known = True
                if finality.is_gone():
                    return True
        return False if known else None
