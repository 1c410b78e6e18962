"""The topics of views against their histories: what each record says, and whether one stands there for each change.

    first     a shard begins with a record of each row as they are before a batch, and may do so again before another
    then      one record for what each publication did to each row: the row as it is then, or nothing where it went
    and       nothing else: no record that changes nothing, none under the name of another publication

Since when a shard is written does not stand in the topic; its first record is of the batch in which it began, or of the
first one after that in which a row changed, and before that there was no row. What Kafka has removed from the topic
(compaction, age) is not missed: a record could have stood only where offsets are gone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tidewire.verification.compare.report import Report
from tidewire.verification.compare.same_value import same
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.declared_views import View
from tidewire.verification.input.ordering import Sequence as TableSequence
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.recomputation import Recomputation
from tidewire.verification.recompute.view_records import Change, Row, ViewRecords, key_text
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.journal import Record, TopicLog
from tidewire.verification.records.question import Unreadable
from tidewire.verification.records.written import Told, Written, read_written

_BEFORE = -1
"""The place of records that say how rows were before a batch, among the seqs of those of its publications."""


@dataclass(slots=True)
class WrittenLife:
    """A view that was written to a topic in some batches of one epoch, the numbers of which ascend."""

    epoch: int
    view: View
    batches: list[int] = field(default_factory=list)


def judge_written(
    log: TopicLog, declared: Declared, batches: Batches, recomputation: Recomputation, report: Report
) -> None:
    """Judge the topic `log`, to which views were written. Cost: 10 us a record, and the views' histories."""
    _Topic(log, declared, batches, recomputation, report).judge()


class _Findings:
    """What is found of the records of a topic, for the report."""

    def __init__(self, topic: str, report: Report) -> None:
        self._topic = topic
        self._report = report

    def right(self) -> None:
        self._report.right += 1

    def wrong(self, one: Told, note: str, expected: Any, got: Any) -> None:
        self._report.wrong += 1
        self._report.fault("wrong", f"`{one.shard}`", f"{self.shown(one)}: {note}", expected, got)

    def extra(self, one: Told, note: str, duplicate: bool = False) -> None:
        self._report.extra += 1
        self._report.duplicates += duplicate
        self._report.fault("extra", f"`{one.shard}`", f"{self.shown(one)}: {note}", None, _value(one.record))

    def shown(self, one: Told) -> str:
        record, by = one.record, "" if one.cause is None else f" by {'/'.join(map(str, one.cause))}"
        place = f"{self._topic}/{record.partition}/{record.offset}"
        return f"{place}, n = {one.n}{by} in epoch {one.at.epoch}, batch {one.at.batch}"


