"""Time to live: which subscriptions are over by the time of a progress record.

A virtual edge has no clock; the time that counts is the one that progress records carry, so every run over the same
records ends the same subscriptions at the same place. A TTL begins with the first progress after its subscription
was taken; until then its slot's `expires` is -TTL, then seconds since 1970 (INT64_MAX: no TTL).
Cost: O(log n) a subscription with a TTL, O(1) a progress that ends none.
"""

from __future__ import annotations

import datetime as dt
import heapq

from overlay.roster import Roster
from state.order_code import INT64_MAX


class Expiry:
    """A heap of (when, version, id) beside the column `expires`; what was retired since is passed over."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._heap: list[tuple[int, int, bytes]] = []
        self._new: dict[int, bytes] = {}

    def begin(self, slot: int, ttl: int | None) -> None:
        """Note the TTL (seconds) of a subscription that has just been taken."""
        if ttl is not None:
            slots = self._roster.slots
            slots.expires[slot] = -ttl
            self._new[int(slots.version[slot])] = slots.key(slot)

    def restore(self) -> None:
        """Begin anew from the column. Cost: O(slots)."""
        slots = self._roster.slots
        self._heap, self._new = [], {}
        for slot in slots.used():
            when, version = int(slots.expires[slot]), int(slots.version[slot])
            if when < 0:
                self._new[version] = slots.key(slot)
            elif when != INT64_MAX:
                heapq.heappush(self._heap, (when, version, slots.key(slot)))

    def due(self, time: str) -> list[int]:
        """Return the slots that are over at `time` (ISO 8601), by when they were."""
        if not self._heap and not self._new:
            return []
        now = seconds(time)
        if now is None:
            return []
        self._start(now)
        over = []
        while self._heap and self._heap[0][0] <= now:
            _, version, key = heapq.heappop(self._heap)
            slot = self._slot(version, key)
            if slot is not None:
                over.append(slot)
        return over

    def _start(self, now: int) -> None:
        slots = self._roster.slots
        for version, key in self._new.items():
            slot = self._slot(version, key)
            if slot is not None:
                when = now - int(slots.expires[slot])
                slots.expires[slot] = when
                self._roster.touch(slot)
                heapq.heappush(self._heap, (when, version, key))
        self._new = {}

    def _slot(self, version: int, key: bytes) -> int | None:
        slots = self._roster.slots
        for slot in (slots.live.get(key), slots.waiting.get(key)):
            if slot is not None and slots.version[slot] == version:
                return slot
        return None


def seconds(time: str) -> int | None:
    """Return a time as seconds since 1970 (UTC where it names no zone), None if it cannot be read."""
    try:
        moment = dt.datetime.fromisoformat(time)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return int(moment.timestamp() // 1)
