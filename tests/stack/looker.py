"""Looks at the rows of filters all the time, whatever is killed meanwhile; what was seen is judged afterwards.

A look says at which delivery (`version`, `n`) its rows hold. It is right if a subscriber who holds what came up to that
delivery holds the same rows; one who began empty-handed begins with the first look, and must then agree with the next.
"""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import httpx
import msgspec

from tests.stack.live_stack import LiveStack
from tidewire.client.client import Client
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery, Row


class Look(NamedTuple):
    """The rows of a subscription as they are at its delivery `n`."""

    version: int
    n: int
    rows: Counter[Row]


class Looker(threading.Thread):
    """Looks at one of `ids` after the other; `ids` may grow. `broken` counts looks that brought no rows, by why."""

    def __init__(self, stack: LiveStack, seed: int, ids: list[str]) -> None:
        super().__init__(daemon=True)
        self._stack = stack
        self._choose = random.Random(seed)
        self.ids = ids
        self._ended = threading.Event()
        self.looks: dict[str, list[Look]] = defaultdict(list)
        self.broken: Counter[str] = Counter()

    def run(self) -> None:
        with httpx.Client(timeout=30, follow_redirects=True) as http:
            while not self._ended.wait(0.1):
                if self.ids:
                    self._look(http, self._choose.choice(self.ids))

    def finish(self) -> None:
        """Look no more."""
        self._ended.set()
        self.join()

    def _look(self, http: httpx.Client, id: str) -> None:
        try:
            status = self._stack.directory.read_status()
            url = self._choose.choice(status["http"] if status else ["http://127.0.0.1:9"])
            response = http.get(f"{url}/subscriptions/{id}/rows")
        except httpx.HTTPError as error:
            self.broken[type(error).__name__] += 1
            return
        if response.status_code != 200:
            self.broken[str(response.status_code)] += 1
            return
        head, *rows = map(msgspec.json.decode, response.content.splitlines())
        if "key" in head:
            return  # who hears of comings and goings alone may hold older forms of the rows
        if len(rows) == head["rows"]:
            self.looks[id].append(Look(head["version"], head["n"], Counter(map(tuple, rows))))
        else:
            self.broken["cut off"] += 1

    def judged(self, client: Client) -> int:
        """Return how many looks agree with what was told; fail on the first that does not."""
        told: dict[str, list[Delivery]] = defaultdict(list)
        for delivery in client.deliveries(self.looks, follow=False, from_beginning=True):
            if isinstance(delivery, Delivery):
                told[delivery.id].append(delivery)
        return sum(agreeing(id, looks, told[id]) for id, looks in self.looks.items())


def agreeing(id: str, looks: Sequence[Look], told: Sequence[Delivery]) -> int:
    """Return how many of the looks at `id` agree with its deliveries, both in the order in which they came."""
    held, count, ahead = HeldAnswer(), 0, list(told)
    for look in sorted(looks, key=lambda look: look[:2]):
        while ahead and (ahead[0].version, ahead[0].n) <= look[:2]:
            held.take(ahead.pop(0))
        if held.mark != look[:2]:
            raise AssertionError(f"{id}: a look at {look[:2]}, where deliveries are at {held.mark}")
        if not held.whole:
            held.begin(look.version, look.n, list(look.rows.elements()))
        elif held.rows == look.rows:
            count += 1
        else:
            raise AssertionError(f"{id} at {look[:2]}: held {held.rows - look.rows}, looked up {look.rows - held.rows}")
    return count
