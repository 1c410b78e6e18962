"""Whole subscriptions as they are stored: numbers in rows of fixed width, texts end to end, what is shared once.

    rows       ROW[n]        numbers; places among `groups`, `terms`, `templates`; sizes of id and literals
    keys       ids end to end
    literals   of the statements, end to end (`overlay/table/statement_texts.py`)
    groups, terms, templates   each that some row has, once
    filters    FILTER_ROW[n], only where some row is a filter's (`overlay/table/slot_filters.py`)
    constants  of filters, each that some row has, once
    finals     FINAL_ROW[n], only where some row becomes final (`overlay/table/final_column.py`)

A record carries all that its rows refer to, so it can be read alone.
Cost: 82 bytes a row beside its texts; 0.3 us to write and 1 us to take in, the index left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from catalog.sql.notify import NONE as WITHOUT_ROWS
from catalog.sql.notify import PACKED, PUSH, RECORDS, ROWS, Notify
from overlay.arena.text_arena import cut
from overlay.table.final_column import FINAL_ROW, FinalRows
from overlay.table.slot_filters import FILTER_ROW, NONE, FilterRows
from overlay.table.statement_texts import WHOLE, written
from state.byte_runs import byte_runs
from state.change_batch import I64
from state.order_code import INT64_MAX

ROW = np.dtype(
    [
        ("slot", "<i4"), ("version", "<i8"), ("shape", "<i4"), ("lo", "<i8"), ("hi", "<i8"), ("empty", "?"),
        ("value", "<i8"), ("known", "?"), ("n", "<i8"), ("era", "<i4"), ("expires", "<i8"),
        ("group", "<i4"), ("term", "<i4"), ("template", "<i4"), ("key_size", "<i4"), ("literals_size", "<i4"),
    ]
)  # fmt: skip
Rows = npt.NDArray[np.void]
MOST_SLOTS = 2**26
"""More than a virtual edge ever has: slots are numbered without gaps."""


class Terms(NamedTuple):
    """What was agreed on beside the question: class of cost, which changes are told, how, and what comes first.

    certainty: what may still become of an answer about streams; '' where nothing is said (`Compiled`).
    """

    cost: str
    notify: Notify
    deliver: str = RECORDS
    snapshot: str = ROWS
    certainty: str = ""

    @property
    def by_key(self) -> bool:
        """Whether rows are told by their primary key: when they enter or leave, whatever else changes of them."""
        return self.notify.kind in ("transitions", "enter")


class StoredTerms(msgspec.Struct, array_like=True, frozen=True):
    """`Terms` on the wire; `amount` is a Decimal's text; the form is one of two flags, or none.

    without_rows: the snapshot is `none`.
    """

    cost: str
    kind: str
    amount: str
    percent: bool
    packed: bool = False
    pushed: bool = False
    without_rows: bool = False
    certainty: str = ""

    @classmethod
    def of(cls, terms: Terms) -> StoredTerms:
        """Return what stands for `terms`."""
        notify, deliver = terms.notify, terms.deliver
        forms = deliver == PACKED, deliver == PUSH, terms.snapshot == WITHOUT_ROWS
        return cls(terms.cost, notify.kind, str(notify.amount), notify.percent, *forms, terms.certainty)

    @property
    def terms(self) -> Terms:
        """What it stands for."""
        deliver = PACKED if self.packed else PUSH if self.pushed else RECORDS
        snapshot = WITHOUT_ROWS if self.without_rows else ROWS
        return Terms(
            self.cost, Notify(self.kind, Decimal(self.amount), self.percent), deliver, snapshot, self.certainty
        )


class Slots(msgspec.Struct, array_like=True, frozen=True):
    """Subscriptions, whole."""

    rows: bytes = b""
    keys: bytes = b""
    literals: bytes = b""
    groups: list[bytes] = []
    terms: list[StoredTerms] = []
    templates: list[tuple[str, ...]] = []
    filters: bytes = b""
    constants: list[bytes] = []
    finals: bytes = b""

    def __len__(self) -> int:
        return len(self.rows) // ROW.itemsize

    @property
    def table(self) -> Rows:
        """The rows, read only."""
        return np.frombuffer(self.rows, ROW)

    @property
    def filter_table(self) -> FilterRows:
        """What only filters have, by row, read only; no rows where none is a filter's."""
        return np.frombuffer(self.filters, FILTER_ROW)

    @property
    def final_table(self) -> FinalRows:
        """What rows have that become final, read only; no rows where none does."""
        return np.frombuffer(self.finals, FINAL_ROW)

    def check(self) -> None:
        """Raise ValueError unless rows refer to what is there, and ids and literals are as long as they say."""
        rows = self.table
        limits = {"slot": (0, MOST_SLOTS), "shape": (0, MOST_SLOTS), "group": (0, len(self.groups))}
        limits |= {"term": (0, len(self.terms)), "template": (WHOLE, len(self.templates))}
        for name, (low, end) in limits.items():
            if len(rows) and not low <= rows[name].min() <= rows[name].max() < end:
                raise ValueError(f"rows refer to a {name} that is not there")
        for name, data in (("key_size", self.keys), ("literals_size", self.literals)):
            sizes = rows[name].astype(np.int64)
            if (sizes < 0).any() or sizes.sum() != len(data):
                raise ValueError(f"{name} of all rows together is not {len(data)}")
        filters = self.filter_table
        if len(filters) not in (0, len(rows)):
            raise ValueError(f"{len(filters)} rows of filters, expected none or {len(rows)}")
        if len(self.final_table) not in (0, len(rows)):
            raise ValueError(f"{len(self.final_table)} rows of finals, expected none or {len(rows)}")
        if len(filters) and not NONE <= filters["constants"].min() <= filters["constants"].max() < len(self.constants):
            raise ValueError("rows refer to constants that are not there")


