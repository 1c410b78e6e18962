"""Verification as one function: a journal in, a report out."""

from __future__ import annotations

import json
import time
from collections import defaultdict

from tidewire.verification.compare.judgement import Judgement, Recomputed
from tidewire.verification.compare.missing import find_due
from tidewire.verification.compare.quota import QUOTA, RowQuota
from tidewire.verification.compare.report import Report
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.ordering import Sequence, sequences
from tidewire.verification.input.registry_schemas import Inquiry
from tidewire.verification.input.rows import Rows
from tidewire.verification.recompute.answers import Answers, answers_to
from tidewire.verification.recompute.history import History, build, connect
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.journal import Journal
from tidewire.verification.records.lifetimes import Life, Lives, read_lives
from tidewire.verification.records.question import ALL, Item, Query, Question, Unreadable, parse
from tidewire.verification.records.width import width_of

TableKey = tuple[int, str, int]
"""(epoch, lower-case table name, born)"""


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
    rows = Rows()
    recomputation = Recomputation(taken, batches, declared, rows, lives)
    standing = {(name, table.born) for name, table in declared.newest_tables().items()}
    judgement = Judgement(lives, batches, recomputation, report, standing, quota)
    for note in lives.malformed:
        report.unreadable += 1
        report.fault("unreadable", note, "a delivery that cannot be read")
    for life in lives.lives:
        judgement.judge(life)
    _judge_dead_letters(journal, taken, rows, report)
    find_due(lives, batches, declared, recomputation.tables, recomputation.ttls(lives), report)
    _describe(batches, taken, lives, report)


class Recomputation:
    """Answers of lives, each table's history built once an epoch, when it is first asked for."""

    def __init__(
        self, taken: dict[TableKey, Sequence], batches: Batches, declared: Declared, rows: Rows, lives: Lives
    ) -> None:
        self.tables: dict[tuple[str, int], tuple[str, int]] = {}
        self._taken = taken
        self._batches = batches
        self._declared = declared
        self._rows = rows
        self._histories: dict[TableKey, History] = {}
        self._answers: dict[tuple[TableKey, Query, tuple[Item, ...]], Answers] = {}
        self._database = connect()
        self._names = declared.names()
        self._questions: dict[Query, Question | Unreadable] = {}
        self._measures: dict[str, set[str]] = defaultdict(set)
        self._starred: set[str] = set()
        self._uses: dict[Query, int] = defaultdict(int)
        for life in lives.lives:
            self._note(life)

    def __call__(self, life: Life, at: Position) -> Recomputed:
        """Return the answers of `life` in the epoch of `at`. Raises Unreadable."""
        question = self._question(life)
        key = self._key(question, at)
        self.tables[life.id, life.version] = key[1:]
        sequence = self._taken[key]
        if sequence.limit is not None:
            return Recomputed(sequence, None, question.policy)
        assert life.query is not None
        question = question.over(self._all_columns(life, question, sequence.table)) if question.starred else question
        known = self._answers.get((key, life.query, question.items))
        answers = known or self._answer(question, key)
        if self._uses[life.query] > 1:
            self._answers[key, life.query, question.items] = answers
        return Recomputed(sequence, answers, question.policy)

    def ttls(self, lives: Lives) -> dict[tuple[str, int], int]:
        """Return the times to live of those that were told something, by (id, version)."""
        found: dict[tuple[str, int], int] = {}
        for life in lives.lives:
            question = self._questions.get(life.query) if life.query is not None else None
            if isinstance(question, Question) and question.policy.ttl is not None and life.delivered:
                found[life.id, life.version] = question.policy.ttl
        return found

    def _answer(self, question: Question, key: TableKey) -> Answers:
        table = self._taken[key].table
        columns = {column.name.lower() for column in table.columns}
        measures = columns if question.table in self._starred else self._measures[question.table] & columns
        if not question.measures <= measures:
            raise Unreadable(f"table `{table.name}` has no column `{min(question.measures - measures)}`")
        if key not in self._histories:
            self._histories[key] = build(self._database, self._taken[key], self._rows, measures)
        types = {column.name.lower(): column.type for column in table.columns}
        return answers_to(question, self._histories[key], types, [name.lower() for name in table.key])

    def _all_columns(self, life: Life, question: Question, table: Table) -> list[str]:
        """Return the columns that a `*` of `life` stands for: those there were when it was taken.

        Columns are only ever appended, so it is enough to know how many: as its ack or its first row shows. That there
        were so many at some time is judged, not when.
        """
        stars = sum(item.column == ALL for item in question.items)
        width = ((width_of(life) or 0) - len(question.items)) // stars + 1
        widths = [
            len(one.columns) for one in self._declared.every() if (one.name, one.born) == (table.name, table.born)
        ]
        return [c.name.lower() for c in table.columns][: width if width in widths else None]

    def _note(self, life: Life) -> None:
        if life.query is None or not (life.delivered or life.live_at):
            return
        self._uses[life.query] += 1
        if life.query in self._questions:
            return
        try:
            question = parse(self._database, life.query, self._names)
            self._measures[question.table] |= question.measures
            self._starred |= {question.table} if question.starred else set()
            self._questions[life.query] = question
        except Unreadable as reason:
            self._questions[life.query] = reason

    def _question(self, life: Life) -> Question:
        if life.query is None:
            raise Unreadable("nothing that is left says what it asked")
        found = self._questions[life.query]
        if isinstance(found, Unreadable):
            raise found
        return found

    def _key(self, question: Question, at: Position) -> TableKey:
        """Return the table that was meant: as declared in the batch after the anchor, which took the registration."""
        declared = self._declared.at(self._batches.catalog_at(at)).get(question.table)
        if declared is None:
            raise Unreadable(f"no table `{question.table}` was declared at epoch {at.epoch}, batch {at.batch}")
        key = (at.epoch, question.table, declared.born)
        if key not in self._taken:
            raise Unreadable(f"no batch of epoch {at.epoch} is known in which table `{question.table}` was declared")
        return key


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
