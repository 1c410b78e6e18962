"""Records of `deliveries` as deliveries, whatever form they come in: one by one, packed, or cut into parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tidewire.client.packed_deliveries import PACKED_KEY, typed_deliveries, unpack_deliveries
from tidewire.client.records import PROGRESS_KEY, Delivery, Progress

Object = dict[str, Any]


class DeliveryReader:
    """Reads the records of any number of partitions, those of each in order.

    A delivery that was cut is given when its last part has come. Its parts come with one transaction, so a reader of
    committed records never begins or ends between them, but where Kafka has deleted the first ones: such are left out.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[Object]] = {}

    def read(self, key: bytes | None, value: bytes) -> Iterator[Delivery | Progress]:
        """Yield what a record holds. Raises msgspec.ValidationError, DecodeError or DeliveryUnreadable."""
        if key == PROGRESS_KEY:
            yield _PROGRESS.decode(value)
            return
        packed = typed_deliveries(value) if key == PACKED_KEY else None
        if packed is not None:
            yield from packed
        elif key == PACKED_KEY or b'"part":' in value:
            for found in self.objects(key, value):
                yield msgspec.convert(found, Delivery)
        else:
            yield _DELIVERY.decode(value)

    def objects(self, key: bytes | None, value: bytes) -> Iterator[Object]:
        """Yield what a record holds as JSON objects, members as docs/deliveries.md has them. Raises as `read`."""
        for found in unpack_deliveries(value) if key == PACKED_KEY else (msgspec.json.decode(value),):
            yield from (found,) if found.get("of", 1) == 1 else self._joined(found)

    def _joined(self, part: Object) -> Iterator[Object]:
        """Yield the delivery whose last part this is."""
        parts = self._parts.setdefault(part["id"], [])
        if part["part"] == 0:
            parts.clear()
        if part["part"] == len(parts):
            parts.append(part)
        if len(parts) == part["of"]:
            whole = self._parts.pop(part["id"])
            values = {name: [value for one in whole for value in one[name]] for name in ("removed", "added")}
            yield {name: value for name, value in (part | values).items() if name not in ("part", "of")}


_DELIVERY = msgspec.json.Decoder(Delivery)
_PROGRESS = msgspec.json.Decoder(Progress)
