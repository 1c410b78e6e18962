"""Publishes a story's events at a pace, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from connectors.kafka.producer import Producer
from connectors.record import OutRecord
from tidewire.demo.pace import Pace
from tidewire.demo.story import Event
from tidewire.demo.watch import Watch

STEP_SECONDS = 0.1


class Publisher:
    """Publishes `events` when `pace` says so; `watch` is told of each."""

    def __init__(self, catalog: Catalog, events: list[Event], pace: Pace, watch: Watch, producer: Producer) -> None:
        self._records = [(event.minute, _record(catalog, event)) for event in events]
        self._pace = pace
        self._watch = watch
        self._producer = producer
        self._number = 0
        self._stopped = threading.Event()
        self._failure: Exception | None = None

    def run(self, show: Callable[[str], object]) -> None:
        """Publish everything; `show` is called several times a second with how far the story is."""
        thread = threading.Thread(target=self._publish, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(STEP_SECONDS)
                show(self._pace.clock(self._number, self._records[self._number][0]))
        finally:
            self._stopped.set()
            thread.join(5)
        if self._failure is not None:
            raise self._failure

    def _publish(self) -> None:
        try:
            for number, (minute, record) in enumerate(self._records):
                while not self._stopped.is_set() and (wait := self._pace.wait(number, minute, self._watch.covered)) > 0:
                    self._producer.serve(min(wait, STEP_SECONDS))
                if self._stopped.is_set():
                    return
                self._number = number
                self._producer.send(record, partial(self._watch.published, record.topic))
            self._producer.flush()
        except Exception as error:  # raised again by `run`, in the thread of the one who called it
            self._failure = error


def _record(catalog: Catalog, event: Event) -> OutRecord:
    relation = catalog.relations[event.table]
    key = encode_key(relation, event.key)
    value = None if event.row is None else encode_row(relation, event.row)
    return OutRecord(relation.topic, event.partition, key, value)
