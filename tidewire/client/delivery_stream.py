"""Deliveries as an iterator: read committed, of some subscriptions or of all, with or without progress."""

from __future__ import annotations

from collections.abc import Iterator, Set

from connectors.kafka.light import LightReader
from connectors.kafka.partitioner import home_partition
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.packed_deliveries import PACKED_KEY
from tidewire.client.records import PROGRESS_KEY, Delivery, Progress


class DeliveryStream(Iterator[Delivery | Progress]):
    """Iterate; close it (or use `with`) when done. What ends by itself, without `follow`, closes itself.

    Its position is fixed when it is made, not at the first `next`: what is committed in between is not lost.
    `poll` gives what is there within a time, for those who have something else to do.
    """

    def __init__(
        self,
        reader: LightReader,
        topics: Topics,
        keys: Set[bytes] | None,
        *,
        follow: bool,
        from_beginning: bool,
        progress: bool,
    ) -> None:
        self._reader = reader
        self._keys = keys
        self._deliveries = DeliveryReader()
        self._progress = progress
        reader.assign(topics.deliveries, self._partitions(topics), at_end=follow and not from_beginning)
        self._records = self._follow() if follow else self._to_end()

    def __next__(self) -> Delivery | Progress:
        return next(self._records)

    def poll(self, timeout: float = 0.2) -> list[Delivery | Progress]:
        """Return what has come, waiting up to `timeout` seconds for the first record."""
        return [found for record in self._reader.poll(timeout) for found in self._read(record)]

    def close(self) -> None:
        """Leave the broker."""
        self._reader.close()

    def __enter__(self) -> DeliveryStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _partitions(self, topics: Topics) -> list[int]:
        every = self._reader.partitions(topics.deliveries)
        if self._keys is None or not every:
            return every
        return sorted({home_partition(key, len(every)) for key in self._keys})

    def _read(self, record: KafkaRecord) -> Iterator[Delivery | Progress]:
        """Yield what a record holds for us."""
        if record.value is None or not self._wanted(record.key):
            return
        for found in self._deliveries.read(record.key, record.value):
            if isinstance(found, Progress) or self._keys is None or found.id.encode() in self._keys:
                yield found

    def _wanted(self, key: bytes | None) -> bool:
        if key == PROGRESS_KEY:
            return self._progress
        return self._keys is None or key == PACKED_KEY or key in self._keys

    def _follow(self) -> Iterator[Delivery | Progress]:
        while True:
            yield from self.poll()

    def _to_end(self) -> Iterator[Delivery | Progress]:
        try:
            for record in self._reader.to_end():
                yield from self._read(record)
        finally:
            self.close()
