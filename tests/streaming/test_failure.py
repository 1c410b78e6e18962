from __future__ import annotations

import pytest

from streaming.failure import error_of, last_line

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
    said = "connectors.schema_registry.RegistryFailure: the schema registry http://x does not say what it is."
    error = error_of([OUTER, (PYTHON, TRACE + said + "\n")])
    assert (str(error), error.retry_helps) == (f"the query `match` has stopped: in a worker: {said}", True)


@pytest.mark.parametrize(
    ("message", "advice", "retry"),
    [
        ("Some data may have been lost because they are not available in Kafka any more", "retention", False),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log", "same checkpoint", False),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", "Is the Kafka broker up", True),
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
