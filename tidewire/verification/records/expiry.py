"""Times to live: whether an end by TTL came, and came neither too early nor too late, by the time of progress.

An edge has no clock: a TTL begins with the first progress after the subscription was taken, and ends with the first
one whose time is at or behind the end. When a subscription was taken does not show from outside, but it was before
the progress behind its snapshot, and not before the first one there is; so there is a latest end, and an earliest.
Where its ack is kept, that says when it is to end (`expires`): a TTL behind one of these, and then exactly that holds.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from tidewire.verification.records.batches import Position


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


class Promise(NamedTuple):
    """What is known of a life's end by TTL: seconds, what its ack said, where its snapshot stands (-1: nowhere)."""

    ttl: int | None
    expires: int | None = None
    snapshot_offset: int = -1


def wrong_end(
    ticks: Sequence[Tick], whole: bool, promise: Promise, ended_offset: int, ended_at: Position
) -> str | None:
    """Say what is wrong with an end by TTL that stands at `ended_offset` of its edge's deliveries; None if nothing.

    `whole`: the deliveries are there from their beginning on. The end's position may be before the progress behind it:
    of an earlier epoch, if it came before its resync, or where something was lost, up to where it was followed.
    """
    ttl, expires, snapshot_offset = promise
    if ttl is None:
        return "it has no TTL"
    place = _behind(ticks, ended_offset)
    if place == len(ticks):
        return None
    if ended_at > ticks[place].at:
        return f"its position is not that of the progress behind it, {tuple(ticks[place].at)}"
    if whole and ticks[place].time < ticks[0].time + ttl:
        return f"no more than {ticks[place].time - ticks[0].time} s of {ttl} s were over"
    return None if expires is None else _broken(ticks, whole, ttl, expires, snapshot_offset, place)


def was_followed(ticks: Sequence[Tick], ended_offset: int, ended_at: Position) -> bool:
    """Whether an end stands at the position of the progress behind it, or in an earlier epoch."""
    place = _behind(ticks, ended_offset)
    return place == len(ticks) or ticks[place].at == ended_at or ticks[place].at.epoch != ended_at.epoch


def _broken(ticks: Sequence[Tick], whole: bool, ttl: int, expires: int, snapshot_offset: int, place: int) -> str | None:
    """Say how an end before the tick at `place` breaks its promise."""
    first = _behind(ticks, snapshot_offset)
    if whole and snapshot_offset >= 0 and all(tick.time != expires - ttl for tick in ticks[: first + 1]):
        return f"no progress up to its snapshot is {ttl} s before the time that its ack said"
    if ticks[place].time < expires:
        return f"{expires - ticks[place].time} s were left"
    if snapshot_offset >= 0 and any(tick.time >= expires for tick in ticks[first:place]):
        return "it was due at an earlier progress"
    return None


def _behind(ticks: Sequence[Tick], offset: int) -> int:
    """Return the place of the first progress behind an offset."""
    return bisect.bisect_right(ticks, offset, key=lambda tick: tick.log_offset)


def overdue(ticks: Sequence[Tick], promise: Promise, until_offset: int | None) -> bool:
    """Whether a subscription must have ended: its end or that of the log (None) stands at `until_offset`."""
    first = _behind(ticks, promise.snapshot_offset)
    if first == len(ticks) or promise.ttl is None:
        return False
    end = ticks[first].time + promise.ttl if promise.expires is None else promise.expires
    last = next((tick for tick in ticks[first:] if tick.time >= end), None)
    return last is not None and (until_offset is None or until_offset > last.log_offset)
