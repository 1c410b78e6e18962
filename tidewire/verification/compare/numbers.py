"""The numbers of a life's deliveries: `n` counts from 1 without a gap."""

from __future__ import annotations

from tidewire.verification.compare.findings import Findings, name
from tidewire.verification.compare.same_value import same
from tidewire.verification.records.forms import Delivery, Where
from tidewire.verification.records.lifetimes import Life


def judge_numbers(life: Life, delivered: list[Delivery], findings: Findings) -> None:
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
            follows = previous is None or d.n - previous == stride(d)
            previous = d.n
        if not follows:
            findings.report.gaps += 1
            findings.report.fault("gap", name(life), f"n = {d.n} at deliveries/{life.partition}/{d.log_offset}")


def stride(d: Delivery) -> int:
    """Return by how much `n` grows with `d`: not at all with a resync that says nothing new."""
    if "same" in d.said or "whole" in d.said:
        return 0 if "same" in d.said else 1
    said = list(d.said.values())
    unchanged = said == [[], []] if "added" in d.said else same(*said)
    return 0 if d.kind == "resync" and unchanged else 1
