"""Verification as one function: a journal in, a report out."""

from __future__ import annotations

import json
import time
from collections import defaultdict

from tidewire.verification.compare.judgement import Judgement
from tidewire.verification.compare.missing import find_due
from tidewire.verification.compare.quota import QUOTA, RowQuota
from tidewire.verification.compare.report import Report
from tidewire.verification.compare.written_rows import judge_written
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.ordering import Sequence, sequences
from tidewire.verification.input.registry_schemas import Inquiry
from tidewire.verification.input.rows import Rows
from tidewire.verification.input.silences import Silences
from tidewire.verification.recomputation import Recomputation, TableKey
from tidewire.verification.records.batches import Batches
from tidewire.verification.records.journal import Journal
from tidewire.verification.records.lifetimes import Lives, read_lives


def verify(journal: Journal, inquiry: Inquiry | None = None, quota: RowQuota = QUOTA) -> Report:
    """Recompute every delivery in `journal` and compare.

    inquiry: who is asked for schemas that a registry has. quota: how much may be told of rows at once.

    *Cost*: for p publications and s subscriptions, about p * 15 us + s * (2.5 ms per 40,000 versions scanned) + 1 us
    for each version that a subscription selects; 20,000 * 500 takes about 10 s.
    """
    began = time.monotonic()
    report = Report()
    batches = Batches(journal.batches.all())
    lives = read_lives(journal)
    asked = len({life.id for life in lives.lives})
    lives.lives = [life for life in lives.lives if journal.sample.has(life.id.encode())]
    report.subscriptions = len({life.id for life in lives.lives})
    if report.subscriptions < asked:
        report.limits.append(f"of {asked} subscriptions {report.subscriptions} are judged: a sample by their ids")
    if batches.horizon is not None:
        _verify(journal, batches, lives, inquiry or Inquiry(None), quota, report)
    report.seconds = round(time.monotonic() - began, 3)
    return report


def _verify(
    journal: Journal, batches: Batches, lives: Lives, inquiry: Inquiry, quota: RowQuota, report: Report
) -> None:
    declared = Declared(journal.catalog.all(), journal.catalog.name.removesuffix("catalog"))
    taken = sequences(declared, batches, journal.relations, inquiry.ask(declared, journal.relations))
    rows = Rows(batches, Silences(journal.silences, journal.registrations))
    recomputation = Recomputation(taken, batches, declared, rows, lives)
    judgement = Judgement(lives, batches, recomputation, report, declared.newest_subjects(), quota)
    for note in lives.malformed:
        report.unreadable += 1
        report.fault("unreadable", note, "a delivery that cannot be read")
    for life in lives.lives:
        judgement.judge(life)
    _judge_dead_letters(journal, taken, rows, report)
    for log in journal.written.values():
        judge_written(log, declared, batches, recomputation, report)
    find_due(lives, batches, declared, recomputation.subjects, recomputation.ttls(lives), report)
    _describe(batches, taken, lives, report)


def _judge_dead_letters(journal: Journal, taken: dict[TableKey, Sequence], rows: Rows, report: Report) -> None:
    """Compare what must be a dead letter with what the engine made one, by place in the input."""
    judged: dict[tuple[str, int, int], set[bool]] = defaultdict(set)
    for sequence in taken.values():
        for one, dead in rows.verdicts(sequence):
            place = (one.table.topic, one.record.partition, one.record.offset)
            judged[place].update(() if dead is None else (dead,))
    letters = {_place(record.value) for record in journal.dead_letters.all() if record.value is not None}
    trimmed = any(journal.dead_letters.trimmed(p) for p in journal.dead_letters.begin)
    report.publications = len(judged)
    for place, verdicts in judged.items():
        report.dead_letters += True in verdicts
        if verdicts == {False} and place in letters:
            report.refused_wrongly += 1
            report.fault("dead_letter", "/".join(map(str, place)), "can be decoded, yet was refused")
        elif verdicts == {True} and place not in letters and not trimmed:
            report.taken_wrongly += 1
            report.fault("dead_letter", "/".join(map(str, place)), "cannot be decoded, yet is no dead letter")


def _place(value: bytes) -> tuple[str, int, int]:
    body = json.loads(value)
    return body["topic"], body["partition"], body["offset"]


def _describe(batches: Batches, taken: dict[TableKey, Sequence], lives: Lives, report: Report) -> None:
    report.horizon = batches.horizon
    report.epochs = len(batches.epochs)
    report.batches = sum(len(those) for those in batches.epochs.values())
    report.limits += sorted({s.limit for s in taken.values() if s.limit is not None})
    for epoch in batches.epochs:
        if batches.floor(epoch) >= 0:
            report.limits.append(f"batches of epoch {epoch} are kept from {batches.floor(epoch) + 1} on")
    for partition, at in sorted(lives.whole_from.items()):
        report.limits.append(
            f"deliveries of virtual edge {partition} are kept from epoch {at.epoch}, batch {at.batch} on"
        )
    lost = batches.missing()
    if lost:
        first = f"epoch {lost[0].epoch}, batch {lost[0].batch}"
        report.unreadable += len(lost)
        report.fault("unreadable", "batches", f"{len(lost)} batches have no record, {first} first")
