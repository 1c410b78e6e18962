from __future__ import annotations

import logging
import signal
import socket
import socketserver
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j import java_gateway
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from streaming.query.session import ROOT, SessionConfig, _keep_quiet, session_settings, zip_rooms


def test_a_local_session_stays_on_this_machine_and_uses_the_quick_checkpoint_files() -> None:
    settings = session_settings(SessionConfig(jars=[Path("/j/a.jar"), Path("/j/b.jar")], checkpoint="/data/c"))
    assert settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.jars"] == "/j/a.jar,/j/b.jar"
    assert settings["spark.executorEnv.PYTHONPATH"] == str(ROOT)
    assert "FileSystemBased" in settings["spark.sql.streaming.checkpointFileManagerClass"]


def test_a_cluster_gets_our_rooms_as_a_zip_and_chooses_its_own_address() -> None:
    settings = session_settings(SessionConfig("spark://host:7077", checkpoint="hdfs://n/c"))
    assert settings["spark.executorEnv.PYTHONPATH"] == "tidewire-rooms.zip"
    assert "spark.driver.bindAddress" not in settings
    assert "spark.sql.streaming.checkpointFileManagerClass" not in settings


def test_the_users_settings_win() -> None:
    settings = session_settings(SessionConfig(spark={"spark.ui.enabled": "true", "spark.x": "1"}))
    assert (settings["spark.ui.enabled"], settings["spark.x"]) == ("true", "1")


def test_the_zip_holds_what_a_worker_imports(tmp_path: Path) -> None:
    archive = zip_rooms(tmp_path)
    names = zipfile.ZipFile(archive).namelist()
    assert "streaming/query/adapter.py" in names
    assert "state/errors.py" in names
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]
    script = "import streaming.query.adapter, sys; print(streaming.query.adapter.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": str(archive)}, cwd=tmp_path, capture_output=True, text=True
    )
    assert str(archive) in found.stdout, found.stderr


@pytest.mark.spark
def test_a_session_has_as_many_shuffle_partitions_as_cores_and_leaves_ctrl_c_alone(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    inherited = signal.SIG_IGN, signal.default_int_handler  # a job in the background inherits the first
    assert signal.getsignal(signal.SIGINT) in inherited


def test_a_connection_that_the_jvm_has_closed_prints_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    server = socketserver.BaseServer(("", 0), socketserver.BaseRequestHandler)
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(_accumulatorServer=server))
    _keep_quiet(session)
    try:
        raise EOFError
    except EOFError:
        server.handle_error((b"", socket.socket()), ("127.0.0.1", 1))
    assert capsys.readouterr().err == ""
    session.sparkContext = SimpleNamespace()
    _keep_quiet(session)


def test_a_call_that_a_dying_jvm_did_not_answer_leaves_no_trace_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    _keep_quiet(SimpleNamespace(sparkContext=SimpleNamespace()))  # type: ignore[arg-type]
    for error in (Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(), ValueError("ours")):
        source, text = java_gateway.__file__, "Exception while sending command."
        logging.getLogger().handle(logging.makeLogRecord({
            "name": "root", "levelno": logging.ERROR, "pathname": source, "module": "java_gateway", "msg": text,
            "exc_info": (type(error), error, None),
        }))  # fmt: skip
    assert [str(record.exc_info and record.exc_info[1]) for record in caplog.records] == ["ours"]
