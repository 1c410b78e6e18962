"""The Spark session of an engine: the settings that matter, the code on the workers, and a clean end.

Nothing here depends on one process: a remote worker gets our rooms as a zip (`spark.submit.pyFiles`), and what
the worker's daemon needs before that on its `PYTHONPATH`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from streaming.checkpoint.files import is_local_path
from streaming.query.failure import JVM_GONE

ROOMS = ("state", "catalog", "operators", "connectors", "shard", "streaming")
ROOMS_ZIP = "tidewire-rooms.zip"
ROOT = Path(__file__).resolve().parents[2]
_LOCAL = re.compile(r"local(\[.*\])?$")
_ONE_MACHINE = re.compile(r"local(-cluster)?(\[.*\])?$")
_JVM_EXIT_SECONDS = 10
_LOCAL_FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """How to reach Spark. `jars` are local paths of the Kafka connector; `spark` overrides any setting below."""

    master: str = "local[*]"
    jars: Sequence[Path] = ()
    checkpoint: str = ""
    local_dir: Path | None = None
    driver_memory: str = "1g"
    spark: Mapping[str, str] = field(default_factory=dict)


def session_settings(config: SessionConfig) -> dict[str, str]:
    """Return every setting of the session (architecture, section 6); the user's come last and win."""
    settings = _always() | {
        "spark.master": config.master,
        "spark.driver.memory": config.driver_memory,
        "spark.jars": ",".join(str(jar) for jar in config.jars),
    }
    if _ONE_MACHINE.match(config.master):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if is_local_path(config.checkpoint):
        settings["spark.sql.streaming.checkpointFileManagerClass"] = _LOCAL_FILES
    if config.local_dir is not None:
        settings["spark.local.dir"] = str(config.local_dir)
        settings["spark.sql.warehouse.dir"] = str(config.local_dir / "warehouse")
    return settings | _python_path(config.master) | dict(config.spark)


def _always() -> dict[str, str]:
    """Return the settings of `conf/spark.properties`."""
    lines = (files("conf") / "spark.properties").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def _python_path(master: str) -> dict[str, str]:
    """Where a worker's daemon finds our rooms: here, or in the zip that Spark puts into an executor's folder."""
    path = str(ROOT) if _LOCAL.match(master) else ROOMS_ZIP
    return {"spark.executorEnv.PYTHONPATH": path}


def open_session(config: SessionConfig) -> SparkSession:
    """Start (or find) the session; shuffle partitions = cores unless set. Takes 3-6 s.

    PySpark puts a SIGINT handler of its own in place; the one that was there is put back.
    """
    os.environ["PYSPARK_PYTHON"] = config.spark.get("spark.pyspark.python", sys.executable)
    handler = signal.getsignal(signal.SIGINT)
    builder = SparkSession.builder
    for name, value in session_settings(config).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    _keep_quiet(spark)
    if "spark.sql.shuffle.partitions" not in config.spark:
        spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    if not _LOCAL.match(config.master):
        _ship_rooms(spark)
    return spark


def _keep_quiet(spark: SparkSession) -> None:
    """Have no trace printed where a JVM dies; the engine says it in a line.

    It hangs up on the server of accumulators, and py4j logs, with no logger's name, the call that it was amid.
    """
    logging.getLogger().addFilter(_without_trace)
    server = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda request, client_address: None


def _without_trace(record: logging.LogRecord) -> bool:
    """Let a record pass unless it is py4j's of a JVM that is gone."""
    error = record.exc_info[1] if record.exc_info else None
    return not (record.module == "java_gateway" and isinstance(error, JVM_GONE))


def jvm_is_alive(patience: float = 1.0) -> bool:
    """Return whether the session's JVM still runs; one that was just killed is seen within `patience` seconds."""
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None:
        return gateway is not None
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return True
    return False


def close_session(spark: SparkSession, patience: float = _JVM_EXIT_SECONDS) -> None:
    """Stop the session and end its JVM, killed after `patience` s; returns when it is gone. Takes about 1 s."""
    gateway = spark.sparkContext._gateway
    with contextlib.suppress(Exception):
        spark.stop()
    process = getattr(gateway, "proc", None)
    with contextlib.suppress(Exception):
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    if process is not None:
        process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _ship_rooms(spark: SparkSession) -> None:
    """Send our rooms to every executor; the zip lands in its folder, where the daemon's PYTHONPATH looks.

    Executors fetch it whenever they start, so it stays in PySpark's own temporary folder until the session ends.
    """
    context = spark.sparkContext
    context.addPyFile(str(zip_rooms(Path(context._temp_dir))))


def zip_rooms(folder: Path) -> Path:
    """Write the rooms that a worker needs into a zip in `folder` and return it."""
    target = folder / ROOMS_ZIP
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for room in ROOMS:
            for source in sorted((ROOT / room).rglob("*.py")):
                archive.write(source, source.relative_to(ROOT))
    return target
