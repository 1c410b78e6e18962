"""Subscriptions that come and go: about as many stand at any moment, and no two moments have the same ones.

Ids come from a pool a quarter larger than what stands, so one that has ended is asked again some time later. The clock
is an argument.
"""

from __future__ import annotations

import heapq
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from connectors.record import OutRecord

_TTL = re.compile(r" TTL (\d+) SECONDS$")
_GRACE = 5.0


class Population:
    """`size` subscriptions; `counts` says how many came, were replaced, ended, expired so far."""

    def __init__(self, topic: str, size: int, seed: int, ask: Callable[[], dict[str, Any]]) -> None:
        self._topic = topic
        self._size = size
        self._choose = random.Random(seed)
        self._ask = ask
        self._standing: list[int] = []
        self._place: dict[int, int] = {}
        self._absent = list(range(size + size // 4 + 1))
        self._choose.shuffle(self._absent)
        self._asked: Counter[int] = Counter()
        self._due: list[tuple[float, int, int]] = []
        self.counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._standing)

    def first(self, now: float) -> Iterator[OutRecord]:
        """Yield what makes the population whole."""
        while len(self._standing) < self._size:
            yield self._come(now)

    def step(self, now: float, changes: int) -> Iterator[OutRecord]:
        """Yield `changes` replacements and ends, and as many new ones as have ended or expired."""
        self._expire(now)
        for _ in range(changes if self._standing else 0):
            id = self._choose.choice(self._standing)
            if self._choose.random() < 0.5:
                self.counts["replaced"] += 1
                yield self._question(id, now)
            else:
                self.counts["ended"] += 1
                self._go(id)
                yield OutRecord(self._topic, None, _name(id), None)
        yield from self.first(now)

    def _come(self, now: float) -> OutRecord:
        place = self._choose.randrange(len(self._absent))
        self._absent[place], self._absent[-1] = self._absent[-1], self._absent[place]
        id = self._absent.pop()
        self._place[id] = len(self._standing)
        self._standing.append(id)
        self.counts["came"] += 1
        return self._question(id, now)

    def _question(self, id: int, now: float) -> OutRecord:
        what = self._ask()
        self._asked[id] += 1
        ttl = ttl_of(what)
        if ttl is not None:
            heapq.heappush(self._due, (now + ttl + _GRACE, id, self._asked[id]))
        return OutRecord(self._topic, None, _name(id), json.dumps(what).encode())

    def _expire(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, id, version = heapq.heappop(self._due)
            if id in self._place and self._asked[id] == version:
                self.counts["expired"] += 1
                self._go(id)

    def _go(self, id: int) -> None:
        place, last = self._place.pop(id), self._standing.pop()
        if last != id:
            self._standing[place] = last
            self._place[last] = place
        self._absent.append(id)


def ttl_of(what: dict[str, Any]) -> int | None:
    """Return the time to live that a question asks for, in seconds.

    >>> ttl_of({"sql": "SELECT MIN(a) FROM t TTL 90 SECONDS"}), ttl_of({"sql": "", "ttl": 20}), ttl_of({"sql": ""})
    (90, 20, None)
    """
    found = _TTL.search(what["sql"])
    return int(found[1]) if found else what.get("ttl")


def _name(id: int) -> bytes:
    return b"s%07d" % id
