"""The whole engine over a real broker and a real session, with a shard that writes down what it is given."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from connectors.record import OutRecord
from connectors.schemas.schema_registry import Registry
from operators.control import EpochBegins, Progress, RegisterAll
from shard.pipeline import process_group
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import LocalFiles
from streaming.engine import query_controller
from streaming.engine.query_controller import QueryController
from streaming.epoch.claim import ClaimConflictError, SupersededError
from streaming.epoch.progress import ProgressWriter
from streaming.epoch.topic_identity import TopicRecreatedError
from streaming.query.failure import QueryFailedError
from streaming.query.query_run import QueryRun
from tests.connectors.formats.test_avro_format import datum
from tests.connectors.registry_server import RegistryServer, running
from tests.streaming.conftest import RunningEngine, World
from tests.streaming.stand_ins import bulky
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark]
ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def wait_rows(world: World, engine: RunningEngine, count: int) -> None:
    """Wait until shards were given `count` rows and their batch is told."""
    eventually(lambda: len(world.rows()) >= count, failure=lambda: engine.error)
    batch = max(report["batch"] for report in world.reports())
    eventually(lambda: world.last_batch() >= batch, failure=lambda: engine.error)


@pytest.fixture
def tiny_chunks(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(ARROW_ROWS)
    spark.conf.set(ARROW_ROWS, "2")
    yield
    spark.conf.set(ARROW_ROWS, before or "10000")


@pytest.mark.usefixtures("tiny_chunks")
def test_rows_arrive_exactly_and_in_order_however_chunks_are_cut(world: World) -> None:
    world.make("stock", 2)
    world.declare("stock")
    values = [str(2**62 + number).encode() for number in range(9)]
    world.publish("stock", *values, partition=1)
    world.publish("stock", None, b"", b"\xc3\xa4")
    world.send(OutRecord(world.name("stock"), 0, None, b"no key"))
    engine = world.engine()
    wait_rows(world, engine, 13)
    rows = sorted(row[1:2] + row[2:3] + row[4:] for row in world.rows())
    assert rows == [
        [0, 0, '"a"', None],
        [0, 1, '"a"', ""],
        [0, 2, '"a"', "ä"],
        [0, 3, None, "no key"],
        *([1, place, '"a"', value.decode()] for place, value in enumerate(values)),
    ]
    assert all(row[3] % 1000 == 0 and row[3] > 1_700_000_000_000_000 for row in world.rows())


def test_an_epoch_from_claim_to_idle_progress(world: World) -> None:
    world.make("stock", 2)
    world.declare("stock")
    world.publish("stock", b"1", b"2")
    engine = world.engine()
    wait_rows(world, engine, 2)
    count = len(world.progress())
    eventually(lambda: len(world.progress()) >= count + 2, failure=lambda: engine.error)
    engine.stop()
    assert engine.error is None
    epoch = world.sidecar()["epoch"]
    for edge in range(4):
        controls = world.controls(partition=edge)
        assert controls[0] == EpochBegins(epoch, 0)
        assert RegisterAll(epoch, 0) in controls
    end = world.progress()[-1].end
    assert end[world.name("stock")] == {"0": 2, "1": 0}
    assert [p.batch for p in world.progress()] == sorted(p.batch for p in world.progress())


def test_a_lost_commit_record_repeats_the_batch_exactly(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    engine = world.engine()
    for count in (1, 2, 3):
        world.publish("stock", b"x", b"y", key=f'"{count}"'.encode())
        wait_rows(world, engine, 2 * count)
    engine.stop()
    last = max(report["batch"] for report in world.reports())
    for name in (str(last), f".{last}.crc"):
        (world.checkpoint / "commits" / name).unlink()
    world.publish("stock", b"after")
    engine = world.engine()
    eventually(lambda: len(world.rows()) == 7, failure=lambda: engine.error)
    first, again = (report for report in world.reports() if report["batch"] == last)
    assert first == again
    wait_rows(world, engine, 7)
    assert [report["count"] for report in world.reports()] == [2, 4, 6, 6, 7]


class StopsShort(ProgressWriter):
    """Dies between the commit of batch 1 and its progress."""

    def write(self, progress: Progress) -> None:
        if progress.batch == 1:
            raise RuntimeError("died before telling batch 1")
        super().write(progress)


def test_a_batch_committed_and_not_told_is_told_by_the_next_start(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    engine = world.engine(progress_writer=StopsShort)
    eventually(lambda: world.last_batch() == 0, failure=lambda: engine.error)
    world.publish("stock", b"1")
    assert "died before telling" in str(engine.failure())
    engine = world.engine()
    eventually(lambda: world.last_batch() == 1, failure=lambda: engine.error)
    engine.stop()
    assert len(world.reports()) == 1


def test_tables_topics_and_partitions_come_and_go_while_it_runs(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    world.publish("stock", b"slow")
    engine = world.engine()
    eventually(lambda: world.last_batch() >= -1, failure=lambda: engine.error)
    world.declare("bond")
    world.publish("stock", b"1")
    eventually(lambda: world.progress()[-1].catalog == 1, failure=lambda: engine.error)
    wait_rows(world, engine, 2)
    world.make("bond", 2)
    world.publish("bond", b"2", partition=1)
    wait_rows(world, engine, 3)
    world.add_partitions("stock", 2)
    world.publish("stock", b"3", partition=1)
    wait_rows(world, engine, 4)
    world.apply("DROP TABLE stock")
    eventually(lambda: world.progress()[-1].catalog == 2, failure=lambda: engine.error)
    world.admin.delete_topics([world.name("stock")])
    world.publish("bond", b"4", partition=0)
    wait_rows(world, engine, 5)
    assert [row[5] for row in world.rows()] == ["slow", "1", "2", "3", "4"]
    assert all(report["catalog"] >= (report["shard"] == "bond/0") for report in world.reports())


def test_a_table_created_again_begins_at_the_beginning(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    world.publish("stock", b"1", b"2")
    engine = world.engine()
    wait_rows(world, engine, 2)
    world.apply(f"DROP TABLE stock; CREATE TABLE stock (id BIGINT PRIMARY KEY) WITH ('topic'='{world.name('stock')}')")
    eventually(lambda: world.reports()[-1]["born"] == 1, failure=lambda: engine.error)
    assert [row[5] for row in world.reports()[-1]["rows"]] == ["1", "2"]


def test_a_topic_created_again_stops_it(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    world.publish("stock", b"1")
    engine = world.engine()
    wait_rows(world, engine, 1)
    world.admin.delete_topics([world.name("stock")])
    eventually(lambda: world.name("stock") not in world.admin.topics())
    world.make("stock")
    failure = engine.failure()
    assert isinstance(failure, TopicRecreatedError), failure
    assert isinstance(world.engine().failure(), TopicRecreatedError)


def test_one_engine_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.epoch.claim.STILL_SECONDS", 3.0)
    first = world.engine()
    eventually(lambda: world.progress(), failure=lambda: first.error)
    other = str(world.checkpoint.with_name("other"))
    assert isinstance(world.engine(checkpoint=other).failure(), ClaimConflictError)
    second = world.engine(checkpoint=other, take_over=True)
    assert isinstance(first.failure(), SupersededError)
    eventually(lambda: world.progress()[-1].epoch > 0, failure=lambda: second.error)
    second.stop()
    back = world.engine().failure()
    assert isinstance(back, SupersededError)


def test_a_failing_worker_is_one_message(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    world.publish("stock", b"fail")
    failure = world.engine().failure()
    assert isinstance(failure, QueryFailedError)
    assert str(failure) == "the query `match` has stopped: in a worker: ValueError: the stand-in was told to fail"


def test_a_batch_that_the_stop_cut_short_is_run_once_more_and_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap between two batches may be missed: here it always is."""

    def miss(one: QueryController, run: QueryRun, deadline: float) -> None:
        eventually(lambda: not one._is_between_batches())

    monkeypatch.setattr(QueryController, "_await_gap", miss)
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 60.0)
    world.make("stock")
    world.declare("stock")
    checkpoint, ended = Checkpoint(LocalFiles(world.checkpoint), ""), threading.Event()

    def publish() -> None:
        while not ended.wait(0.02):
            world.publish("stock", b"x")

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        engine = world.engine()
        eventually(lambda: checkpoint.last_committed() > 0, failure=lambda: engine.error)
        engine.stop()
        assert engine.error is None
        assert checkpoint.last_planned() == checkpoint.last_committed() > 0
    finally:
        ended.set()
        publisher.join()


