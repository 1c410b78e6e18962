"""What one reader is still to be sent.

A reader that keeps up hears every delivery, in order. While it does not take what it was sent (`take` is not asked
again), the mailbox holds for each subscription what stands for all that is new (`Missed`), and never more: a stopped
reader costs the same after a minute as after a day, and nobody waits for it. Where that has more than `MOST_BYTES` in
all, it is let go (`lost`), and the reader has to be told the newest answers in its place.

For the event loop only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from connectors.http.stream import Portion
from overlay.push.mark import Heard, mark_text
from overlay.push.message import Missed, Told

MOST_WAITING = 20_000
MOST_BYTES = 262_144
HEARTBEAT_SECONDS = 15.0
NOWHERE = (-1, -1)
_SLACK = 0.1
"""Seconds that progress may come early: a pulse that is a moment before its time does not skip a turn."""

Progress = tuple[tuple[int, int], bytes]
"""(epoch, batch) and the record that says it."""


class Mailbox:
    """Of a stream with several subscriptions, numbered from 0.

    Args:
        heard: where the reader stands already.
        progress_seconds: how often it wants progress while nothing changes; 0: each time.
        clock: seconds.
    """

    def __init__(self, heard: Sequence[Heard], progress_seconds: float, clock: Callable[[], float]) -> None:
        self._heard = list(heard)
        self._waiting: list[bytes] = []
        self._missed: dict[int, Missed] = {}
        self._missed_bytes = 0
        self._busy = False
        self._bell = asyncio.Event()
        self._end: tuple[int, bytes] | None = None
        self._homes: dict[int, Progress] = {}
        self._progress: Progress | None = None
        self._told_progress = NOWHERE
        self._progress_seconds = progress_seconds
        self._clock = clock
        self._sent = clock()

    def follow(self, homes: Iterable[int]) -> None:
        """Say which virtual edges the subscriptions have: progress is told as far as all of them have come."""
        self._homes = dict.fromkeys(homes, (NOWHERE, b""))

    def put(self, subscription: int, told: Sequence[Told]) -> None:
        """Add messages of one subscription, in order. Cost: 0.1 us each for a reader that keeps up, else 1 us."""
        if self._busy or self._missed or len(self._waiting) >= MOST_WAITING:
            self._miss(subscription, told)
        else:
            self._waiting += [one.line for one in told]
            self._heard[subscription] = told[-1].mark
        self._bell.set()

    @property
    def lost(self) -> list[int]:
        """The subscriptions whose newest answer must be put before the reader takes more, see `find`."""
        return [subscription for subscription, missed in self._missed.items() if missed.lost]

    def find(self, lost: Iterable[int]) -> None:
        """Let messages of these subscriptions follow again, beginning with a newest answer."""
        self._busy = False
        for subscription in lost:
            self._missed.pop(subscription, None)
        self._catch_up()

    def _miss(self, subscription: int, told: Sequence[Told]) -> None:
        missed = self._missed.setdefault(subscription, Missed())
        before = missed.size
        missed.add(told)
        self._missed_bytes += missed.size - before
        if self._missed_bytes > MOST_BYTES:
            for one_missed in self._missed.values():
                if one_missed.size:
                    one_missed.lose()
            self._missed_bytes = 0

    def say(self, line: bytes) -> None:
        """Add a message that is about no answer."""
        self._waiting.append(line)
        self._bell.set()

    def progress(self, home: int, at: tuple[int, int], line: bytes) -> None:
        """Note how far a virtual edge has come. It is told with the next message, or when it is time (`pulse`)."""
        if home in self._homes:
            self._homes[home] = (at, line)
        slowest = min(self._homes.values(), default=(NOWHERE, b""))
        if slowest[0] > self._told_progress:
            self._progress = slowest
            if not self._progress_seconds:
                self._bell.set()

    def pulse(self) -> None:
        """Wake the reader for progress that has waited long enough, or for a sign of life."""
        if self._progress_is_due or self._silent >= HEARTBEAT_SECONDS:
            self._bell.set()

    def end(self, retry_ms: int, line: bytes) -> None:
        """Let the stream end behind what waits, with `line`, saying when to come back."""
        self._end = (retry_ms, line)
        self._bell.set()

    async def take(self) -> Portion:
        """Return what the reader is to be sent next; waits until there is something."""
        self._busy = False
        while True:
            self._catch_up()
            if self._waiting or self._end or self._progress_is_due or self._silent >= HEARTBEAT_SECONDS:
                self._busy = True
                return self._portion()
            self._bell.clear()
            await self._bell.wait()

    @property
    def _silent(self) -> float:
        return self._clock() - self._sent

    @property
    def _progress_is_due(self) -> bool:
        return self._progress is not None and self._silent >= self._progress_seconds - _SLACK

    def _catch_up(self) -> None:
        """Turn what was missed into messages; what is lost stays so."""
        for subscription, missed in list(self._missed.items()):
            if not missed.lost:
                self._waiting += missed.lines()
                self._heard[subscription] = missed.mark or self._heard[subscription]
                del self._missed[subscription]
        self._missed_bytes = 0

    def _portion(self) -> Portion:
        lines, self._waiting = self._waiting, []
        if self._progress is not None and (lines or self._progress_is_due):
            self._told_progress, line = self._progress
            self._progress = None
            lines.append(line)
        if self._end is not None:
            lines.append(self._end[1])
        self._sent = self._clock()
        mark = mark_text(self._told_progress[0], self._heard) if lines else ""
        return Portion(lines, mark, self._end[0] if self._end is not None else None)
