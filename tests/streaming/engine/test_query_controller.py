"""The controller with a cluster in memory and a query that the test drives: no JVM, every turn of events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import pytest

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell, cell_name
from connectors.kafka.failure import BrokerUnavailable, KafkaFailure
from connectors.placement import forgetting
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Offsets, Progress, RegisterAll
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import LocalFiles
from streaming.engine import query_controller
from streaming.engine.cell_births import CELL_SECONDS, CellBirths
from streaming.engine.query_controller import EngineContext, QueryController, Versions
from streaming.engine.stored_state import StoredGroup
from streaming.engine.view_topics import ViewTopics
from streaming.epoch.catalog_versions import CatalogTopic
from streaming.epoch.claim import ClaimWatch, EpochOpening, SupersededError, claim
from streaming.epoch.progress import ProgressWriter
from streaming.epoch.topic_identity import TopicDeletedError, TopicRecreatedError
from streaming.query.failure import QueryFailedError
from streaming.query.query_run import Reading
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.spark_logs import commit, plan
from tests.streaming.waiting import eventually

TOPICS = Topics("t.")
REGISTRATIONS = {TOPICS.registrations: {"0": 0, "1": 0}}


PAIR = cell_name(["s", "u"])


def seed_of(cell: Cell, catalog: Catalog, states: Mapping[str, bytes]) -> bytes:
    return repr((cell.born, states)).encode()


class Query:
    """What `start_query` returns: it does nothing; the test writes Spark's logs itself."""

    def __init__(self, versions: Versions, reading: Reading) -> None:
        self.versions = [(first, sorted(catalog.relations)) for first, catalog in versions]
        self.reading = reading
        self.failure: QueryFailedError | None = None
        self.stopped = False
        self.at_stop = lambda: None
        self.finished: list[float] = []
        self.at_finish = lambda: None
        self.seeds: dict[str, bytes] = {}

    def check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        self.at_stop()
        self.stopped = True

    def finish(self, left: Callable[[], float]) -> None:
        assert self.stopped
        self.finished.append(left())
        self.at_finish()


class Stage:
    """A controller at work in a thread."""

    def __init__(self, folder: Path, cell_seconds: float = CELL_SECONDS) -> None:
        self.folder = folder
        self.cell_seconds = cell_seconds
        self.cluster = MemoryCluster(TOPICS)
        self.runs: list[Query] = []
        self.error: BaseException | None = None
        self.told: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def declare(self, text: str) -> None:
        self.cluster.append([OutRecord(TOPICS.catalog, 0, None, text.encode())])

    def create(self, table: str) -> None:
        self.declare(f"CREATE TABLE {table} (id BIGINT PRIMARY KEY) WITH ('topic'='{table}')")

    def start(self) -> Query:
        checkpoint = Checkpoint(LocalFiles(self.folder), "c")
        sidecar = claim(self.cluster, TOPICS, checkpoint)
        catalogs = CatalogTopic(self.cluster, TOPICS)
        births = CellBirths(self.cluster, TOPICS, checkpoint, sidecar, catalogs, self._read_groups, seed_of)
        births.seconds = self.cell_seconds
        self.births = births
        context = EngineContext(
            cluster=self.cluster,
            topics=TOPICS,
            checkpoint=checkpoint,
            sidecar=sidecar,
            catalogs=catalogs,
            writer=ProgressWriter(self.cluster, checkpoint, TOPICS, 2, sidecar.epoch),
            watch=ClaimWatch(self.cluster, TOPICS, sidecar),
            opening=EpochOpening(self.cluster, checkpoint, TOPICS, 2),
            births=births,
            view_topics=ViewTopics(self.cluster, TOPICS, checkpoint, sidecar),
            commit_seconds=0.005,
            at_work=(lambda: self.told.append(len(self.progress())),),
        )
        context.writer.recover()
        self._controller = QueryController(context, self._start_query)  # type: ignore[arg-type]
        self._thread.start()
        return self.run(1)

    def run(self, number: int) -> Query:
        """Wait for the `number`-th start of the query."""
        eventually(lambda: len(self.runs) >= number or self.error)
        if self.error is not None:
            raise self.error
        return self.runs[number - 1]

    def commit(self, batch: int, **offsets: int) -> None:
        """Commit a batch that ends at these offsets of partition 0, and wait until it is told."""
        ends: Offsets = REGISTRATIONS | {topic: {"0": offset} for topic, offset in offsets.items()}
        commit(self.folder, batch, ends)
        eventually(lambda: batch in [progress.batch for progress in self.progress()])

    def progress(self) -> list[Progress]:
        return [found for found in self.cluster.controls(TOPICS.batches) if isinstance(found, Progress)]

    def announced(self) -> int:
        return self.progress()[-1].catalog if self.progress() else -2

    def failure(self) -> BaseException:
        return eventually(lambda: self.error)

    def ask_to_stop(self) -> None:
        self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(120)

    def _start_query(self, versions: Versions, reading: Reading) -> Query:
        run = Query(versions, reading)
        run.seeds = self.births.seeds(catalog for _, catalog in versions)
        self.runs.append(run)
        return run

    def _read_groups(self, groups: Collection[str], most: int) -> dict[str, StoredGroup]:
        """States that say at the end of which batch they were read."""
        data = b"%d" % Checkpoint(LocalFiles(self.folder), "c").last_committed()
        return {group: StoredGroup(len(data), data) for group in groups}

    def _work(self) -> None:
        try:
            self._controller.run(self._stop)
        except BaseException as error:
            self.error = error


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    for name in ("IDLE_SECONDS", "WATCH_SECONDS", "CATALOG_SECONDS", "GRACE_SECONDS"):
        monkeypatch.setattr(query_controller, name, 0.02)
    made = Stage(tmp_path)
    yield made
    made.stop()


