"""Publishes at a steady rate and lets subscriptions come and go, also across the death of a broker."""

from __future__ import annotations

import threading
import time

from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from tests.soak.market import Market
from tests.soak.population import Population

_TICK_SECONDS = 0.02
_BURST = 200
PATIENCE = 600.0


class Flow(threading.Thread):
    """Keeps to the plan: what a dead broker held up is made good as fast as `_BURST` a tick allows.

    `failure` is what ended it early.
    """

    def __init__(
        self, kafka: KafkaProperties, market: Market, population: Population, rate: float, turnover: float
    ) -> None:
        """`rate`: publications a second. `turnover`: part of the population that is replaced or ended in a minute."""
        super().__init__(daemon=True)
        self._producer = Producer(kafka, timeout=PATIENCE)
        self._market = market
        self._population = population
        self._rate = rate
        self._changes_per_second = turnover * len(population) / 60
        self._ended = threading.Event()
        self.sent = 0
        self.changes = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        began = time.monotonic()
        try:
            while not self._ended.wait(_TICK_SECONDS):
                self._publish(time.monotonic() - began)
        except Exception as failure:
            self.failure = failure

    def finish(self) -> None:
        """Return when the broker has everything that was sent. Raises what ended it early, and KafkaFailure."""
        self._ended.set()
        self.join()
        if self.failure is not None:
            raise self.failure
        self._producer.flush()

    def _publish(self, seconds: float) -> None:
        for _ in range(min(int(seconds * self._rate) - self.sent, _BURST)):
            self._producer.send(self._market.next())
            self.sent += 1
        due = min(int(seconds * self._changes_per_second) - self.changes, _BURST)
        if due > 0:
            for record in self._population.step(seconds, due):
                self._producer.send(record)
            self.changes += due
