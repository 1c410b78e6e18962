"""Attends the running query: tells what is committed, and watches for whatever must change or end it.

Every turn (`streaming/checkpoint/commit_interval.py` says how long one is) it looks for a new commit. Once a second it
checks that the query lives, that no newer engine has claimed the topics and that no topic was created again; four times
a second it looks for a new catalog version. A Kafka that does not answer is waited for: Spark's own clients are as
patient.

A query is stopped between two batches. Spark plans the next one milliseconds after it has committed one, and cannot be
held: where it was faster than the stop, that batch is run once more, and alone. So nothing that is planned is left to
whoever starts next, unless a batch takes longer than `STOP_SECONDS` (and it gets more time the next time:
`batch_wait.py`). The same is done before cells come live, who need
such a gap (`cell_births.py`); where there is none the query goes on without them, until it is tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import home_of
from catalog.schema.relation import Relation
from connectors.kafka.compacted_streams import compacted_streams, loss_and_remedy
from connectors.kafka.failure import KafkaFailure
from connectors.placement import Placement, forgetting
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Offsets, Silence, Withdraw, encode_control
from operators.wire.header import NO_HORIZON
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar
from streaming.engine.batch_wait import Patience, wait_of
from streaming.engine.cell_births import CellBirths
from streaming.engine.idle_partitions import IdlePartitions
from streaming.engine.view_topics import ViewTopics
from streaming.epoch.catalog_versions import (
    CatalogTopic,
    changes_groups,
    created_cells,
    entries_from,
    record_version,
)
from streaming.epoch.claim import ClaimWatch, EpochOpening
from streaming.epoch.cluster import Cluster
from streaming.epoch.progress import ProgressWriter
from streaming.epoch.topic_identity import check_present, compare_ids
from streaming.query.failure import QueryFailedError
from streaming.query.match import topics_read
from streaming.query.partition_count import Counts, Several, counts_from, record_several, several_from, with_several
from streaming.query.query_run import QueryRun, Reading

IDLE_SECONDS = 1.0
WATCH_SECONDS = 1.0
CATALOG_SECONDS = 0.25
GRACE_SECONDS = 1.0
PATIENCE_SECONDS = 120.0
STOP_SECONDS = 10.0
"""How long a query that is to be stopped may go on with what it has planned, the first time."""
_GAP_POLLS = 10
"""So many times as often as for commits it looks for the gap between two batches."""
_LOG = logging.getLogger("tidewire.engine")

Versions = tuple[tuple[int, Catalog], ...]
"""(first batch, catalog), ascending."""
StartQuery = Callable[[Versions, Reading], QueryRun]


class Trimmed(msgspec.Struct, frozen=True, tag="trimmed", tag_field="kind"):
    """Records [`start`, `end`) of a partition were trimmed before they were read. Written to `engines`."""

    epoch: int
    topic: str
    partition: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What an engine works with once it is open.

    `checks` are called once a second, and raise what must end it; `at_work` after batches that were told.
    """

    cluster: Cluster
    topics: Topics
    checkpoint: Checkpoint
    sidecar: Sidecar
    catalogs: CatalogTopic
    writer: ProgressWriter
    watch: ClaimWatch
    opening: EpochOpening
    births: CellBirths
    view_topics: ViewTopics
    commit_seconds: float
    checks: tuple[Callable[[], None], ...] = ()
    at_work: tuple[Callable[[], None], ...] = ()

    def version_of(self, batch: int) -> int:
        """Return the catalog version under which `batch` runs."""
        return entries_from(self.sidecar.catalogs, batch)[0].version


