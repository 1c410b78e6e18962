"""What went wrong in Spark, as one message with its cause instead of 200 lines of two languages' traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql.streaming import StreamingQuery

from state.errors import TidewireError

_OWN_ERRORS = "state.errors."
_LONGEST = 2_000
_CALLING = "An error occurred while calling"

JVM_GONE = (Py4JNetworkError, ConnectionError, EOFError)
"""What a call into a JVM that was killed raises, if it notices by itself."""


class QueryFailedError(TidewireError):
    """A query has stopped by itself."""

    code = "query_failed"
    retry_helps = True


class SparkFailedError(TidewireError):
    """Spark's JVM has ended, or could not do what it was asked to do outside of a query."""

    code = "spark_failed"
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
        ("Python worker exited unexpectedly", "Python worker failed to connect back"),
        True,
        "One of Spark's Python workers was killed, or had too little memory. "
        "The engine goes on where it was when it is started again.",
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


@contextmanager
def foreseen(jvm_is_alive: Callable[[], bool]) -> Iterator[None]:
    """Make one readable error of whatever Spark raises in the block; errors of ours and of nobody else's pass.

    A JVM that is killed shows in many ways, also as a class that is no class: so any error counts as its death if
    `jvm_is_alive` says that it has died.

    Raises:
        SparkFailedError: starting the engine again can help.
    """
    try:
        yield
    except TidewireError:
        raise
    except JVM_GONE as error:
        raise jvm_ended(error) from error
    except Exception as error:
        if not jvm_is_alive():
            raise jvm_ended(error) from error
        if not isinstance(error, Py4JError | PySparkException):
            raise
        raise SparkFailedError(
            f"Spark could not do what it was asked to do: {one_line(error)} Start the engine again; if it comes back, "
            "report it."
        ) from error


def jvm_ended(reason: Exception) -> SparkFailedError:
    """Return the error to raise when Spark's JVM does not answer any more."""
    return SparkFailedError(
        f"Spark's JVM has ended ({one_line(reason).rstrip('.')}): it was killed, or had too little memory. "
        "The engine goes on where it was when it is started again."
    )


def one_line(error: BaseException) -> str:
    """Return what an error says without any trace, ending with a full stop; an error of ours as it is.

    >>> one_line(ValueError("no\\n\\tat x.y"))
    'ValueError: no.'
    """
    if isinstance(error, TidewireError):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    if lines[0].startswith(_CALLING) and len(lines) > 1:
        return f"{lines[1].removeprefix(': ')[:_LONGEST]}".rstrip(".") + "."
    return f"{type(error).__name__}: {lines[0][:_LONGEST]}".rstrip(".: ") + "."


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
