"""The log of an engine that is killed where it hurts has every publication once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.log.publication_log import PublicationLog
from streaming.log.keeper import LogConfig
from tests.streaming.conftest import World
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.ordeal, pytest.mark.timeout(900)]


def test_killed_between_the_commit_and_whatever_comes_after_it(
    world: World, spark_jars: list[Path], tmp_path: Path, spark: SparkSession
) -> None:
    world.declare("stock")
    world.make("stock", 2)
    told = {"bootstrap": world.kafka.bootstrap, "prefix": world.topics.prefix, "folder": str(tmp_path)}
    told |= {"jars": [str(jar) for jar in spark_jars]}
    sent = 0
    for die in (("after", 1), ("before", 2), ("after", 2)):
        victim = subprocess.Popen([sys.executable, "-m", "tests.streaming.log_victim", json.dumps(told | {"die": die})])
        while victim.poll() is None:
            key = f'"k{sent}"'.encode()
            world.publish("stock", b'{"id":"k%d","price":%d}' % (sent, sent), key=key, partition=sent % 2)
            sent += 1
            time.sleep(0.3)
        assert victim.returncode == -signal.SIGKILL
    folder = str(tmp_path / "publications")
    engine = world.engine(log=LogConfig(folder, seconds=0.3), checkpoint=str(tmp_path / "again"))
    eventually(lambda: PublicationLog(folder).size.rows >= sent, 300, failure=lambda: engine.error)
    engine.stop()
    rows = spark.read.format("delta").load(folder).select("partition", "offset").collect()
    assert Counter((row["partition"], row["offset"]) for row in rows) == {
        (partition, offset): 1 for partition in range(2) for offset in range((sent + 1 - partition) // 2)
    }
    log = PublicationLog(folder)
    assert sum(len(chunk) for chunk in log.read({}, log.newest.cut)) == sent
    assert log.newest.mark.gaps == []
    assert [one.mark.number for one in log.versions] == list(range(len(log.versions)))
