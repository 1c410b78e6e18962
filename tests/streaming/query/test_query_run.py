from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from catalog.schema.catalog import Catalog
from connectors.topics import Topics
from shard.pipeline import process_group
from streaming.engine.batch_wait import wait_of
from streaming.query.failure import SparkFailedError
from streaming.query.match import MatchConfig
from streaming.query.query_run import QueryRun, Reading


def test_a_first_run_is_strict() -> None:
    reading = Reading.plan(["a", "r"], ["a", "r"], [], {})
    assert not reading.relaxed
    assert not reading.again


@pytest.mark.parametrize(
    ("wanted", "existing", "last", "relaxed"),
    [
        ("ar", "ar", "ar", False),
        ("abr", "ar", "ar", False),
        ("abr", "abr", "ar", True),
        ("r", "ar", "ar", True),
    ],
)
def test_a_run_is_relaxed_when_the_topics_that_exist_have_changed(
    wanted: str, existing: str, last: str, relaxed: bool
) -> None:
    reading = Reading.plan(wanted, existing, [], {topic: {"0": 1} for topic in last})
    assert reading.relaxed is relaxed
    assert reading.again is relaxed


def test_topics_to_reset_are_left_out_and_wanted_again() -> None:
    reading = Reading.plan("ar", "ar", ["a"], {"a": {}, "r": {}})
    assert reading.wanted == {"r"}
    assert reading.relaxed
    assert reading.again


def test_a_run_is_settled_once_a_batch_has_the_topics_wanted() -> None:
    reading = Reading.plan("abr", "ar", [], {"c": {}, "r": {}})
    assert not reading.settled({"c": {}, "r": {}})
    assert not reading.settled({"a": {}, "c": {}, "r": {}})
    assert not reading.settled({"r": {}})
    assert reading.settled({"a": {}, "r": {}})
    assert reading.settled({"a": {}, "b": {}, "r": {}})


def test_a_run_is_outgrown_when_a_topic_of_one_partition_has_got_more() -> None:
    reading = Reading.plan("ar", "ar", [], {}, ((0, frozenset("r")), (3, frozenset("rx"))))
    assert not reading.outgrown({"a": {"0": 1}, "r": {"0": 1, "1": 1}, "z": {"0": 1, "1": 1}})
    assert reading.outgrown({"a": {"0": 1, "1": 0}, "r": {"0": 1, "1": 1}})
    assert Reading.plan("a", "a", [], {}).outgrown({"a": {"0": 1, "1": 0}})


class DeadJvm:
    """A query whose JVM was killed."""

    @property
    def isActive(self) -> bool:  # noqa: N802 (Spark's name)
        raise ConnectionRefusedError(111, "Connection refused")

    def stop(self) -> None:
        raise ConnectionRefusedError(111, "Connection refused")


def test_a_jvm_that_was_killed_is_named_and_a_new_start_helps() -> None:
    run = QueryRun.__new__(QueryRun)
    run._query, run._seeds = DeadJvm(), []  # type: ignore[assignment]
    with pytest.raises(SparkFailedError, match="Spark's JVM has ended") as failure:
        run.check()
    assert failure.value.retry_helps
    run.stop()


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_nothing_is_left_of_the_seeds_of_a_run_that_was_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """States of shards, which would else lie in the driver's files once for every start."""
    files = Path(spark.sparkContext._temp_dir)
    config = MatchConfig(
        process=process_group, epoch=1, catalogs=((0, Catalog()),), reads=("r",), topics=Topics(), partitions=1,
        kafka={"bootstrap.servers": "127.0.0.1:1"}, checkpoint=str(tmp_path), seeds={"a/0": b"state", "b/0": b"state"},
    )  # fmt: skip
    before = {*files.iterdir()}
    run = QueryRun(spark, config, Reading.plan("r", "r", [], {}))
    assert len({*files.iterdir()} - before) == 2
    run.stop()
    assert {*files.iterdir()} == before
    run.finish(wait_of(2.0, 2.0, threading.Event()))
    assert {*files.iterdir()} == before