class QueryController:
    """Runs and attends one query after the other until told to stop.

    `start_query` starts the match query on the catalogs, (first batch, catalog), and topics it is given.
    """

    def __init__(self, context: EngineContext, start_query: StartQuery) -> None:
        self._desk = context
        self._start_query = start_query
        self._due: dict[str, float] = {}
        self._idle = IdlePartitions(context.cluster)
        self._missing_since: float | None = None
        self._outage_since: float | None = None
        self._patience = Patience()

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set, and then to the end of the batch, for about `STOP_SECONDS` at most.

        Raises QueryFailedError, SupersededError, TopicRecreatedError, TopicDeletedError, or KafkaFailure once Kafka
        has been silent for `PATIENCE_SECONDS`.
        """
        while not stop.is_set():
            run = self._start()
            try:
                self._attend(run, stop)
                left = self._wait(stop)
                self._await_gap(run, left)
            finally:
                run.stop()
            if stop.is_set():
                self._finish(run, left)
            elif created_cells(self._catalog(), self._desk.catalogs.newest):
                self._desk.births.attempted()
                self._finish(run, self._wait(stop))
            self._patience.stopped(self._is_between_batches())
            if not stop.is_set():
                self._desk.writer.write_committed(self._desk.sidecar.announced, self._desk.version_of)

    def _start(self) -> QueryRun:
        """Enter the newest catalog, look at its topics, begin the epoch if that is still to do, start the query."""
        context = self._desk
        self._enter_catalog()
        self._check_topics()
        context.view_topics.look(self._catalog())
        wanted = topics_read(self._catalog(), context.topics)
        last = self._last_offsets()
        partitions = self._count_partitions(wanted, last)
        reading = Reading.plan(wanted, context.cluster.ids(wanted), context.sidecar.resets, last, *partitions)
        self._report_trimmed(reading.existing, last)
        self._report_compacted()
        context.opening.begin(context.sidecar, context.sidecar.announced, wanted)
        run = self._start_query(self._plan_catalogs(), reading)
        self._register()
        self._due = {}
        _LOG.info("catalog %d in force, reading %s", context.sidecar.announced, ", ".join(sorted(reading.wanted)))
        return run

    def _attend(self, run: QueryRun, stop: threading.Event) -> None:
        """Return when the query must be started anew, or `stop` is set."""
        while not stop.wait(self._desk.commit_seconds):
            try:
                if self._turn(run):
                    return
                self._outage_since = None
            except KafkaFailure as failure:
                self._bear(failure)

    def _turn(self, run: QueryRun) -> bool:
        context = self._desk
        if context.writer.pending():
            self._check_topics()
            context.writer.write_committed(context.sidecar.announced, context.version_of)
            for begin in context.at_work:
                begin()
            self._postpone("idle", IDLE_SECONDS)
            self._register()
            if self._settled(run) or run.reading.outgrown(context.checkpoint.end_offsets(context.writer.last)):
                return True
        if self._is_due("watch", WATCH_SECONDS):
            self._check_query(run)
            context.watch.check()
            for check in context.checks:
                check()
            self._catch_up()
            self._say_silences()
        if self._is_due("catalog", CATALOG_SECONDS) and self._is_behind():
            return True
        if self._is_due("idle", IDLE_SECONDS):
            self._check_topics()
            context.writer.repeat(context.sidecar.announced)
        return False

    def _is_due(self, what: str, seconds: float) -> bool:
        if time.monotonic() < self._due.get(what, 0.0):
            return False
        self._postpone(what, seconds)
        return True

    def _postpone(self, what: str, seconds: float) -> None:
        self._due[what] = time.monotonic() + seconds

    def _bear(self, failure: KafkaFailure) -> None:
        now = time.monotonic()
        if self._outage_since is None:
            _LOG.warning("waiting for Kafka: %s", failure)
            self._outage_since = now
        if not failure.retry_helps or now - self._outage_since > PATIENCE_SECONDS:
            raise failure

    def _wait(self, stop: threading.Event) -> Callable[[], float]:
        """Begin to wait for a batch; what is returned says how many seconds are left."""
        return wait_of(self._patience.seconds(STOP_SECONDS), STOP_SECONDS, stop)

    def _await_gap(self, run: QueryRun, left: Callable[[], float]) -> None:
        """Wait until no batch is under way, so that stopping the query interrupts none; not for ever."""
        while not self._is_between_batches() and left() > 0:
            run.check()
            time.sleep(self._desk.commit_seconds / _GAP_POLLS)

    def _finish(self, run: QueryRun, left: Callable[[], float]) -> None:
        """Leave nothing planned behind a query that was stopped, if time allows."""
        if not self._is_between_batches():
            run.finish(left)
        if not self._is_between_batches():
            seconds = self._patience.seconds(STOP_SECONDS)
            _LOG.warning("a batch takes longer than %.0f s: it runs again at the next start", seconds)

    def _is_between_batches(self) -> bool:
        """Whether every batch that is planned is committed. *Cost*: one listing."""
        planned = self._desk.checkpoint.last_planned()
        return planned < 0 or self._desk.checkpoint.is_committed(planned)

    def _catalog(self) -> Catalog:
        return self._desk.catalogs.at(self._desk.sidecar.catalogs[-1].version)

    def _enter_catalog(self) -> None:
        """Enter the newest version that can be: one that creates cells only where no batch is under way."""
        context = self._desk
        context.catalogs.poll()
        before = self._catalog() if context.sidecar.catalogs else None
        if before is None or self._is_between_batches():
            version = context.births.prepare(before, context.catalogs.version)
        else:
            version = context.births.enterable(before)
        if version != context.sidecar.announced or before is None:
            self._forget_groups(before, context.catalogs.at(version))
            first = context.checkpoint.last_planned() + 1
            record_version(context.sidecar, before, context.catalogs.at(version), version, first)
            context.checkpoint.store(context.sidecar)
        context.births.touch()

    def _forget_groups(self, before: Catalog | None, newest: Catalog) -> None:
        """Let the first batch under a version drop the states of groups that are none any more.

        Told before the version is entered: a batch that runs under the one before passes it over.
        """
        gone = [] if before is None else sorted({*Placement.of(before).groups} - {*Placement.of(newest).groups})
        nothing = encode_control(Withdraw(self._desk.sidecar.epoch, 0, []))
        topic = self._desk.topics.registrations
        if gone:
            self._desk.cluster.append([OutRecord(topic, 0, forgetting(group), nothing) for group in gone])

    def _is_behind(self) -> bool:
        """Look for a newer catalog; return whether the query is to be started anew for it.

        A version that changes no group is announced without that; one that changes only cells, and views in cells that
        are new, may have to wait.
        """
        context = self._desk
        context.catalogs.poll()
        before, newest = self._catalog(), context.catalogs.newest
        if context.catalogs.version == context.sidecar.announced:
            return False
        if changes_groups(before, newest):
            return _is_urgent(before, newest) or context.births.due()
        context.sidecar.announced = context.catalogs.version
        context.checkpoint.store(context.sidecar)
        self._due.pop("idle", None)
        return False

    def _plan_catalogs(self) -> Versions:
        context = self._desk
        entries = entries_from(context.sidecar.catalogs, context.checkpoint.last_committed() + 1)
        return tuple((entry.first, context.catalogs.at(entry.version)) for entry in entries)

    def _count_partitions(self, wanted: Iterable[str], last: Offsets) -> tuple[Several, Counts]:
        """Record which topics have several partitions now; those of the `last` planned batch do, unless made anew.

        Of streams it is recorded how many they have.
        """
        context = self._desk
        before = with_several(last) - set(context.sidecar.resets)
        ends = context.cluster.ends
        counts = {relation.topic: max(1, len(ends(relation.topic))) for relation in self._streams()}
        found = {topic for topic in wanted if topic in before or (counts.get(topic) or len(ends(topic))) > 1}
        if record_several(context.sidecar, found, counts, context.checkpoint.last_planned() + 1):
            context.checkpoint.store(context.sidecar)
        entries, first = context.sidecar.several, context.checkpoint.last_committed() + 1
        return several_from(entries, first), counts_from(entries, first)

    def _streams(self) -> list[Relation]:
        return [relation for relation in self._catalog().relations.values() if relation.stream is not None]

    def _say_silences(self) -> None:
        """Say of partitions of streams that are idle that nothing comes from there."""
        context = self._desk
        streams = self._streams()
        if streams and context.writer.last >= 0:
            reached = context.checkpoint.end_offsets(context.writer.last)
            context.cluster.append(
                [_said(context.topics, one) for one in self._idle.silent(streams, reached, context.sidecar.epoch)]
            )

    def _last_offsets(self) -> Offsets:
        planned = self._desk.checkpoint.last_planned()
        return self._desk.checkpoint.end_offsets(planned) if planned >= 0 else {}

    def _register(self) -> None:
        context = self._desk
        if not context.sidecar.registered:
            reached = (
                context.checkpoint.end_offsets(context.writer.last)
                if context.writer.last >= 0
                else context.sidecar.begin
            )
            names = topics_read(self._catalog(), context.topics)
            if context.opening.register(context.sidecar, context.sidecar.announced, names, reached):
                _LOG.info("epoch %d has caught up; the edges register", context.sidecar.epoch)
        context.view_topics.begin(self._catalog())

    def _settled(self, run: QueryRun) -> bool:
        """Whether a run that was to be strict again, or to read topics anew, has got there."""
        context = self._desk
        if not run.reading.again or not run.reading.settled(context.checkpoint.end_offsets(context.writer.last)):
            return False
        context.sidecar.resets = []
        context.checkpoint.store(context.sidecar)
        return True

    def _catch_up(self) -> None:
        missed = self._desk.writer.write_overtaken(self._desk.sidecar.announced)
        if missed:
            _LOG.warning("%d batches left the checkpoint's log before they were told", missed)

    def _check_query(self, run: QueryRun) -> None:
        """Raise why the query has failed; a topic deleted or created again is a better reason than what Spark says."""
        try:
            run.check()
        except QueryFailedError:
            self._missing_since = 0.0
            self._check_topics()
            raise

    def _check_topics(self) -> None:
        context = self._desk
        catalog = self._catalog()
        known = context.sidecar.topic_ids
        names = {*topics_read(catalog, context.topics), *_own(context.topics)}
        found = context.cluster.ids(names)
        ids = compare_ids(known, found, _tables(catalog))
        self._check_missing(names & known.keys() - found.keys(), catalog)
        if ids != known:
            context.sidecar.topic_ids = ids
            context.checkpoint.store(context.sidecar)

    def _check_missing(self, missing: set[str], catalog: Catalog) -> None:
        """Raise for a topic missing for `GRACE_SECONDS`; a broker that has just started may not know it yet."""
        if not missing:
            self._missing_since = None
            return
        now = time.monotonic()
        self._missing_since = now if self._missing_since is None else self._missing_since
        if now - self._missing_since >= GRACE_SECONDS:
            check_present(missing, (), _tables(catalog))

    def _report_trimmed(self, names: Iterable[str], last: Offsets) -> None:
        context = self._desk
        trimmed = [
            Trimmed(context.sidecar.epoch, topic, str(partition), last[topic].get(str(partition), 0), begin)
            for topic in sorted(names & last.keys())
            for partition, begin in context.cluster.begins(topic).items()
            if begin > last[topic].get(str(partition), 0)
        ]
        for gap in trimmed:
            _LOG.warning("`%s` [%s]: records %d..%d were trimmed unread", gap.topic, gap.partition, gap.start, gap.end)
        streams = {relation.topic: relation for relation in self._streams()}
        holes = [
            Silence(
                streams[gap.topic].name,
                int(gap.partition),
                gap.end,
                NO_HORIZON,
                hole=True,
                epoch=gap.epoch,
                born=streams[gap.topic].born,
            )
            for gap in trimmed
            if gap.topic in streams
        ]
        context.cluster.append(
            [_as_record(context.topics, gap) for gap in trimmed] + [_said(context.topics, hole) for hole in holes]
        )

    def _report_compacted(self) -> None:
        """Say of streams that their topics are compacted. The engine goes on: what it has read of them is right."""
        for stream in compacted_streams(self._desk.cluster.compacted, self._streams()):
            _LOG.warning("%s. %s", *loss_and_remedy(stream))


def _said(topics: Topics, silence: Silence) -> OutRecord:
    return OutRecord(topics.registrations, 0, f"{silence.stream}/0".encode(), encode_control(silence))


def _as_record(topics: Topics, gap: Trimmed) -> OutRecord:
    key = f"trimmed/{gap.topic}/{gap.partition}"
    return OutRecord(topics.engines, 0, key.encode(), msgspec.json.encode(gap))


def _is_urgent(before: Catalog, newest: Catalog) -> bool:
    """Whether a version changes tables, or views that wait for no new cell: these come as soon as can be."""
    waiting = {cell.name for cell in created_cells(before, newest)}
    views = {*before.views.values()} ^ {*newest.views.values()}
    return before.relations != newest.relations or any(home_of(view) not in waiting for view in views)


def _own(topics: Topics) -> tuple[str, ...]:
    return (topics.registrations, topics.notifications, topics.catalog, topics.batches, topics.engines)


def _tables(catalog: Catalog) -> Mapping[str, str]:
    return {relation.topic: relation.name for relation in catalog.relations.values()}
