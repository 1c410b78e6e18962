"""What some slots have beside the columns of `table/slot_table.py`: bounds that are bytes, answers kept one by one.

    bounds   (lo, hi) of a range attribute without order codes, lo <= key < hi (`catalog/query/shape.py`, `Region`)
    whole    the answer, where it is not one order code or where its policy is MIN CHANGE (`answers/answer_layout.py`)
    told     for MIN CHANGE: the state that was told last, and `untold`: how many changes came since

A slot without any of these costs nothing here. Slots whose answer is here have value 0 and known False in the columns
(`n` is always there); those with bounds have lo and hi 0, the index finds labels for them (`index/range_index.py`).

How a store keeps it in step: `bound(slot, lo, hi)` when a region with bytes is added (and `bounds(slot)` gives them
back for its registration), `drop(slot)` when a slot is freed. How it is stored: `changed()` gives records by slot for a
delta, `all()` for a snapshot; on restore `put` them **in the order in which they were written, every one of them**: a
record of a large DISTINCT says only which values came and went (and one of more than `MAX_MEMBER_BYTES` is made of
several), and reading a record twice is harmless. A delta's freed slots are dropped before its records are put.

Cost: about 200 bytes a slot that is here, and 70 a member of a DISTINCT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from operators.answer import Members, Part, Parts, apart, runs
from overlay.answers.answer_layout import PartState, Value, Whole, part_of, parts_of, state_of, states_of
from overlay.answers.quota import size_of

Bounds = tuple[bytes, bytes]
MAX_MEMBER_BYTES = 800_000
"""At most so many bytes of members stand in a record."""


@dataclass(slots=True)
class StoredAnswer:
    """What is kept of one slot. `whole` None: no answer is kept here. `told` counts only for MIN CHANGE."""

    bounds: Bounds | None = None
    whole: Whole | None = None
    told: PartState = None
    untold: int = 0
    _size: int = -1

    @property
    def members(self) -> set[Value]:
        """The values of a DISTINCT; to be changed by `turn` only."""
        assert isinstance(self.whole, set), "the answer is no DISTINCT"
        return self.whole

    @property
    def size(self) -> int:
        """How many bytes the texts among the members take (`quota.size_of`). Cost: O(members) once."""
        if self._size < 0:
            self._size = size_of(self.members)
        return self._size

    def turn(self, value: Value, came: bool) -> None:
        """Let a value come that is no member, or a member go."""
        if isinstance(value, str):
            self._size = self.size + (1 if came else -1) * size_of([value])
        (self.members.add if came else self.members.remove)(value)


class _Stored(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """A record: all of a `StoredAnswer`, or with `parts` None and `whole` False the difference of its members."""

    whole: bool
    bounds: Bounds | None = None
    parts: Parts | None = None
    told: Part | None = None
    untold: int = 0
    gone: tuple[Value, ...] = ()
    came: tuple[Value, ...] = ()


_DECODER = msgspec.msgpack.Decoder(_Stored)


class AnswerTable:
    """`StoredAnswer` by slot, and which of them have changed since `changed` was last asked."""

    def __init__(self) -> None:
        self._kept: dict[int, StoredAnswer] = {}
        self._dirty: set[int] = set()
        self._differences: dict[int, dict[Value, bool]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, slot: int) -> bool:
        return slot in self._kept

    def of(self, slot: int) -> StoredAnswer:
        """Return what is kept of a slot whose answer is here."""
        return self._kept[slot]

    def whole(self, slot: int) -> Whole | None:
        """Return the answer of a slot, None where it is not here (or not known yet)."""
        kept = self._kept.get(slot)
        return None if kept is None else kept.whole

    def bound(self, slot: int, lo: bytes, hi: bytes) -> None:
        """Keep the bounds of a new slot."""
        self._kept[slot] = StoredAnswer((lo, hi))
        self._dirty.add(slot)

    def bounds(self, slot: int) -> Bounds | None:
        """Return the bounds of a slot whose range attribute has no order codes, else None."""
        kept = self._kept.get(slot)
        return None if kept is None else kept.bounds

    def start(self, slot: int, whole: Whole) -> StoredAnswer:
        """Write the answer of a snapshot, which is told at once."""
        kept = self._kept.setdefault(slot, StoredAnswer())
        kept.whole, kept.untold, kept._size = whole, 0, -1
        kept.told = whole[0] if isinstance(whole, tuple) else None
        self.touch(slot)
        return kept

    def touch(self, slot: int) -> None:
        """Note that a slot's `StoredAnswer` was changed, in any way."""
        self._dirty.add(slot)
        self._differences.pop(slot, None)

    def note(self, slot: int, value: Value, came: bool) -> None:
        """Note that of a slot's `StoredAnswer` only this member was changed."""
        if slot not in self._dirty:
            self._differences.setdefault(slot, {})[value] = came

    def drop(self, slot: int) -> None:
        """Forget a slot, whether it is here or not."""
        self._kept.pop(slot, None)
        self._dirty.discard(slot)
        self._differences.pop(slot, None)

    def changed(self) -> list[tuple[int, bytes]]:
        """Return what changed since the last call, by slot. Cost: O(changes)."""
        records = [(slot, record) for slot in sorted(self._dirty) for record in self._records(slot)]
        for slot, noted in sorted(self._differences.items()):
            records += [(slot, record) for record in _difference(noted)]
        self._dirty, self._differences = set(), {}
        return records

    def put(self, slot: int, record: bytes) -> None:
        """Take in a record of `changed` or `all`. Raises msgspec.DecodeError."""
        stored = _DECODER.decode(record)
        if stored.whole:
            whole = None if stored.parts is None else states_of(stored.parts)
            told = None if stored.told is None else state_of(stored.told)
            self._kept[slot] = StoredAnswer(stored.bounds, whole, told, stored.untold)
            return
        members = self._kept[slot].whole
        assert isinstance(members, set), f"slot {slot} has members that differ, but had none before"
        members.difference_update(stored.gone)
        members.update(stored.came)

    def all(self) -> Iterator[tuple[int, bytes]]:
        """Give everything, by slot. Cost: O(everything)."""
        for slot in sorted(self._kept):
            for record in self._records(slot):
                yield slot, record

    def _records(self, slot: int) -> Iterator[bytes]:
        """Yield all of a slot: one record, or where members are many, one with the first and others with the rest."""
        kept = self._kept[slot]
        first, *rest = (None,) if kept.whole is None else apart(parts_of(kept.whole), MAX_MEMBER_BYTES)
        told = None if kept.told is None else part_of(kept.told)
        yield msgspec.msgpack.encode(_Stored(True, kept.bounds, first, told, kept.untold))
        for parts in rest:
            (more,) = parts or ()
            assert isinstance(more, Members), "only members are told apart"
            yield msgspec.msgpack.encode(_Stored(False, came=more.values))


def _difference(noted: dict[Value, bool]) -> Iterator[bytes]:
    """Yield what came and went, in records of at most `MAX_MEMBER_BYTES`."""
    for came in (False, True):
        values = [value for value, has_come in noted.items() if has_come == came]
        for run in runs(values, MAX_MEMBER_BYTES) if values else ():
            yield msgspec.msgpack.encode(_Stored(False, came=run) if came else _Stored(False, gone=run))
