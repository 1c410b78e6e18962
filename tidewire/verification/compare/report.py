"""What verification found: counts, the first faults of each kind, and from where it could judge."""

from __future__ import annotations

from typing import Any

import msgspec

FAULTS_KEPT = 50


class Fault(msgspec.Struct, omit_defaults=True):
    """One fault: `wrong`, `missed`, `extra`, `gap`, `unanswered`, `unreadable` or `dead_letter`."""

    kind: str
    about: str
    note: str
    expected: Any = None
    got: Any = None


class Report(msgspec.Struct):
    """Counts of deliveries, and of records in the topics of views, except where it says otherwise.

    written: the records in the topics of views that a reader keeps.  right: as recomputed.
    wrong: there, with another value, position, SQL or order.  missed: not there.
    extra: should not be there; `duplicates` of them are repeats.  gaps: `n` that does not follow the one before.
    unanswered: subscriptions that have no snapshot, resync or end that is due, and views of which nothing is written
    (their edge or engine may be behind).
    unreadable: subscriptions and records that could not be judged at all.  unjudged: deliveries whose value could not
    be judged, since their input is gone or no registry says how to read it (`limits` says what), or their batch is
    beyond the horizon.
    dead_letters: input records that must be refused; refused_wrongly, taken_wrongly: where the engine saw it otherwise.
    pushed: subscriptions whose answers are told over HTTP alone, so that only their acks could be judged.
    behind: partitions of `deliveries` whose edge has not told the horizon yet.
    """

    subscriptions: int = 0
    publications: int = 0
    batches: int = 0
    epochs: int = 0
    horizon: tuple[int, int] | None = None
    deliveries: int = 0
    written: int = 0
    right: int = 0
    wrong: int = 0
    missed: int = 0
    extra: int = 0
    duplicates: int = 0
    gaps: int = 0
    unanswered: int = 0
    unreadable: int = 0
    unjudged: int = 0
    dead_letters: int = 0
    refused_wrongly: int = 0
    taken_wrongly: int = 0
    pushed: int = 0
    behind: list[int] = []
    limits: list[str] = []
    faults: list[Fault] = []
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing at all is wrong, missed, extra, or left open."""
        counts = (self.wrong, self.missed, self.extra, self.gaps, self.unanswered, self.unreadable)
        return not (any(counts) or self.refused_wrongly or self.taken_wrongly or self.behind)

    def add(self, other: Report) -> None:
        """Count in what `other` counted of deliveries, with its faults."""
        for name in ("deliveries", *COUNTED):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for fault in other.faults:
            self.fault(fault.kind, fault.about, fault.note, fault.expected, fault.got)

    def fault(self, kind: str, about: str, note: str, expected: Any = None, got: Any = None) -> None:
        """Keep a fault, of each kind the first ones; counting is the caller's."""
        if sum(fault.kind == kind for fault in self.faults) < FAULTS_KEPT:
            self.faults.append(Fault(kind, about, note, expected, got))


COUNTED = (
    "right",
    "wrong",
    "missed",
    "extra",
    "duplicates",
    "gaps",
    "unanswered",
    "unreadable",
    "unjudged",
    "refused_wrongly",
    "taken_wrongly",
)


def rows_of(report: Report) -> list[tuple[str, int | str]]:
    """Return (what, count) rows for a person."""
    horizon = "nothing" if report.horizon is None else f"epoch {report.horizon[0]}, batch {report.horizon[1]}"
    rows: list[tuple[str, int | str]] = [
        ("judged up to", horizon),
        ("publications", report.publications),
        ("dead letters", report.dead_letters),
        ("subscriptions", report.subscriptions),
        ("deliveries", report.deliveries),
    ]
    if report.written:
        rows.append(("records of views", report.written))
    rows += [(name.replace("_", " "), getattr(report, name)) for name in COUNTED]
    if report.pushed:
        rows.append(("not judged: push", report.pushed))
    if report.behind:
        rows.append(("edges behind", ", ".join(f"virtual edge {p}" for p in report.behind)))
    return rows
