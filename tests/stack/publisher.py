"""Publishes in the background, at a steady rate, also across the death of a broker."""

from __future__ import annotations

import threading

from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from tests.stack.live_stack import eventually
from tests.stack.trades import Trades


class Publisher(threading.Thread):
    """Publishes as many records as it is allowed to, at a steady rate, and waits for a broker that is dead."""

    def __init__(self, kafka: KafkaProperties, seed: int, per_second: int = 300, prefix: str = "") -> None:
        super().__init__(daemon=True)
        self._producer = Producer(kafka, timeout=600)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.trades = Trades(seed)
        self._prefix = prefix
        self.allowed = 0
        self._pause = 10 / per_second
        self.sent = 0

    def run(self) -> None:
        while not self._ended.wait(self._pause):
            for _ in range(min(10, self.allowed - self.sent)):
                self.send(self._next())
                self.sent += 1

    def _next(self) -> OutRecord:
        record = self.trades.next()
        return OutRecord(self._prefix + record.topic, record.partition, record.key, record.value)

    def send(self, *records: OutRecord) -> None:
        with self._lock:
            for record in records:
                self._producer.send(record)

    def burst(self, count: int) -> None:
        """Publish `count` records at once, beyond what is allowed; only while the thread waits for more."""
        for _ in range(count):
            self.send(self._next())
        self.sent += count
        self.allowed = max(self.allowed, self.sent)

    def await_sent(self, count: int) -> None:
        self.allowed = max(self.allowed, count)
        eventually(lambda: self.sent >= count, f"{count} records to be sent")

    def flush(self) -> None:
        """Return when the broker has everything that was sent."""
        with self._lock:
            self._producer.flush()

    def finish(self) -> None:
        """Return when the broker has everything."""
        self._ended.set()
        self.join()
        self.flush()
