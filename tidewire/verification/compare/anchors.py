"""Where a life begins in each epoch, and anew where something was lost, and the changes that were told from there on.

What was lost on the way to an edge is made up for by a resync within the epoch. Nobody can say which changes were to be
told between the last one before it and the resync, which says the difference that they have made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidewire.verification.compare.findings import Findings
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.lifetimes import Life, Lives


@dataclass(slots=True)
class Anchor:
    """Where a life begins in an epoch; `delivery` is None where it is known from elsewhere.

    `is_broken`: a resync of the same epoch, or one of the next that says so, makes up for what is lost behind the last
    of its changes. `final` tells that nothing will change any more.
    """

    at: Position
    delivery: Delivery | None
    changes: list[Delivery] = field(default_factory=list)
    is_broken: bool = False
    final: Delivery | None = None

    @property
    def known_until(self) -> int:
        """The last batch that was surely told, of a broken one."""
        return max((change.at.batch for change in self.changes), default=self.at.batch)


class Anchors:
    """Finds the anchors of lives; what fits none is counted as extra, a snapshot that is not there as missed."""

    def __init__(self, lives: Lives, batches: Batches, findings: Findings) -> None:
        self._lives = lives
        self._batches = batches
        self._horizon = batches.horizon or Position(-1, -1)
        self._findings = findings

    def within_life(self, life: Life, delivered: list[Delivery]) -> list[Delivery]:
        """Drop, and count as extra, what came after the end or after the successor's snapshot."""
        kept: list[Delivery] = []
        over: str | None = None
        for d in delivered:
            replaced = (life.replaced_offset, life.replaced_row)
            if replaced[0] is not None and (d.log_offset, d.row) > replaced:
                over = "after the snapshot of the version that replaced it"
            if over:
                self._findings.extra(life, d, over)
                continue
            if d.kind != "ended" and any(one.kind == "final" for one in kept):
                self._findings.extra(life, d, "after it was final")
                continue
            kept.append(d)
            if d.kind == "ended":
                over = "after it had ended"
        return kept

    def of(self, life: Life, delivered: list[Delivery]) -> Iterator[Anchor]:
        """Yield the anchors of what was delivered within a life, in order; what none can judge is counted by then."""
        return map(self._raise_to_floor, self._found(life, delivered))

    def _found(self, life: Life, delivered: list[Delivery]) -> list[Anchor]:
        anchors: list[Anchor] = []
        first = self._first_anchor(life, delivered)
        if first is not None:
            anchors.append(first)
        for d in delivered:
            if d.kind in ("snapshot", "resync"):
                if anchors and (d.kind == "snapshot" or d.at.position <= anchors[-1].at):
                    self._findings.extra(life, d, f"a second {d.kind} in epoch {d.at.epoch}", duplicate=True)
                    continue
                if anchors:
                    anchors[-1].is_broken = anchors[-1].at.epoch == d.at.epoch
                anchors.append(Anchor(d.at.position, d))
            elif d.kind in ("change", "final"):
                self._assign(life, d, anchors, first)
        return anchors

    def _assign(self, life: Life, d: Delivery, anchors: list[Anchor], first: Anchor | None) -> None:
        anchor = anchors[-1] if anchors else None
        if first is not None and first.delivery is None and d.at.position <= first.at:
            self._findings.report.unjudged += 1
        elif anchor is None or anchor.at.epoch != d.at.epoch:
            self._findings.extra(life, d, f"no snapshot or resync came before it in epoch {d.at.epoch}")
        elif d.kind == "final":
            anchor.final = d
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
            self._findings.lacks(life, "its snapshot")
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
        self._findings.report.unjudged += len(anchor.changes) - len(kept) + (anchor.delivery is not None)
        return Anchor(Position(anchor.at.epoch, floor), None, kept, anchor.is_broken, anchor.final)
