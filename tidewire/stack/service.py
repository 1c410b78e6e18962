"""What the long-running commands share: logs on standard error, a stop on SIGTERM or Ctrl-C, and their exit codes."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable

import structlog
import typer
from structlog.typing import Processor

from state.errors import TidewireError, UserError
from tidewire.stack.failure import StackError

CANNOT_GO_ON = 9
"""Exit code: the service has ended, and starting it again does not help."""


def configure_logs(level: str, as_json: bool = False) -> None:
    """Send the logs of all rooms to standard error, one line an event; as JSON objects with `as_json`."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: Processor = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler(sys.stderr)
    last: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        render,
    ]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    # It logs every lost connection with its trace, where the engine says in one line that the JVM has ended.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger("tidewire").setLevel(level.upper())


def run_service(run: Callable[[threading.Event], None]) -> None:
    """Run a service until SIGTERM, SIGHUP or Ctrl-C set its event, then let it end by itself.

    Raises:
        typer.Exit: with `CANNOT_GO_ON`, when it ended with an error that a new start does not mend.
        TidewireError: any other error that it ended with.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        run(stop)
    except TidewireError as error:
        if error.retry_helps or isinstance(error, UserError | StackError):
            raise
        print(f"tidewire: {error}", file=sys.stderr)
        raise typer.Exit(CANNOT_GO_ON) from error