def test_that_the_query_is_at_work_is_said_once_a_batch_is_told(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    stage.start()
    before = len(stage.progress())
    assert stage.told == []
    stage.commit(0, s=1)
    eventually(lambda: stage.told)
    assert stage.told[0] > before


def test_progress_is_told_and_repeated_while_nothing_comes(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    run = stage.start()
    assert run.reading == Reading(
        frozenset({"s", TOPICS.registrations}),
        run.reading.wanted,
        False,
        False,
        run.reading.several,
        run.reading.counts,
    )
    eventually(lambda: [p.batch for p in stage.progress()][:2] == [-1, -1])
    stage.commit(0, s=3)
    eventually(lambda: [p.batch for p in stage.progress()].count(0) > 2)
    stage.stop()
    assert run.stopped
    assert stage.error is None


def test_a_stop_waits_for_the_batch_under_way(stage: Stage) -> None:
    run = stage.start()
    stage.commit(0)
    plan(stage.folder, 1, REGISTRATIONS)
    stage.ask_to_stop()
    threading.Event().wait(0.2)
    assert not run.stopped
    commit(stage.folder, 1)
    stage.stop()
    assert run.stopped and not run.finished and stage.error is None


def test_a_stop_waits_for_no_batch_for_ever(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.2)
    run = stage.start()
    plan(stage.folder, 0, REGISTRATIONS)
    stage.stop()
    assert run.stopped and run.finished[0] <= 0 and stage.error is None


def test_a_batch_that_was_planned_faster_than_the_stop_is_run_once_more(stage: Stage) -> None:
    run = stage.start()
    stage.commit(0)
    run.at_stop = lambda: plan(stage.folder, 1, REGISTRATIONS)
    stage.stop()
    assert len(run.finished) == 1 and 5 < run.finished[0] <= query_controller.STOP_SECONDS
    assert stage.error is None


def test_edges_register_once_the_epoch_has_caught_up(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.cluster.append([OutRecord("s", 0, None, b"")] * 3)
    stage.create("s")
    stage.start()
    stage.commit(0, s=2)
    assert not any(isinstance(c, RegisterAll) for c in stage.cluster.controls(TOPICS.notifications))
    stage.commit(1, s=3)
    eventually(lambda: any(isinstance(c, RegisterAll) for c in stage.cluster.controls(TOPICS.notifications)))


def test_a_new_version_holds_from_the_batch_after_the_last_planned(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.cluster.create("u")
    stage.create("s")
    stage.start()
    stage.commit(0, s=1)
    stage.create("u")
    second = stage.run(2)
    assert stage.runs[0].stopped
    assert second.versions == [(1, ["s", "u"])]
    assert second.reading.relaxed
    eventually(lambda: stage.announced() == 1)
    stage.commit(1, s=1, u=0)
    assert not stage.run(3).reading.relaxed


def test_a_topic_that_gets_more_partitions_is_known_from_the_next_batch_on(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    assert stage.start().reading.several == ((0, frozenset({TOPICS.registrations})),)
    stage.cluster.logs["s"].append([])
    commit(stage.folder, 0, REGISTRATIONS | {"s": {"0": 1, "1": 0}})
    assert stage.run(2).reading.several == ((1, frozenset({"s", TOPICS.registrations})),)
    assert stage.runs[0].stopped


def test_a_planned_batch_keeps_its_catalog(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.2)
    stage.cluster.create("s")
    stage.create("s")
    stage.start()
    stage.commit(0, s=1)
    stage.stop()
    plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 5}})
    later = Stage(stage.folder)
    later.cluster = stage.cluster
    later.cluster.create("u")
    later.create("u")
    try:
        assert later.start().versions == [(0, ["s"]), (2, ["s", "u"])]
        eventually(lambda: later.announced() == 1)
    finally:
        later.stop()


def test_a_version_that_changes_no_table_is_announced_without_a_restart(stage: Stage) -> None:
    stage.create("s")
    stage.start()
    stage.create("s")
    stage.declare("no SQL at all")
    eventually(lambda: stage.announced() == 2)
    assert len(stage.runs) == 1


def test_a_table_created_again_reads_its_topic_from_the_beginning(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    stage.start()
    stage.commit(0, s=4)
    stage.declare("DROP TABLE s; CREATE TABLE s (id BIGINT PRIMARY KEY, x BIGINT) WITH ('topic'='s')")
    without = stage.run(2)
    assert without.reading.wanted == {TOPICS.registrations}
    assert without.reading.relaxed
    stage.commit(1)
    again = stage.run(3)
    assert again.reading.wanted == {"s", TOPICS.registrations}
    stage.commit(2, s=4)
    assert not stage.run(4).reading.again


@pytest.fixture
def joined(stage: Stage) -> Query:
    """A query over two tables, with a batch that is committed."""
    for table in ("s", "u"):
        stage.cluster.create(table)
        stage.create(table)
    run = stage.start()
    stage.commit(0, s=1, u=1)
    return run


def test_a_cell_comes_between_two_batches_with_the_states_of_the_last_one(stage: Stage, joined: Query) -> None:
    plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    stage.declare("CREATE JOIN s, u")
    threading.Event().wait(0.2)
    assert not joined.stopped and stage.announced() == 1, "a batch is under way"
    commit(stage.folder, 1)
    second = stage.run(2)
    assert second.versions == [(2, ["s", "u"])]
    assert second.seeds == {PAIR: repr((2, {"s/0": b"1", "u/0": b"1"})).encode()}
    assert not second.reading.relaxed
    eventually(lambda: stage.announced() == 2)
    [touch] = stage.cluster.logs[TOPICS.registrations][0]
    assert touch.key == PAIR.encode()


def test_a_batch_that_is_planned_faster_than_the_stop_is_run_before_a_cell_comes(stage: Stage, joined: Query) -> None:
    joined.at_stop = lambda: plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    joined.at_finish = lambda: commit(stage.folder, 1)
    stage.declare("CREATE JOIN s, u")
    second = stage.run(2)
    assert len(joined.finished) == 1 and joined.finished[0] > 5
    assert second.versions == [(2, ["s", "u"])] and b"b'1'" in second.seeds[PAIR]
    eventually(lambda: stage.progress()[-1].batch == 1)


def test_where_there_is_no_gap_the_query_goes_on_without_the_cell(
    stage: Stage, joined: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.2)
    joined.at_stop = lambda: plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    stage.declare("CREATE JOIN s, u")
    second = stage.run(2)
    assert second.versions == [(0, ["s", "u"])] and not second.seeds and stage.announced() == 1
    commit(stage.folder, 1)
    threading.Event().wait(0.2)
    assert len(stage.runs) == 2, "not tried again at once"
    stage.births.seconds = 0.0
    assert PAIR in stage.run(3).seeds
    eventually(lambda: stage.announced() == 2)


def test_a_batch_that_is_cut_off_gets_more_time_each_time_until_none_is(
    stage: Stage, joined: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.1)
    stage.births.seconds = 0.0
    plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    stage.declare("CREATE JOIN s, u")
    fourth = stage.run(4)
    given = [run.finished[0] for run in stage.runs[:3]]
    assert given == pytest.approx([0.1, 0.2, 0.4], abs=0.05) and stage.announced() == 1
    commit(stage.folder, 1)
    assert PAIR in stage.run(5).seeds and not fourth.finished
    stage.runs[4].at_stop = lambda: plan(stage.folder, 2, REGISTRATIONS | {"s": {"0": 3}, "u": {"0": 1}})
    stage.declare("CREATE JOIN s")
    stage.run(6)
    assert stage.runs[4].finished == pytest.approx([0.1], abs=0.05)


def test_an_engine_that_is_asked_to_stop_does_not_wait_for_what_a_cell_waits_for(
    stage: Stage, joined: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.05)
    stage.births.seconds = 0.0
    plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    stage.declare("CREATE JOIN s, u")
    stage.run(5)
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 1.0)
    threading.Event().wait(0.1)
    began = time.monotonic()
    stage.stop()
    assert time.monotonic() - began < 3.0 and stage.error is None


def test_an_engine_that_died_amid_a_batch_runs_it_before_a_cell_comes(
    stage: Stage, joined: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 0.2)
    stage.stop()
    plan(stage.folder, 1, REGISTRATIONS | {"s": {"0": 2}, "u": {"0": 1}})
    later = Stage(stage.folder, cell_seconds=0.5)
    later.cluster = stage.cluster
    later.declare("DROP TABLE u; CREATE TABLE u (id BIGINT PRIMARY KEY, x BIGINT) WITH ('topic'='u')")
    later.declare("CREATE JOIN s, u")
    try:
        first = later.start()
        assert [versions for versions, _ in first.versions] == [0, 2] and not first.seeds
        eventually(lambda: later.announced() == 2)
        commit(stage.folder, 1)
        assert PAIR in eventually(lambda: next((run for run in later.runs if run.seeds), None)).seeds
        eventually(lambda: later.announced() == 3)
    finally:
        later.stop()


def test_cells_that_wait_come_together(stage: Stage, joined: Query) -> None:
    stage.declare("CREATE JOIN s, u")
    stage.run(2)
    stage.declare("CREATE JOIN s")
    stage.declare("CREATE JOIN u")
    threading.Event().wait(0.2)
    assert len(stage.runs) == 2 and stage.announced() == 2
    stage.births.seconds = 0.0
    assert sorted(stage.run(3).seeds) == sorted([PAIR, cell_name(["s"]), cell_name(["u"])])
    eventually(lambda: stage.announced() == 4)


def test_a_table_that_comes_takes_the_cells_that_wait_with_it(stage: Stage, joined: Query) -> None:
    stage.declare("CREATE JOIN s, u")
    stage.run(2)
    stage.declare("CREATE JOIN s")
    stage.create("v")
    assert cell_name(["s"]) in stage.run(3).seeds


def test_a_cell_that_is_dropped_ends_and_one_made_again_has_a_new_seed(stage: Stage, joined: Query) -> None:
    stage.births.seconds = 0.0
    stage.declare("CREATE JOIN s, u")
    stage.run(2)
    stage.declare("DROP JOIN s, u")
    assert not stage.run(3).seeds
    stage.commit(1, s=5, u=5)
    stage.declare("CREATE JOIN s, u")
    assert stage.run(4).seeds == {PAIR: repr((4, {"s/0": b"1", "u/0": b"1"})).encode()}


def test_groups_that_are_none_any_more_are_to_be_forgotten(stage: Stage, joined: Query) -> None:
    def forgotten() -> list[bytes | None]:
        keys = [record.key for record in stage.cluster.appended if record.topic == TOPICS.registrations]
        return [key for key in keys if key is not None and key.startswith(b"forget:")]

    stage.births.seconds = 0.0
    stage.declare("CREATE JOIN s, u")
    stage.run(2)
    assert forgotten() == []
    stage.declare("DROP JOIN s, u")
    stage.run(3)
    assert forgotten() == [forgetting(PAIR)]
    stage.declare("DROP TABLE u")
    stage.run(4)
    assert forgotten() == [forgetting(PAIR), forgetting("u/0")]
    assert stage.error is None


def test_a_join_that_is_refused_is_announced_without_a_restart(stage: Stage, joined: Query) -> None:
    stage.declare("REFUSE JOIN s, u BECAUSE 'no'")
    eventually(lambda: stage.announced() == 2)
    assert len(stage.runs) == 1


def test_a_topic_that_comes_later_is_waited_for(stage: Stage) -> None:
    stage.create("s")
    run = stage.start()
    assert run.reading.existing == {TOPICS.registrations}
    stage.commit(0)
    stage.cluster.create("s")
    stage.commit(1, s=0)
    stage.commit(2, s=7)
    assert len(stage.runs) == 1


def test_a_topic_created_again_stops_the_engine(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    stage.start()
    stage.commit(0, s=4)
    stage.cluster.create("s")
    failure = stage.failure()
    assert isinstance(failure, TopicRecreatedError)
    assert "DROP TABLE s" in str(failure)
    assert stage.runs[0].stopped


def test_what_spark_says_of_a_deleted_topic_is_said_better(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    run = stage.start()
    stage.commit(0, s=4)
    stage.cluster.delete("s")
    run.failure = QueryFailedError("something of Spark's")
    assert isinstance(stage.failure(), TopicDeletedError)


def test_a_dropped_tables_topic_may_be_deleted(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.create("s")
    stage.start()
    stage.commit(0, s=4)
    stage.declare("DROP TABLE s")
    stage.run(2)
    stage.cluster.delete("s")
    stage.commit(1)
    stage.run(3)


def test_a_newer_claim_stops_the_engine(stage: Stage, tmp_path: Path) -> None:
    stage.start()
    claim(stage.cluster, TOPICS, Checkpoint(LocalFiles(tmp_path / "other"), "other"))
    assert isinstance(stage.failure(), SupersededError)


def test_a_failed_query_ends_the_engine(stage: Stage) -> None:
    run = stage.start()
    run.failure = QueryFailedError("no")
    assert stage.failure() is run.failure


def test_a_silent_kafka_is_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.start()
    append, problem = stage.cluster.append, [BrokerUnavailable("no broker")]

    def failing(records: list[OutRecord]) -> list[int]:
        if problem:
            raise problem[0]
        return append(records)

    monkeypatch.setattr(stage.cluster, "append", failing)
    commit(stage.folder, 0, REGISTRATIONS)
    threading.Event().wait(0.2)
    assert stage.error is None
    problem.clear()
    eventually(lambda: 0 in [progress.batch for progress in stage.progress()])
    problem.append(KafkaFailure("not allowed"))
    assert stage.failure() is problem[0]


def test_trimmed_records_are_reported(stage: Stage) -> None:
    stage.cluster.create("s")
    stage.cluster.append([OutRecord("s", 0, None, b"")] * 9)
    stage.create("s")
    commit(stage.folder, 0, REGISTRATIONS | {"s": {"0": 4}})
    Checkpoint(LocalFiles(stage.folder), "c").store(_claimed(stage))
    stage.cluster.first["s"] = {0: 6}
    stage.start()
    record = stage.cluster.logs[TOPICS.engines][0][-1]
    assert record.key == b"trimmed/s/0"
    assert record.value == b'{"kind":"trimmed","epoch":0,"topic":"s","partition":"0","start":4,"end":6}'


def test_a_stream_whose_topic_is_compacted_is_told_of_at_each_start(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    for name, policy in (("r", "delete"), ("s", "compact")):
        stage.cluster.create(name)
        stage.cluster.compact.update({name} if policy == "compact" else ())
        options = f"'topic'='{name}', 'event_time'='ts', 'lateness'='1 s'"
        stage.declare(f"CREATE STREAM {name} (ts TIMESTAMP) WITH ({options})")
    stage.cluster.create("t")
    stage.cluster.compact.add("t")
    stage.create("t")
    with caplog.at_level("WARNING", "tidewire.engine"):
        stage.start()
    [said] = [record.getMessage() for record in caplog.records if "compacted" in record.getMessage()]
    assert said.startswith("the topic `s` of stream `s` is compacted") and "cleanup.policy=delete" in said


def _claimed(stage: Stage):  # type: ignore[no-untyped-def]
    return claim(stage.cluster, TOPICS, Checkpoint(LocalFiles(stage.folder / "elsewhere"), "c"))


def test_a_view_of_one_table_comes_at_once_and_one_of_several_with_its_cell(stage: Stage, joined: Query) -> None:
    stage.declare("CREATE JOIN s")
    stage.run(2)
    stage.declare("CREATE VIEW v AS SELECT COUNT(*) AS n FROM s")
    assert stage.run(3).versions == [(1, ["s", "u"])], "it waits for nothing, however short ago a cell came"
    eventually(lambda: stage.announced() == 3)
    stage.declare("CREATE VIEW w AS SELECT s.id FROM s JOIN u ON s.id = u.id")
    threading.Event().wait(0.2)
    assert len(stage.runs) == 3 and stage.announced() == 3
    stage.births.seconds = 0.0
    assert stage.run(4).seeds.keys() == {cell_name(["s"]), PAIR}
    stage.declare("DROP VIEW w")
    assert stage.run(5).seeds.keys() == {cell_name(["s"]), PAIR}, "the cell stays"
    eventually(lambda: stage.announced() == 5)
