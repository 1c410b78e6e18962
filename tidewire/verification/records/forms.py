"""The forms in which a delivery may stand in its topic, read a second time.

    record      key: the subscription's id; value: a JSON object
    packed      key: `@packed`; value: an Arrow stream, a row for each delivery; members are JSON texts, or absent
    parts       either of them, with `part` 0 … `of` - 1: together one delivery

A part says the same as its neighbours, but for `removed` and `added`, and its parts come in order with nothing of the
same subscription between them.

Rows of a bag stand in the order of their texts, within a part. That is seen where the texts are, so it is noted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa

from tidewire.verification.records.batches import Position
from tidewire.verification.records.journal import Record

PACKED = b"@packed"
_TEXTS = ("old", "new", "removed", "added", "at", "same", "whole", "key")
_MARKS = ("form", "snapshot", "same", "whole", "key")
Said = dict[str, Any]
"""What a delivery says of an answer: `old` and `new`, or `removed` and `added`, as JSON values.

Of rows also how: their `form`, that they are the `same` as told or the `whole` anew, the places of their `key`.
"""


class Where(msgspec.Struct, frozen=True):
    """The `at` of a delivery."""

    epoch: int
    batch: int
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    upto: str | None = None

    @property
    def position(self) -> Position:
        """The batch, without the causing record."""
        return Position(self.epoch, self.batch)


class Delivery(msgspec.Struct):
    """A delivery as it stands in the topic; `log_offset` and `row` are its own place there, `packed` is its form.

    It has `old` and `new`, or `removed` and `added`: read by `said`. `in_text_order`: the members of the latter ascend
    by their texts, in each part.
    """

    id: str
    kind: str
    version: int
    n: int
    at: Where
    old: Any = msgspec.UNSET
    new: Any = msgspec.UNSET
    removed: list[Any] | msgspec.UnsetType = msgspec.UNSET
    added: list[Any] | msgspec.UnsetType = msgspec.UNSET
    changes: int = 1
    sql: str | None = None
    reason: str | None = None
    part: int = 0
    of: int = 1
    log_offset: int = -1
    row: int = 0
    packed: bool = False
    form: str | None = None
    snapshot: str | None = None
    same: bool | None = None
    whole: bool | str | None = None
    key: list[int] | None = None
    certainty: str | None = None
    final_at: str | None = None
    in_text_order: bool = True

    @property
    def said(self) -> Said:
        """What it says of the answer."""
        told = {"old": self.old, "new": self.new, "removed": self.removed, "added": self.added}
        told = {name: value for name, value in told.items() if value is not msgspec.UNSET}
        return told | {name: getattr(self, name) for name in _MARKS if getattr(self, name) is not None}

    @property
    def is_known(self) -> bool:
        """Whether it has the members of one of the two forms, and only those."""
        return [name for name in self.said if name not in _MARKS] in (["old", "new"], ["removed", "added"])


class Malformed(ValueError):
    """A record, or the parts of a delivery, that cannot be read."""


class DeliveriesOf:
    """Reads the records of one partition, in order."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Delivery]] = {}

    def read(self, record: Record) -> Iterator[Delivery]:
        """Yield the whole deliveries that end with this record. Raises Malformed."""
        for row, found in enumerate(_rows(record)):
            try:
                delivery = msgspec.convert(found, Delivery)
            except msgspec.MsgspecError as error:
                raise Malformed(str(error)) from None
            if not delivery.is_known:
                raise Malformed(f"it has {', '.join(delivery.said) or 'no'} members")
            delivery.log_offset, delivery.row, delivery.packed = record.offset, row, record.key == PACKED
            if delivery.of != 1 or delivery.id in self._parts:
                yield from self._joined(delivery)
            else:
                yield delivery

    def unfinished(self) -> list[str]:
        """Return the ids of deliveries of which parts are missing at the end."""
        return sorted(self._parts)

    def _joined(self, part: Delivery) -> Iterator[Delivery]:
        parts = self._parts.setdefault(part.id, [])
        first = parts[0] if parts else part
        if part.part != len(parts) or _shell(part) != _shell(first):
            del self._parts[part.id]
            raise Malformed(f"part {part.part} of {part.of} of n = {part.n}, expected part {len(parts)} of {first.of}")
        parts.append(part)
        if len(parts) == part.of:
            whole = self._parts.pop(part.id)
            part.removed = [value for one in whole for value in one.said.get("removed", ())]
            part.added = [value for one in whole for value in one.said.get("added", ())]
            part.in_text_order = all(one.in_text_order for one in whole)
            yield part


def _shell(part: Delivery) -> tuple[Any, ...]:
    """Return what all parts of a delivery have in common."""
    marks = [getattr(part, name) for name in _MARKS]
    return part.kind, part.version, part.n, part.at, part.changes, part.sql, part.reason, part.of, part.packed, marks


class _Members(msgspec.Struct):
    """The members of a difference, as texts."""

    removed: list[msgspec.Raw] = []
    added: list[msgspec.Raw] = []

    @property
    def ascend(self) -> bool:
        """Whether they are in the order of their texts, on either side."""
        sides = [[bytes(text) for text in side] for side in (self.removed, self.added)]
        return all(side == sorted(side) for side in sides)


_MEMBERS = msgspec.json.Decoder(_Members)
_SIDE = msgspec.json.Decoder(list[msgspec.Raw])


def _rows(record: Record) -> Iterator[dict[str, Any]]:
    assert record.value is not None, "a tombstone is no delivery"
    try:
        if record.key != PACKED:
            found = msgspec.json.decode(record.value)
            yield found | {"in_text_order": _MEMBERS.decode(record.value).ascend} if "added" in found else found
            return
        for row in pa.ipc.open_stream(record.value).read_all().to_pylist():
            found = {
                name: msgspec.json.decode(value) if name in _TEXTS else value
                for name, value in row.items()
                if value is not None
            }
            sides = [_SIDE.decode(row[name]) for name in ("removed", "added") if row.get(name) is not None]
            yield found | {"in_text_order": _Members(*sides).ascend}
    except (msgspec.MsgspecError, pa.ArrowException, OSError, TypeError) as error:
        raise Malformed(str(error)) from None