class SlotState(NamedTuple):
    """One subscription in full, for people and tests."""

    slot: int
    key: bytes
    version: int
    sql: str
    terms: Terms
    shape: int
    group: bytes
    lo: int
    hi: int
    empty: bool
    value: int
    known: bool
    n: int
    era: int
    expires: int
    constants: bytes = b""
    rows: int = 0
    digest: tuple[int, int] = (0, 0)
    final_at: int = INT64_MAX
    final: bool = False


def states_of(slots: Slots) -> list[SlotState]:
    """Return every subscription in full. Cost: 5 us each."""
    rows = slots.table
    column = {name: rows[name].tolist() for name in ROW.names or ()}
    literals = cut(slots.literals, rows["literals_size"].astype(np.int64))
    statements = [
        written(None if place == WHOLE else slots.templates[place], text)
        for place, text in zip(column["template"], literals, strict=True)
    ]
    terms = [one.terms for one in slots.terms]
    groups = [slots.groups[place] for place in column["group"]]
    shared = (statements, [terms[place] for place in column["term"]], column["shape"], groups)
    numbers = [column[name] for name in SlotState._fields[7:-5]]
    keys = cut(slots.keys, rows["key_size"].astype(np.int64))
    columns = (column["slot"], keys, column["version"], *shared, *numbers, *_filters_of(slots), *_finals_of(slots))
    return [SlotState(*row) for row in zip(*columns, strict=True)]


def _filters_of(slots: Slots) -> tuple[list[bytes], list[int], list[tuple[int, int]]]:
    """Return constants, count and digest of every subscription."""
    rows, count = slots.filter_table, len(slots)
    if not len(rows):
        return [b""] * count, [0] * count, [(0, 0)] * count
    constants = [b"" if place == NONE else slots.constants[place] for place in rows["constants"].tolist()]
    return constants, rows["rows"].tolist(), list(zip(rows["low"].tolist(), rows["high"].tolist(), strict=True))


def _finals_of(slots: Slots) -> tuple[list[int], list[bool]]:
    """Return when each subscription becomes final, and whether it is."""
    rows, count = slots.final_table, len(slots)
    return (rows["at"].tolist(), rows["told"].tolist()) if len(rows) else ([INT64_MAX] * count, [False] * count)


def parts_of(slots: Slots, most: int) -> Iterator[Slots]:
    """Cut subscriptions into parts of at most `most` bytes each (or one subscription).

    A row is counted with all that it refers to, so parts with much in common turn out smaller.
    """
    rows = slots.table
    if not len(rows):
        return
    widths = ROW.itemsize + rows["key_size"].astype(np.int64) + rows["literals_size"] + 24
    widths += _sizes([len(group) for group in slots.groups])[rows["group"]]
    widths += _sizes([sum(4 * len(part) + 5 for part in parts) for parts in slots.templates], 0)[rows["template"]]
    if slots.finals:
        widths += FINAL_ROW.itemsize
    if slots.filters:
        widths += FILTER_ROW.itemsize + _sizes([len(text) for text in slots.constants], 0)[_places(slots)]
    keys, literals = (_edges(rows[name]) for name in ("key_size", "literals_size"))
    for run in byte_runs(widths, most):
        yield _part(slots, run, (keys[run.start], keys[run.stop]), (literals[run.start], literals[run.stop]))


def _part(slots: Slots, which: slice, keys: tuple[int, int], literals: tuple[int, int]) -> Slots:
    rows = slots.table[which].copy()
    shared: dict[str, list[int]] = {}
    for name in ("group", "term", "template"):
        numbers, places = np.unique(rows[name], return_inverse=True)
        whole = int(numbers[0]) < 0
        rows[name] = places - whole
        shared[name] = numbers[int(whole) :].tolist()
    filters, constants = _filters_part(slots, which)
    return Slots(
        rows.tobytes(),
        slots.keys[slice(*keys)],
        slots.literals[slice(*literals)],
        [slots.groups[i] for i in shared["group"]],
        [slots.terms[i] for i in shared["term"]],
        [slots.templates[i] for i in shared["template"]],
        filters,
        constants,
        slots.final_table[which].tobytes(),
    )


def _filters_part(slots: Slots, which: slice) -> tuple[bytes, list[bytes]]:
    """Return what only filters have of some rows, nothing where none of them is a filter's."""
    rows = slots.filter_table[which].copy()
    mine = rows["constants"] != NONE
    if not mine.any():
        return b"", []
    numbers, rows["constants"][mine] = np.unique(rows["constants"][mine], return_inverse=True)
    return rows.tobytes(), [slots.constants[i] for i in numbers.tolist()]


def _places(slots: Slots) -> I64:
    return slots.filter_table["constants"].astype(np.int64)


def _sizes(sizes: Sequence[int], last: int | None = None) -> I64:
    """Return sizes by place; `last` is that of place -1."""
    return np.array([*sizes] if last is None else [*sizes, last], np.int64)


def _edges(sizes: npt.NDArray[np.int32]) -> list[int]:
    return [0, *np.cumsum(sizes, dtype=np.int64).tolist()]