class _Topic:
    def __init__(
        self, log: TopicLog, declared: Declared, batches: Batches, recomputation: Recomputation, report: Report
    ) -> None:
        self._log = log
        self._batches = batches
        self._recomputation = recomputation
        self._report = report
        self._findings = _Findings(log.name, report)
        self._lives = _lives(log.name, declared, batches)
        self._known = {batch.at for those in batches.epochs.values() for batch in those}

    def judge(self) -> None:
        written = read_written(self._log)
        self._judge_repeats(written)
        told: dict[tuple[int, int], dict[str, list[Told]]] = defaultdict(lambda: defaultdict(list))
        for one in written.kept:
            self._report.written += 1
            life = self._lives.get(one.at)
            if not self._is_known(one.at):
                self._report.unjudged += 1
            elif life is None or one.view != life.view.name.lower():
                self._findings.extra(one, "no view of this name is written there in that batch")
            else:
                told[life.epoch, life.view.born][one.shard].append(one)
        for life in {id(life): life for life in self._lives.values()}.values():
            self._judge_life(life, told[life.epoch, life.view.born], written)
        self._judge_partitions(written)

    def _is_known(self, at: Position) -> bool:
        """Whether what a batch held is known, and it is one that is judged."""
        horizon = self._batches.horizon
        return horizon is not None and at <= horizon and at in self._known

    def _judge_repeats(self, written: Written) -> None:
        """A batch that runs again writes the same bytes; older ones may be of an engine that was taken over."""
        for one, first in written.repeats:
            if first is not None and (one.record.key, one.record.value, one.cause) != (
                first.record.key, first.record.value, first.cause,
            ):  # fmt: skip
                self._findings.wrong(one, "another record of its number", _value(first.record), _value(one.record))

    def _judge_partitions(self, written: Written) -> None:
        """All records of a key stand in one partition, since order holds within one alone."""
        homes: dict[bytes | None, int] = {}
        for one in written.kept:
            home = homes.setdefault(one.record.key, one.record.partition)
            if home != one.record.partition:
                self._findings.wrong(one, f"its key stands in partition {home}, too", None, None)
                homes[one.record.key] = one.record.partition

    # -- one view ---------------------------------------------------------------------------------------------------

    def _judge_life(self, life: WrittenLife, told: dict[str, list[Told]], written: Written) -> None:
        first = Position(life.epoch, life.batches[0] - 1)
        try:
            sequence, versions = self._recomputation.written(life.view, first)
        except Unreadable as reason:
            self._report.unreadable += 1
            self._report.fault("unreadable", _name(life.view), str(reason))
            return
        if versions is None:
            self._report.unjudged += sum(map(len, told.values()))
            return
        table = sequence.table if isinstance(sequence, TableSequence) and sequence.table.bucket_by else None
        meant = ViewRecords(life.view, table, versions)
        early = {one.shard for one in written.kept if one.at.epoch == life.epoch and self._is_before(one.at, life)}
        for shard, some in told.items():
            judge = _Shard(self._log, self._report, self._findings, life, sequence, meant, shard, shard in early).judge
            judge(sorted(some, key=lambda one: one.number))
        if Position(life.epoch, life.batches[-1]) == self._batches.horizon:
            self._judge_begun(life, sequence, meant, {*told} | early)
            self._judge_left(life, written, told, early)

    def _is_before(self, at: Position, life: WrittenLife) -> bool:
        """Whether a batch, of which nothing is known, was before those that are, in all of which the view was there."""
        floor = self._batches.floor(at.epoch)
        return at.batch <= floor == life.batches[0] - 1

    def _judge_begun(self, life: WrittenLife, sequence: TakenRecords, meant: ViewRecords, begun: set[str]) -> None:
        """Count shards that have rows, and of which nothing is written yet."""
        end = sequence.end_of(life.batches[-1])
        for shard in meant.shards:
            if shard not in begun and meant.at(shard, end):
                self._report.unanswered += 1
                note = f"nothing of shard `{shard}` is written to `{self._log.name}` in epoch {life.epoch}"
                self._report.fault("unanswered", _name(life.view), note)

    def _judge_left(self, life: WrittenLife, written: Written, told: dict[str, list[Told]], early: set[str]) -> None:
        """Count keys that stood in the topic before the view was written, are no row of it, and were not deleted."""
        if not told or early:
            return
        own = [one for some in told.values() for one in some]
        judged = {one.record[:2] for one in own}
        judged |= {one.record[:2] for one in written.kept if not self._is_known(one.at)}
        since: dict[int, int] = {}
        for one in own:
            partition, offset = one.record[:2]
            since[partition] = min(offset, since.get(partition, offset))
        for record in _newest([*written.foreign, *(one.record for one in written.kept)]):
            if record.value is None or record[:2] in judged or not _is_text(record.key):
                continue
            self._judge_stray(life, record, record.offset > since.get(record.partition, record.offset))

    def _judge_stray(self, life: WrittenLife, record: Record, is_late: bool) -> None:
        """Count a row that stands in the topic and is none of the view; `is_late`: it came behind records of it."""
        place = f"{self._log.name}/{record.partition}/{record.offset}"
        if is_late:
            self._report.extra += 1
            note = f"{place} was written by somebody else"
            self._report.fault("extra", _name(life.view), note, None, _value(record))
        else:
            self._report.missed += 1
            note = f"a deletion of what stands at {place} since before epoch {life.epoch}"
            self._report.fault("missed", _name(life.view), note, None, _value(record))


