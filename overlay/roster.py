"""The subscriptions of a virtual edge: slots, shapes, index and registrations, kept in step with each other.

Every change is noted, so that a step's delta is what changed and not what there is. The index and the queue of
registrations are not stored: they follow from the slots.

Invariants (`check`): 1 the index holds exactly the synced slots whose region is not empty; 2 a shape is there if and
only if a slot has it, and counts its slots; 3 what is to be registered awaits a snapshot.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from catalog.column_type import ColumnType, Kind
from catalog.compiler import Compiled
from catalog.relation import Relation
from catalog.shape import Region, Shape
from overlay.edge_state import Delta, ShapeState, SlotState, Values, columns_of, values_of
from overlay.registrations import Registrations
from overlay.shape_table import ShapeEntry, ShapeTable
from overlay.slot_table import SlotTable
from overlay.subscription_index import SubscriptionIndex
from state.change_batch import I64


class Roster:
    """Who is subscribed, to what, and what was changed since `changes` was last asked."""

    def __init__(self) -> None:
        self.slots = SlotTable()
        self.shapes = ShapeTable()
        self.index = SubscriptionIndex()
        self.registrations = Registrations()
        self._touched: set[int] = set()
        self._moved: list[I64] = []
        self._entered: set[int] = set()
        self._dropped: set[int] = set()

    def shape_of(self, slot: int) -> ShapeEntry:
        """Return the shape of a slot in use."""
        return self.shapes[int(self.slots.shape[slot])]

    def add(self, key: bytes, version: int, compiled: Compiled, relation: Relation) -> int:
        """Take in an accepted subscription; it waits for its snapshot, in place of what waited before for this id."""
        waiting = self.slots.waiting.get(key)
        if waiting is not None:
            self.retire(waiting)
        known = self.shapes.get(compiled.region.shape)
        entry = known or self.shapes.enter(compiled.region.shape, relation, compiled.type)
        if known is None:
            self._entered.add(entry.number)
        entry.count += 1
        slot = self.slots.add(key, version, entry.number, compiled.region, compiled.sql, compiled.cost)
        self._touched.add(slot)
        return slot

    def retire(self, slot: int) -> None:
        """Forget a subscription everywhere."""
        self.index.remove(slot)
        self.registrations.unsent.pop(slot, None)
        entry = self.shape_of(slot)
        entry.count -= 1
        if not entry.count:
            self.shapes.drop(entry.number)
            self.registrations.unused[entry.shape] = entry
            self._entered.discard(entry.number)
            self._dropped.add(entry.number)
        self.slots.free(slot)
        self._touched.add(slot)

    def sync(self, slot: int, value: int, known: bool, n: int) -> None:
        """Write the answer of a snapshot; `enlist` must follow before messages are applied."""
        self.slots.sync(slot, value, known, n)
        self.registrations.unsent.pop(slot, None)

    def enlist(self, slots: list[int]) -> None:
        """Enter newly synced slots into the index. Cost: O(log n) each."""
        table = self.slots
        chosen = np.array(slots, np.int64)
        self._moved.append(chosen)
        chosen = chosen[~table.empty[chosen]]
        groups = [table.groups[slot] for slot in chosen.tolist()]
        self.index.insert(chosen, table.shape[chosen].astype(np.int64), groups, table.lo[chosen], table.hi[chosen])

    def move(self, slots: I64, value: I64, known: np.ndarray, n: I64) -> None:
        """Write new answers of synced slots."""
        self.slots.value[slots], self.slots.known[slots], self.slots.n[slots] = value, known, n
        self._moved.append(slots)

    def next_era(self) -> None:
        """Stop following the shards: every subscription awaits a snapshot again."""
        self.slots.next_era()
        self.index.clear()
        self.registrations.unsent.clear()
        self.registrations.unused.clear()

    def register_all(self) -> None:
        """Queue all that awaits a snapshot for registration, in the order of versions."""
        self.registrations.unsent = {slot: None for _, slot in sorted(self.slots.awaiting.items())}

    def changes(self) -> Delta:
        """Return what changed since the last call (without a head). Cost: O(changes)."""
        table = self.slots
        used = [slot for slot in sorted(self._touched) if table.ids[slot] is not None]
        freed = [slot for slot in sorted(self._touched) if table.ids[slot] is None]
        delta = Delta(
            dropped_shapes=sorted(self._dropped),
            shapes=[_shape_state(self.shapes[number]) for number in sorted(self._entered)],
            freed=freed,
            slots=[self._slot_state(slot) for slot in used],
            values=self._values(),
        )
        self._touched, self._moved, self._entered, self._dropped = set(), [], set(), set()
        return delta

    def whole(self) -> Delta:
        """Return all there is (without a head). Cost: O(slots)."""
        shapes = sorted(self.shapes, key=lambda entry: entry.number)
        slots = [self._slot_state(slot) for slot in self.slots.used()]
        return Delta(shapes=[_shape_state(entry) for entry in shapes], slots=slots)

    def apply(self, delta: Delta) -> None:
        """Take in a stored delta; after the last one call `settle`."""
        for number in delta.dropped_shapes:
            if self.shapes.has(number):
                self.shapes.drop(number)
        for shape in delta.shapes:
            self.shapes.put(_shape_entry(shape))
        for freed in delta.freed:
            self.slots.reserve(freed)
            self.slots.ids[freed] = None
        for state in delta.slots:
            self._fill(state)
        slot, value, known, n, era = columns_of(delta.values)
        table = self.slots
        table.value[slot], table.known[slot], table.n[slot], table.eras[slot] = value, known, n, era

    def settle(self, era: int) -> None:
        """Build what follows from the slots: maps, counts, index. Cost: O(slots log slots)."""
        self.slots.era = era
        self.slots.settle()
        used = self.slots.used()
        for number, count in Counter(self.slots.shape[used].tolist()).items():
            self.shapes[number].count = count
        self.enlist([slot for slot in used if self.slots.synced(slot)])
        self._moved.clear()

    def _values(self) -> Values:
        if not self._moved:
            return Values()
        moved = np.unique(np.concatenate(self._moved))
        table = self.slots
        moved = moved[[table.ids[slot] is not None and slot not in self._touched for slot in moved.tolist()]]
        return values_of(moved, table.value[moved], table.known[moved], table.n[moved], table.eras[moved])

    def _slot_state(self, slot: int) -> SlotState:
        table = self.slots
        return SlotState(
            slot,
            table.key(slot),
            int(table.version[slot]),
            table.sqls[slot],
            table.costs[slot],
            int(table.shape[slot]),
            table.groups[slot],
            int(table.lo[slot]),
            int(table.hi[slot]),
            bool(table.empty[slot]),
            int(table.value[slot]),
            bool(table.known[slot]),
            int(table.n[slot]),
            int(table.eras[slot]),
        )

    def _fill(self, state: SlotState) -> None:
        table = self.slots
        table.reserve(state.slot)
        region = Region(self.shapes[state.shape].shape, state.group, state.lo, state.hi, state.empty)
        table.fill(state.slot, state.key, state.version, state.shape, region, state.sql, state.cost)
        table.value[state.slot], table.known[state.slot] = state.value, state.known
        table.n[state.slot], table.eras[state.slot] = state.n, state.era

    def check(self) -> None:
        """Check the invariants of the module's header, and those of the parts. Raises AssertionError."""
        self.slots.check()
        self.index.check()
        table = self.slots
        used = table.used()
        listed = [slot for slot in used if table.synced(slot) and not table.empty[slot]]
        assert sorted(self.index.slots()) == listed, (1, listed)
        counts = Counter(table.shape[used].tolist())
        assert {entry.number: entry.count for entry in self.shapes} == counts, (2, counts)
        assert set(self.registrations.unsent) <= set(table.awaiting.values()), (3, self.registrations.unsent)


def _shape_state(entry: ShapeEntry) -> ShapeState:
    kind = (entry.type.kind.value, entry.type.precision, entry.type.scale)
    return ShapeState(entry.number, entry.shape.key, entry.born, entry.shard, entry.topic, kind)


def _shape_entry(state: ShapeState) -> ShapeEntry:
    kind, precision, scale = state.type
    type_ = ColumnType(Kind(kind), precision, scale)
    return ShapeEntry(state.number, Shape.from_key(state.key), state.born, state.shard, state.topic, type_)