def counters_of(world: World) -> list[dict[str, int]]:
    """What shards count of themselves."""
    return [json.loads(value) for _, value in world.read(world.topics.engines) if b'"kind":"counters"' in value]


def test_an_outage_of_the_schema_registry_is_one_message_and_loses_nothing(world: World) -> None:
    world.make("stock")
    options = f"'topic'='{world.name('stock')}', 'format'='avro', 'schema'='registry'"
    world.apply(f"CREATE TABLE stock (id VARCHAR PRIMARY KEY) WITH ({options})")
    schema = {"type": "record", "name": "Row", "fields": [{"name": "id", "type": "string"}]}
    world.publish("stock", datum(schema, {"id": "a"}, 7))
    with running(RegistryServer()) as server:
        server.ids[7] = {"schema": json.dumps(schema)}
        server.fails = [503] * 1_000
        registry = Registry(server.url, "reader:s3cret", patience=1.0)
        error = world.engine(process=process_group, registry=registry).failure()
        assert isinstance(error, QueryFailedError) and error.retry_helps
        assert f"the schema registry {server.url} does not say what schemas/ids/7 is: it answers 503" in str(error)
        assert "s3cret" not in str(error) and "\n" not in str(error)
        server.fails = []
        engine = world.engine(process=process_group, registry=registry)
        eventually(lambda: bool(counters_of(world)), failure=lambda: engine.error)
    counters = counters_of(world)[-1]
    assert (counters["decoded"], counters["rows"], counters["dead"]) == (1, 1, 0)
    assert not world.read(world.topics.dead_letters)


def test_records_of_many_megabytes_go_out_in_pieces(world: World) -> None:
    world.make("stock")
    world.declare("stock")
    world.publish("stock", b"3")
    engine = world.engine(process=bulky)
    eventually(lambda: len(world.sizes()) == 4, failure=lambda: engine.error)
    assert world.sizes() == [12_000_000, 12_000_000, 12_000_000, 12_000_000]