class _Shard:
    """Judges what is written of one shard of a view in one epoch. `early`: it was written before what is known."""

    def __init__(
        self, log: TopicLog, report: Report, findings: _Findings,
        life: WrittenLife, sequence: TakenRecords, meant: ViewRecords, shard: str, early: bool,
    ) -> None:  # fmt: skip
        self._log = log
        self._report = report
        self._findings = findings
        self._life = life
        self._sequence = sequence
        self._meant = meant
        self._shard = shard
        self._early = early
        self._told: Sequence[Told] = ()

    def judge(self, told: Sequence[Told]) -> None:
        """Judge its records, which are in the order of their numbers."""
        self._told, begun = told, told[0].at.batch
        by_batch: dict[int, list[Told]] = defaultdict(list)
        for one in told:
            by_batch[one.at.batch].append(one)
        expected: dict[int, dict[tuple[int, str], Change]] = defaultdict(dict)
        for change in self._meant.changes(self._shard):
            batch = self._sequence.taken[change.seq - 1].batch
            expected[batch][change.seq, change.key] = change
        for batch in self._life.batches[self._life.batches.index(begun) :]:
            some = self._without_doubles(by_batch[batch])
            self._judge_order(some)
            before = [one for one in some if one.cause is None]
            self._judge_rows(batch, before, whole=batch == begun and not self._early)
            self._judge_changes(batch, (one for one in some if one.cause is not None), expected[batch])

    def _without_doubles(self, some: list[Told]) -> list[Told]:
        """Leave out what has the number of another record, in another partition."""
        made = some[:1]
        for before, one in pairwise(some):
            if one.n == before.n:
                self._findings.extra(one, "another partition has its number", duplicate=True)
            else:
                made.append(one)
        return made

    def _judge_order(self, some: list[Told]) -> None:
        """Numbers go up by one, and with them the publications; rows as they were before stand first."""
        places = [self._place(one) for one in some]
        for (number, one), (last, place) in zip(enumerate(some), pairwise([_BEFORE, *places]), strict=True):
            if place is not None and last is not None and place < last:
                self._findings.wrong(one, "it stands behind what came later", None, None)
            expected = some[number - 1].n + 1 if number else 0
            if one.n != expected and not self._is_gone(one.at.batch, place or _BEFORE):
                self._report.gaps += 1
                self._report.fault("gap", f"`{one.shard}`", self._findings.shown(one), expected, one.n)

    def _place(self, one: Told) -> int | None:
        """Return the seq of the publication that a record names; None if its batch has none there."""
        if one.cause is None:
            return _BEFORE
        seq = self._sequence.seq_of(*one.cause)
        return seq if seq is not None and self._sequence.taken[seq - 1].batch == one.at.batch else None

    def _judge_rows(self, batch: int, some: list[Told], whole: bool) -> None:
        """Judge what says how rows were before a batch: of all of them, or just deletions of keys that are no row's."""
        if not some and not whole:
            return
        rows = self._meant.at(self._shard, self._sequence.end_of(batch - 1))
        seen: set[str] = set()
        for one in some:
            key, value = self._read(one)
            if key in seen:
                self._findings.extra(one, "its row was told before")
            elif key not in rows and value is not None:
                self._findings.extra(one, "there is no such row")
            else:
                self._count(one, rows.get(key), value)
            seen.add(key)
        if whole or any(one.record.value is not None for one in some):
            for key in sorted(rows.keys() - seen):
                note = f"the row as it is before epoch {self._life.epoch}, batch {batch}"
                self._miss(batch, _BEFORE, key, note, rows[key])

    def _judge_changes(self, batch: int, some: Iterable[Told], expected: dict[tuple[int, str], Change]) -> None:
        """Judge what names a publication of a batch; whatever is left of `expected` was not told."""
        for one in some:
            seq, (key, value) = self._place(one), self._read(one)
            change = None if seq is None else expected.pop((seq, key), None)
            if seq is None:
                self._findings.extra(one, "its batch has no such publication")
            elif change is None:
                self._findings.extra(one, "the publication does nothing to this row")
            else:
                self._count(one, change.row, value)
        for (seq, key), change in sorted(expected.items()):
            taken = self._sequence.taken[seq - 1]
            place = f"{taken.table.topic}/{taken.record.partition}/{taken.record.offset}"
            note = f"change by {place} in epoch {self._life.epoch}, batch {batch}"
            self._miss(batch, seq, key, note, change.row)

    def _read(self, one: Told) -> tuple[str, Any]:
        """Return the key of a record, and what it says of the row."""
        key = _value(one.record._replace(value=one.record.key))
        return key_text(key) if isinstance(key, dict) else str(key), _value(one.record)

    def _count(self, one: Told, expected: Row | None, got: Any) -> None:
        if same(got, expected):
            self._findings.right()
        else:
            self._findings.wrong(one, "another row", expected, got)

    def _miss(self, batch: int, place: int, key: str, note: str, expected: Row | None) -> None:
        if self._is_gone(batch, place):
            self._report.unjudged += 1
            return
        self._report.missed += 1
        self._report.fault("missed", f"`{self._shard}`", f"{note}, of {key}", expected)

    def _is_gone(self, batch: int, place: int) -> bool:
        """Whether Kafka may have removed a record of this place: between its neighbours offsets are gone."""
        log = self._log
        wanted = batch, place
        whole = {p: not log.has_lost(p, 0, log.end.get(p, 0)) for p in log.records}
        for partition in (p for p in log.records if not whole[p]):
            start, end = 0, log.end.get(partition, 0)
            for one in self._told:
                if one.record.partition == partition:
                    found = self._place(one)
                    at = one.at.batch, _BEFORE if found is None else found
                    if at < wanted:
                        start = one.record.offset + 1
                    elif at > wanted:
                        end = one.record.offset
                        break
            if log.has_lost(partition, start, end):
                return True
        return False


def _lives(topic: str, declared: Declared, batches: Batches) -> dict[Position, WrittenLife]:
    """Return the view that was written to a topic in each batch; a view that is there in several batches is one."""
    found: dict[Position, WrittenLife] = {}
    lives: dict[tuple[int, int], WrittenLife] = {}
    for epoch, those in batches.epochs.items():
        for batch in those:
            for view in declared.views_at(batch.catalog).values():
                if view.topic == topic:
                    life = lives.setdefault((epoch, view.born), WrittenLife(epoch, view))
                    life.batches.append(batch.at.batch)
                    found[batch.at] = life
    return found


def _newest(records: Iterable[Record]) -> list[Record]:
    """Return the newest record of each key and partition."""
    found: dict[tuple[int, bytes | None], Record] = {}
    for record in sorted(records, key=lambda record: record[:2]):
        found[record.partition, record.key] = record
    return list(found.values())


def _value(record: Record) -> Any:
    """Return the JSON of a record, its text where it is none; None of a tombstone."""
    if record.value is None:
        return None
    try:
        return json.loads(record.value)
    except ValueError:
        return record.value.decode(errors="replace")


def _is_text(key: bytes | None) -> bool:
    try:
        (key or b"").decode()
    except UnicodeDecodeError:
        return False
    return key is not None


def _name(view: View) -> str:
    return f"view `{view.name}`"
