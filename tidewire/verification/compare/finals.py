"""That an answer is told to be final where it is, and with what it says, and a snapshot says when it will be."""

from __future__ import annotations

from typing import Any

from tidewire.verification.compare.anchors import Anchor
from tidewire.verification.compare.findings import Findings, name, shown
from tidewire.verification.compare.recomputed import Recomputed
from tidewire.verification.compare.same_value import says
from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.lifetimes import Life


def judge_final(
    findings: Findings,
    life: Life,
    anchor: Anchor,
    recomputed: Recomputed,
    until: int,
    states: tuple[Any, Any],
    ended: Delivery | None,
) -> None:
    """Judge that an answer is told to be final where it is, and what is said then.

    `states` are that which MIN CHANGE told last, and the exact one; `until` is the last batch that must have been told.
    """
    finality, answers, final = recomputed.finality, recomputed.answers, anchor.final
    assert answers is not None
    if finality is None:
        findings.report.unjudged += final is not None
        return
    snapshot = anchor.delivery
    if snapshot is not None and snapshot.kind == "snapshot" and snapshot.final_at != finality.upto:
        findings.report.wrong += 1
        note = f"when it becomes final: {shown(snapshot)}"
        findings.report.fault("wrong", name(life), note, finality.upto, snapshot.final_at)
    if snapshot is not None and finality.exact and finality.is_gone(anchor.at.batch):
        findings.report.wrong += 1
        note = f"windows that are kept no more: {shown(snapshot)}"
        findings.report.fault("wrong", name(life), note, "a refusal, or an end", "an answer")
    due = finality.due(anchor.at.batch)
    if final is None:
        over = ended is not None and ended.at.epoch == anchor.at.epoch and due is not None and due >= ended.at.batch
        if finality.exact and due is not None and due <= until and not over:
            findings.lacks(life, f"that it is final in epoch {anchor.at.epoch}, batch {due}")
        return
    if due is None or final.at.batch < due:
        findings.extra(life, final, f"too early: it is final {'never' if due is None else f'in batch {due}'}")
        return
    told, exact = (answers.shown(state) for state in states)
    said = {"old": told if recomputed.policy.holds_back else exact, "new": exact}
    if "added" in final.said:
        said = {"removed": [], "added": []}
    right = says(final, said, answers, exact) and final.at.upto == finality.upto
    right = right and (final.at.batch == due or not finality.exact)
    findings.count(life, final, right, f"the final answer, which is due in batch {due}", said)
