"""What the server's libraries log of others' doing: one line, and few of one kind.

    10 lines of a kind a minute are logged; the first one of a later minute says how many more there were.

A kind is a message without its values, with the kind of its error. What a peer does (it leaves, it sends what is no
HTTP) is logged without a trace; an error of ours keeps its trace, and has the same limit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import h11
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected
from websockets.exceptions import WebSocketException

LINES = 10
SECONDS = 60.0
_LOGGERS = ("uvicorn.error", "asyncio", "sse_starlette.sse")
_OTHERS_DOING = (
    OSError, EOFError, ClientDisconnect, ClientDisconnected, WebSocketDisconnect, WebSocketException, h11.ProtocolError,
)  # fmt: skip
_MOST_KINDS = 1_000


@dataclass(slots=True)
class _Kind:
    since: float
    lines: int = 0


class RepeatLimit(logging.Filter):
    """Lets few lines of one kind through, and takes the traces of others' doing away."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds: dict[tuple[object, ...], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether it is logged. Cost: O(1)."""
        error = record.exc_info[1] if record.exc_info else None
        left_out = self._count((record.name, record.levelno, str(record.msg)[:80], type(error)))
        if left_out is None:
            return False
        said = record.getMessage().strip()
        if isinstance(error, _OTHERS_DOING):
            said = f"{_first_line(said)} ({type(error).__name__}: {_first_line(str(error))})"
            record.exc_info = record.exc_text = None
        if left_out:
            said = f"{said} ({left_out} more like it before)"
        record.msg, record.args = said, None
        return True

    def _count(self, kind: tuple[object, ...]) -> int | None:
        """Return how many were left out before this one, None if this one is."""
        now = self._clock()
        seen = self._kinds.get(kind)
        if seen is not None and now - seen.since < SECONDS:
            seen.lines += 1
            return 0 if seen.lines <= LINES else None
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
        self._kinds[kind] = _Kind(now, 1)
        return max(0, seen.lines - LINES) if seen is not None else 0


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def limit_logs() -> None:
    """Limit what the libraries of the server log in this process; once is enough, and twice is no more."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(one, RepeatLimit) for one in logger.filters):
            logger.addFilter(RepeatLimit())
