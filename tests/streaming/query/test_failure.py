from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError

from state.errors import TidewireError
from streaming.query.failure import SparkFailedError, error_of, foreseen, last_line
from streaming.query.session import jvm_is_alive

OUTER = ("org.apache.spark.sql.streaming.StreamingQueryException", "Job aborted\n=== Streaming Query ===\n…")
PYTHON = "org.apache.spark.api.python.PythonException"
TRACE = "Traceback (most recent call last):\n  File x, line 3\n    f()\n"


def test_a_workers_exception_is_its_last_line() -> None:
    error = error_of(
        [
            OUTER,
            ("org.apache.spark.SparkException", "Task failed"),
            (PYTHON, TRACE + "ValueError: no\n SQLSTATE: 38000"),
        ]
    )
    assert str(error) == "the query `match` has stopped: in a worker: ValueError: no"
    assert error.retry_helps


def test_our_own_errors_do_not_go_away_by_themselves() -> None:
    error = error_of([OUTER, (PYTHON, TRACE + "state.errors.StateError: written by version 2\nUse it.\n")])
    assert str(error).endswith("state.errors.StateError: written by version 2\nUse it.")
    assert not error.retry_helps


def test_an_outage_of_the_schema_registry_goes_away() -> None:
    said = "connectors.schemas.schema_registry.RegistryFailure: the schema registry http://x does not say what it is."
    error = error_of([OUTER, (PYTHON, TRACE + said + "\n")])
    assert (str(error), error.retry_helps) == (f"the query `match` has stopped: in a worker: {said}", True)


@pytest.mark.parametrize(
    ("message", "advice", "retry"),
    [
        ("Some data may have been lost because they are not available in Kafka any more", "retention", False),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log", "same checkpoint", False),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", "Is the Kafka broker up", True),
        ("Python worker exited unexpectedly (crashed): java.io.EOFException", "was killed", True),
    ],
)
def test_known_causes_come_with_advice(message: str, advice: str, retry: bool) -> None:
    error = error_of([OUTER, ("java.lang.IllegalStateException", message)])
    assert advice in str(error)
    assert error.retry_helps is retry


def test_anything_else_is_the_innermost_cause_in_one_line() -> None:
    error = error_of([OUTER, ("java.io.IOException", "disk full\nat x\nat y")])
    assert str(error).startswith("the query `match` has stopped: IOException: disk full. Start")


def test_last_line_of_what_is_no_traceback() -> None:
    assert last_line("gone") == "gone"


OF_A_DEAD_JVM = [
    ConnectionRefusedError(111, "Connection refused"),
    ConnectionResetError(104, "Connection reset by peer"),
    BrokenPipeError(32, "Broken pipe"),
    EOFError(),
    Py4JNetworkError("Answer from Java side is empty"),
]
OF_A_JVM_THAT_MAY_LIVE = [
    Py4JError("An error occurred while calling o1.start. Trace:\n\tat x"),
    PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={}),
]
OF_ANYBODY = [TypeError("'JavaPackage' object is not callable"), AttributeError("start"), OSError(9, "Bad file")]


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("error", [*OF_A_DEAD_JVM, *OF_A_JVM_THAT_MAY_LIVE, *OF_ANYBODY], ids=repr)
def test_a_jvm_that_was_killed_is_one_line_however_it_shows(error: Exception, alive: bool) -> None:
    if alive and error in OF_ANYBODY:
        with pytest.raises(type(error)), foreseen(lambda: alive):
            raise error
        return
    with pytest.raises(SparkFailedError) as failure, foreseen(lambda: alive):
        raise error
    assert failure.value.retry_helps and "\n" not in str(failure.value)
    assert ("JVM has ended" in str(failure.value)) is (not alive or error in OF_A_DEAD_JVM)


def test_errors_of_ours_pass() -> None:
    ours = TidewireError("no")
    with pytest.raises(TidewireError) as failure, foreseen(lambda: False):
        raise ours
    assert failure.value is ours


def test_a_jvm_lives_as_long_as_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        gateway: Any = SimpleNamespace(proc=process)
        monkeypatch.setattr(SparkContext, "_gateway", gateway)
        assert jvm_is_alive(0.05)
        process.kill()
        assert not jvm_is_alive()
    monkeypatch.setattr(SparkContext, "_gateway", None)
    assert not jvm_is_alive()
