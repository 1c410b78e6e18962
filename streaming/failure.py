"""What went wrong in Spark, as one message with its cause instead of 200 lines of two languages' traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.streaming import StreamingQuery

from state.errors import TidewireError

_OWN_ERRORS = "state.errors."
_LONGEST = 2_000


class QueryFailedError(TidewireError):
    """A query has stopped by itself."""

    code = "query_failed"
    retry_helps = True


_KNOWN = (
    (
        ("data may have been lost", "failOnDataLoss", "OffsetOutOfRange"),
        False,
        "Records were trimmed, or a topic was deleted, before they were read, and answers would be wrong without them. "
        "Raise the topic's retention and start with a new checkpoint (`--take-over`).",
    ),
    (
        ("Concurrent update to the log", "Multiple streaming jobs", "CONCURRENT_STREAM_LOG_UPDATE"),
        False,
        "Another engine uses the same checkpoint. Stop one of them.",
    ),
    (
        ("RecordTooLargeException",),
        False,
        "A record is larger than the cluster takes: set `message.max.bytes` of the broker to 16777216.",
    ),
    (
        ("org.apache.kafka.common.errors.TimeoutException", "Timed out waiting for a node assignment"),
        True,
        "Is the Kafka broker up? The engine goes on where it was when it is started again.",
    ),
)


def explain_failure(query: StreamingQuery, name: str = "match") -> QueryFailedError | None:
    """Return the error to raise for a query, called `name`, that has failed, or None if it has not."""
    found = query._jsq.exception()
    if not found.isDefined():
        return None
    causes = [(cause.getClass().getName(), cause.getMessage() or "") for cause in _causes(found.get())]
    return error_of(causes, name)


def jvm_ended(reason: Exception) -> QueryFailedError:
    """Return the error to raise when Spark's JVM does not answer any more."""
    return _failed(
        f"Spark's JVM has ended ({reason}): it was killed, or had too little memory. "
        "The engine goes on where it was when it is started again.",
        retry=True,
    )


def error_of(causes: list[tuple[str, str]], query: str = "match") -> QueryFailedError:
    """Return the error of `query` for a chain of (class, message), outermost first."""
    whole = "\n".join(f"{name}: {message}" for name, message in causes)
    name, message = causes[-1]
    for signs, retry, advice in _KNOWN:
        if any(sign in whole for sign in signs):
            return _failed(f"{_short(name, message)} {advice}", retry, query)
    python = next((text for kind, text in reversed(causes) if kind.endswith("PythonException")), None)
    if python is not None:
        line = last_line(python)
        return _failed(f"in a worker: {line}", _OWN_ERRORS not in line, query)
    return _failed(f"{_short(name, message)} Start the engine again; if it comes back, report it.", True, query)


def last_line(traceback: str) -> str:
    """Return the exception that a Python traceback ends with, all its lines but the SQLSTATE that Spark adds.

    >>> last_line("Traceback (most recent call last):\\n  File x\\n    y\\nValueError: no\\n")
    'ValueError: no'
    """
    lines = [line for line in traceback.strip().splitlines() if not line.strip().startswith("SQLSTATE:")]
    start = max((i for i, line in enumerate(lines) if line.startswith("  ")), default=-1) + 1
    return "\n".join(lines[start:])[:_LONGEST]


def _failed(text: str, retry: bool, query: str = "match") -> QueryFailedError:
    error = QueryFailedError(f"the query `{query}` has stopped: {text}")
    error.retry_helps = retry
    return error


def _short(name: str, message: str) -> str:
    first = message.strip().split("\n", 1)[0][:_LONGEST]
    return f"{name.rsplit('.', 1)[-1]}: {first}".rstrip(".") + "."


def _causes(throwable: Any) -> Iterator[Any]:
    for _ in range(30):
        if throwable is None:
            return
        yield throwable
        throwable = throwable.getCause()
