"""What some slots have beside the columns of `table/slot_table.py`: bounds that are bytes, answers kept one by one.

    bounds   (lo, hi) of a range attribute without order codes, lo <= key < hi (`catalog/query/shape.py`, `Region`)
    answer   where it is not one order code or a count, or where its policy is MIN CHANGE (`overlay/answers/answer.py`)
    last_told, untold_changes   for MIN CHANGE: the state that was told last, and how many changes came since

A slot without any of these costs nothing here. Slots whose answer is here have value 0 and known False in the columns
(`n` is always there); those with bounds have lo and hi 0, the index finds labels for them (`index/range_index.py`).

How a store keeps it in step: `bound(slot, lo, hi)` when a region with bytes is added (and `bounds(slot)` gives them
back for its registration), `drop(slot)` when a slot is freed. How it is stored: `changed()` gives records by slot for a
delta, `all()` for a snapshot; on restore `put` them **in the order in which they were written, every one of them**: a
record of a large DISTINCT says only which values came and went (and one of more than `MAX_MEMBER_BYTES` is made of
several), and reading a record twice is harmless. A delta's freed slots are dropped before its records are put.

Lists of rows are kept elsewhere (`answers/list_table.py`) and only read here: a list is stored whole with each change,
a long one in several records, which say where their rows begin.

Cost: about 200 bytes a slot that is here, and 70 a member of a DISTINCT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from operators.answer import Members, Part, Parts, apart, runs
from overlay.answers.answer import (
    AggregateAnswer,
    Answer,
    ListAnswer,
    PartState,
    SetAnswer,
    Value,
    answer_of,
    part_of,
    parts_of,
    state_of,
)
from state.byte_runs import byte_runs

Bounds = tuple[bytes, bytes]
MAX_MEMBER_BYTES = 800_000
"""At most so many bytes of members stand in a record."""


@dataclass(slots=True)
class StoredAnswer:
    """What is kept of one slot. `answer` None: it is not kept here. `last_told` counts only for MIN CHANGE."""

    bounds: Bounds | None = None
    answer: Answer | None = None
    last_told: PartState = None
    untold_changes: int = 0


class _Stored(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """A record: a `StoredAnswer`, or where it is not `complete` the difference of its members."""

    complete: bool
    bounds: Bounds | None = None
    parts: Parts | None = None
    last_told: Part | None = None
    untold_changes: int = 0
    gone: tuple[Value, ...] = ()
    came: tuple[Value, ...] = ()


class _StoredRows(_Stored, array_like=True, frozen=True, omit_defaults=True):
    """A record that may be of a list: its images from place `begin` on. Only lists are written so."""

    rows: tuple[bytes, ...] | None = None
    begin: int = 0


_DECODER = msgspec.msgpack.Decoder(_StoredRows)
_encode = msgspec.msgpack.Encoder().encode
_BYTES_A_ROW = 5


class AnswerTable:
    """`StoredAnswer` by slot, and which of them have changed since `changed` was last asked."""

    def __init__(self) -> None:
        self._stored: dict[int, StoredAnswer] = {}
        self._dirty: set[int] = set()
        self._differences: dict[int, dict[Value, bool]] = {}

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, slot: int) -> bool:
        return slot in self._stored

    def of(self, slot: int) -> StoredAnswer:
        """Return what is kept of a slot whose answer is here."""
        return self._stored[slot]

    def answer(self, slot: int) -> Answer | None:
        """Return the answer of a slot, None where it is not here (or not known yet)."""
        stored = self._stored.get(slot)
        return None if stored is None else stored.answer

    def bound(self, slot: int, lo: bytes, hi: bytes) -> None:
        """Keep the bounds of a new slot."""
        self._stored[slot] = StoredAnswer((lo, hi))
        self._dirty.add(slot)

    def bounds(self, slot: int) -> Bounds | None:
        """Return the bounds of a slot whose range attribute has no order codes, else None."""
        stored = self._stored.get(slot)
        return None if stored is None else stored.bounds

    def start(self, slot: int, answer: Answer) -> StoredAnswer:
        """Write the answer of a snapshot, which is told at once."""
        stored = self._stored.setdefault(slot, StoredAnswer())
        stored.answer, stored.untold_changes = answer, 0
        stored.last_told = answer[0] if isinstance(answer, tuple) else None
        self.touch(slot)
        return stored

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
        self._stored.pop(slot, None)
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
        read = _DECODER.decode(record)
        if read.rows is not None:
            self._put_rows(slot, read)
        elif read.complete:
            answer = None if read.parts is None else answer_of(read.parts)
            told = None if read.last_told is None else state_of(read.last_told)
            self._stored[slot] = StoredAnswer(read.bounds, answer, told, read.untold_changes)
        else:
            members = self._stored[slot].answer
            if not isinstance(members, SetAnswer):
                raise ValueError(f"slot {slot} has members that differ, but had none before")
            members.difference_update(read.gone)
            members.update(read.came)

    def _put_rows(self, slot: int, read: _StoredRows) -> None:
        """Take in a list, or a further piece of it."""
        if read.complete:
            self._stored[slot] = StoredAnswer(read.bounds, ListAnswer())
        rows = self._stored[slot].answer
        if not isinstance(rows, ListAnswer) or len(rows) < read.begin:
            raise ValueError(f"slot {slot} has rows from place {read.begin} on, but not those before")
        rows[read.begin :] = read.rows or ()

    def taken_lists(self) -> dict[int, ListAnswer]:
        """Return the lists of rows that `put` has read, and keep only the bounds of their slots."""
        lists = {slot: one.answer for slot, one in self._stored.items() if isinstance(one.answer, ListAnswer)}
        for slot in lists:
            self._stored[slot].answer = None
            if self._stored[slot].bounds is None:
                del self._stored[slot]
        return lists

    def all(self) -> Iterator[tuple[int, bytes]]:
        """Give everything, by slot. Cost: O(everything)."""
        for slot in sorted(self._stored):
            for record in self._records(slot):
                yield slot, record

    def _records(self, slot: int) -> Iterator[bytes]:
        """Yield all of a slot: one record, or where members are many, one with the first and others with the rest."""
        stored = self._stored[slot]
        if isinstance(stored.answer, tuple):
            yield _aggregate_record(stored, stored.answer)
            return
        first, *rest = (None,) if stored.answer is None else apart(parts_of(stored.answer), MAX_MEMBER_BYTES)
        told = None if stored.last_told is None else part_of(stored.last_told)
        yield msgspec.msgpack.encode(_Stored(True, stored.bounds, first, told, stored.untold_changes))
        for parts in rest:
            for more in parts or ():
                if isinstance(more, Members):  # nothing else is told apart
                    yield msgspec.msgpack.encode(_Stored(False, came=more.values))


def _aggregate_record(stored: StoredAnswer, answer: AggregateAnswer) -> bytes:
    """Return the record of an answer of aggregates: as `_Stored` with their parts is encoded. Cost: 1.5 us."""
    parts, told = tuple(map(_written, answer)), stored.last_told
    last = None if told is None else _written(told)
    return _encode((True, stored.bounds, parts, last, stored.untold_changes, (), ()))


def _written(state: PartState) -> tuple[str | int | None, ...]:
    """Return what stands in a record of the part that `answer.part_of` makes: as Tally and Extremum are encoded."""
    return ("t", state[0], format(state[1], "x")) if isinstance(state, tuple) else ("x", state)


def list_records(bounds: Bounds | None, rows: Sequence[bytes]) -> Iterator[bytes]:
    """Yield a list of rows as `AnswerTable.put` takes it, in records of at most `MAX_MEMBER_BYTES`, or one row more."""
    sizes = [len(row) + _BYTES_A_ROW for row in rows]
    for run in list(byte_runs(sizes, MAX_MEMBER_BYTES)) or [slice(0, 0)]:
        whole = run.start == 0
        record = _StoredRows(whole, bounds if whole else None, rows=tuple(rows[run]), begin=run.start)
        yield msgspec.msgpack.encode(record)


def _difference(noted: dict[Value, bool]) -> Iterator[bytes]:
    """Yield what came and went, in records of at most `MAX_MEMBER_BYTES`."""
    for came in (False, True):
        values = [value for value, has_come in noted.items() if has_come == came]
        for run in runs(values, MAX_MEMBER_BYTES):
            yield msgspec.msgpack.encode(_Stored(False, came=run) if came else _Stored(False, gone=run))
