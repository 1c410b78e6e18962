"""Times to live: whether an end by TTL came, and came neither too early nor too late, by the time of progress.

An edge has no clock: a TTL begins with the first progress after the subscription was taken, and ends with the first
one whose time is at or behind the end. When a subscription was taken does not show from outside, but it was before
the progress behind its snapshot, and not before the first one there is; so there is a latest end, and an earliest.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from tidewire.verification.batches import Position


class Tick(NamedTuple):
    """A progress among the deliveries of an edge. `time` is in whole seconds since 1970."""

    log_offset: int
    at: Position
    time: int


def seconds(text: str) -> int | None:
    """Return an ISO time, UTC where it names no zone, in whole seconds since 1970; None if it cannot be read."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp() // 1)


def wrong_end(ticks: Sequence[Tick], whole: bool, ttl: int | None, ended_offset: int, ended_at: Position) -> str | None:
    """Say what is wrong with an end by TTL that stands at `ended_offset` of its edge's deliveries; None if nothing.

    `whole`: the deliveries are there from their beginning on. The end's position may be of an earlier epoch than the
    progress behind it, if it came before its resync.
    """
    if ttl is None:
        return "it has no TTL"
    place = bisect.bisect_right(ticks, ended_offset, key=lambda tick: tick.log_offset)
    if place == len(ticks):
        return None
    if ticks[place].at != ended_at and ticks[place].at.epoch == ended_at.epoch:
        return f"its position is not that of the progress behind it, {tuple(ticks[place].at)}"
    if whole and ticks[place].time < ticks[0].time + ttl:
        return f"no more than {ticks[place].time - ticks[0].time} s of {ttl} s were over"
    return None


def overdue(ticks: Sequence[Tick], ttl: int, snapshot_offset: int, until_offset: int | None) -> bool:
    """Whether a subscription must have ended: its snapshot stands at `snapshot_offset`, its end or that of the log
    (None) at `until_offset`.
    """
    first = bisect.bisect_right(ticks, snapshot_offset, key=lambda tick: tick.log_offset)
    if first == len(ticks):
        return False
    end = ticks[first].time + ttl
    last = next((tick for tick in ticks[first:] if tick.time >= end), None)
    return last is not None and (until_offset is None or until_offset > last.log_offset)
