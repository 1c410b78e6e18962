"""What is found about a life's deliveries: counted in a report, each fault with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidewire.verification.compare.report import Report
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.records.forms import Delivery, Said
from tidewire.verification.records.lifetimes import Life


@dataclass(slots=True)
class Findings:
    """Counts in `report`."""

    report: Report

    def count(self, life: Life, d: Delivery, right: bool, note: str, expected: dict[str, Any]) -> None:
        """Count a delivery that is due as right or wrong; what says `changes` where it cannot is never right."""
        if right and (d.changes == 1 or d.kind == "change"):
            self.report.right += 1
            return
        self.report.wrong += 1
        self.report.fault("wrong", name(life), f"{note}: {shown(d)}", expected, written(d.said, d.changes))

    def extra(self, life: Life, d: Delivery, note: str, duplicate: bool = False) -> None:
        """Count a delivery that should not be there; a `duplicate` repeats one that should."""
        self.report.extra += 1
        self.report.duplicates += duplicate
        self.report.fault("extra", name(life), f"{note}: {shown(d)}", None, written(d.said, d.changes))

    def missed(self, life: Life, sequence: TakenRecords, seq: int, expected: Said) -> None:
        """Count a change that was not told, by the record number `seq` of the input that caused it."""
        taken = sequence.taken[seq - 1]
        place = f"{taken.table.topic}/{taken.record.partition}/{taken.record.offset}"
        note = f"change by {place} in epoch {sequence.epoch}, batch {taken.batch}"
        self.lacks(life, note, expected)

    def lacks(self, life: Life, note: str, expected: Said | None = None) -> None:
        """Count something that was not told."""
        self.report.missed += 1
        self.report.fault("missed", name(life), note, expected)


def written(said: Said, changes: int) -> Said:
    """Return what is said as a delivery has it: with `changes` where it stands for more than one."""
    return said if changes == 1 else said | {"changes": changes}


def name(life: Life) -> str:
    """Return what a life is called in faults."""
    return f"`{life.id}` version {life.version}"


def shown(d: Delivery) -> str:
    """Return what a delivery is called in faults."""
    place = f" by {d.at.topic}/{d.at.partition}/{d.at.offset}" if d.at.topic is not None else ""
    return f"{d.kind} n = {d.n}{place} in epoch {d.at.epoch}, batch {d.at.batch}"
