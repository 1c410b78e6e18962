"""The subscriptions of a virtual edge: slots, shapes, index and registrations, kept in step with each other.

Every change is noted, so that a step's delta is what changed and not what there is. The index and the queue of
registrations are not stored: they follow from the slots.

Invariants (`check`): 1 a synced slot that is not final, and whose region is not empty, stands in the one index of its
kind of shape, filters in `filters` and all others in `index`, and nobody else does; 2 a shape is there if and only if a
slot has it, and counts its slots; 3 what is to be registered awaits a snapshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.shape import AnyShape, shape_from_key
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.answer import Answer
from overlay.answers.answer_table import AnswerTable
from overlay.answers.list_layout import ListLayout
from overlay.answers.list_table import ListTable
from overlay.answers.shape_table import ShapeEntry, ShapeTable, once
from overlay.index.join_index import EdgeJoins, JoinIndex
from overlay.index.range_index import RangeIndex
from overlay.subscriptions.edge_state import (
    Delta,
    Digests,
    ShapeState,
    TypeState,
    Values,
    columns_of,
    digest_columns,
    digests_of,
    values_of,
)
from overlay.subscriptions.filter_book import FilterBook
from overlay.subscriptions.registrations import Registrations
from overlay.subscriptions.summaries import PATIENT, Patience, Summaries
from overlay.table.accepted_batch import AcceptedBatch
from overlay.table.slot_rows import Slots
from overlay.table.slot_storage import put_slots, stored_slots
from overlay.table.slot_table import NONE, SlotTable
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.occurrences import occurrences

_NONE = np.empty(0, np.int64)
_WHOLE = "WHOLE"
TOLD_APART = ("min_change", "final")
"""Policies under which what was told last is kept apart from the answer."""


class SubscriptionStore:
    """Who is subscribed, to what, and what was changed since `changes` was last asked."""

    def __init__(self, patience: Patience = PATIENT, joins: EdgeJoins | None = None) -> None:
        self.slots = SlotTable()
        self.shapes = ShapeTable()
        self.answers = AnswerTable()
        self.lists = ListTable()
        self.index = RangeIndex(self.answers)
        self.filters = FilterBook(self.slots, self.shapes, EdgeJoins(JoinIndex(), 0) if joins is None else joins)
        self.summaries = Summaries(self.slots, self.shapes, patience)
        self.registrations = Registrations(self.slots, self.shapes, self.answers, self.summaries)
        self._touched: list[I64] = []
        self._moved: list[I64] = []
        self._freed: set[int] = set()
        self._entered: set[int] = set()
        self._dropped: set[int] = set()

    def shape_of(self, slot: int) -> ShapeEntry:
        """Return the shape of a slot in use."""
        return self.shapes[int(self.slots.shape[slot])]

    def keeps_singly(self, slot: int) -> bool:
        """Whether a slot's answer is kept in `answers`: composite, or told by MIN CHANGE or FINAL, and no list."""
        entry = self.shape_of(slot)
        if entry.bag or entry.shown_images:
            return False
        return not (entry.plain or entry.counts) or self.slots.terms.of(slot).notify.kind in TOLD_APART

    def answer(self, slot: int) -> Answer:
        """Return the exact answer of a live slot that is no bag, wherever it is kept."""
        answer = self.lists.answer(slot) if slot in self.lists else self.answers.answer(slot)
        if answer is not None:
            return answer
        value = int(self.slots.value[slot])
        if self.shape_of(slot).counts:
            return ((value, 0),)
        return (value if self.slots.known[slot] else None,)

    def add(self, accepted: AcceptedBatch) -> I64:
        """Take in accepted subscriptions, and return their slots.

        They wait for their snapshots, in place of what waited before for their ids.
        Cost: 0.5 us each, 60 us a call.
        """
        _, waiting = self.slots.find_all(accepted.keys)
        self.retire(waiting[waiting != NONE])
        slots = self.slots.add(accepted, self._shapes(accepted))
        for i, bounds in accepted.bounds.items():
            self.answers.bound(int(slots[i]), *bounds)
        if accepted.final_at:
            when = np.array(list(accepted.final_at.values()), np.int64)
            self.slots.finals.set(slots[list(accepted.final_at)], when)
        self._touched.append(slots)
        return slots

    def retire(self, slots: I64) -> None:
        """Forget subscriptions, which differ, everywhere. Cost: 3 us each, 15 us a call."""
        if not len(slots):
            return
        self._delist(slots)
        for number, count in Counter(self.slots.shape[slots].tolist()).items():
            self._count_down(self.shapes[number], count)
        if len(self.answers):
            for slot in slots.tolist():
                self.answers.drop(slot)
        self.lists.drop(slots)
        self.slots.free(slots)
        self._freed.update(slots.tolist())

    def _count_down(self, entry: ShapeEntry, count: int) -> None:
        """Note that `count` subscriptions of a shape are over; with the last one it goes."""
        entry.count -= count
        self.summaries.went(entry, count)
        if not entry.count:
            self.shapes.drop(entry.number)
            self.registrations.unused |= dict.fromkeys(entry.channels, entry)
            self._entered.discard(entry.number)
            self._dropped.add(entry.number)

    def touch(self, slots: I64) -> None:
        """Note that slots changed in something beside their answers."""
        self._touched.append(slots)

    def start_lists(self, lists: Mapping[int, Sequence[bytes]]) -> None:
        """Write the lists of slots, as images of rows."""
        slots = np.array(list(lists), np.int64)
        self.lists.start([self._list_layout(slot) for slot in lists], slots, list(lists.values()))

    def _list_layout(self, slot: int) -> ListLayout:
        """Return how the rows of a slot's list are kept. Raises ValueError where its question asks for none."""
        layout = None if self.shape_of(slot).bag else self.shape_of(slot).plan
        if not isinstance(layout, ListLayout):
            raise ValueError(f"slot {slot} has a list of rows, but does not ask for one")
        return layout

    def number(self, slots: I64) -> I64:
        """Count a delivery of synced slots each time they stand there, and return its number."""
        nth, distinct, times = occurrences(slots)
        n: I64 = self.slots.n[slots] + nth + 1
        self.slots.n[distinct] += times
        self._moved.append(distinct)
        return n

    def moved(self, slots: I64) -> None:
        """Note that answers of synced slots changed."""
        self._moved.append(slots)

    def sync(self, slots: I64, value: I64, known: Bool, n: I64) -> None:
        """Write the answers of snapshots and enter the slots into the index. Cost: 1-2 us each."""
        self.slots.sync(slots, value, known, n)
        self.enlist(slots)

    def enlist(self, slots: I64) -> None:
        """Enter newly synced slots into the index of their kind. Cost: O(log n) each, a filter 10 us."""
        table = self.slots
        self._moved.append(slots)
        chosen = slots[~table.empty[slots]]
        if len(table.filters):
            mine = table.filters.are(chosen)
            self.filters.insert(chosen[mine])
            chosen = chosen[~mine]
        shapes, groups = table.shape[chosen].astype(np.int64), table.groups_of(chosen)
        domains, hearers = self.shapes.domains(shapes), self.shapes.hearers(shapes)
        self.index.insert(chosen, domains, groups, hearers, table.lo[chosen], table.hi[chosen])

    def finish(self, slots: I64) -> None:
        """Note that slots, which are live, are final: they keep their answers, and follow their shards no more."""
        self._delist(slots)
        self.slots.finals.tell(slots)
        for number, count in Counter(self.slots.shape[slots].tolist()).items():
            self.summaries.went(self.shapes[number], count)
        self._touched.append(slots)

    def _delist(self, slots: I64) -> None:
        """Take slots out of the index that they are in."""
        if len(self.slots.filters):
            mine = self.slots.filters.are(slots)
            self.filters.remove(slots[mine])
            slots = slots[~mine]
        self.index.remove_all(slots)

    def move(self, slots: I64, value: I64, known: Bool, n: I64) -> None:
        """Write new answers of synced slots."""
        self.slots.value[slots], self.slots.known[slots], self.slots.n[slots] = value, known, n
        self._moved.append(slots)

    def next_era(self) -> None:
        """Stop following the shards: every subscription awaits a snapshot again."""
        self.slots.next_era()
        self.index.clear()
        self.filters.clear()
        self.registrations.clear()

    def register_all(self) -> None:
        """Queue all that awaits a snapshot for registration, in the order of versions."""
        self.registrations.clear()
        self.registrations.queue(self.slots.awaiting())

    def changes(self) -> Delta:
        """Return what changed since the last call (without a head). Cost: O(changes).

        A slot that was freed and given again is among the freed ones too: what others keep of it is void.
        """
        table = self.slots
        touched = np.unique(np.concatenate(self._touched)) if self._touched else _NONE
        kept, moved = touched[table.is_used(touched)], self._moved_beside(touched)
        delta = Delta(
            dropped_shapes=sorted(self._dropped),
            shapes=[_shape_state(self.shapes[number]) for number in sorted(self._entered)],
            freed=sorted(self._freed),
            slots=stored_slots(table, kept) if len(kept) else Slots(),
            values=self._values(moved),
            answers=self._answer_records(),
            digests=self._digests(moved),
        )
        self._touched, self._moved = [], []
        self._freed, self._entered, self._dropped = set(), set(), set()
        return delta

    def whole(self) -> Delta:
        """Return all there is (without a head). Cost: O(slots)."""
        shapes = sorted(self.shapes, key=lambda entry: entry.number)
        slots = stored_slots(self.slots, self.slots.used()) if len(self.slots) else Slots()
        answers = [(slot, record) for slot, record in self.answers.all() if slot not in self.lists]
        answers += self.lists.records(self.lists.slots(), self.answers.bounds)
        answers.sort(key=itemgetter(0))
        return Delta(shapes=[_shape_state(entry) for entry in shapes], slots=slots, answers=answers)

    def _answer_records(self) -> list[tuple[int, bytes]]:
        """Return the records of answers that have changed, by slot; bounds stand before the list that has them."""
        lists = self.lists.records(self.lists.changed(), self.answers.bounds)
        return sorted([*self.answers.changed(), *lists], key=itemgetter(0))

    def apply(self, delta: Delta) -> None:
        """Take in a stored delta; after the last one call `rebuild`. Raises errors of any kind if it cannot be."""
        delta.slots.check()
        for number in delta.dropped_shapes:
            if self.shapes.has(number):
                self.shapes.drop(number)
        for shape in delta.shapes:
            self.shapes.put(_shape_entry(shape))
        for freed in delta.freed:
            self.answers.drop(freed)
        self.slots.put_freed(np.array(delta.freed, np.int64))
        put_slots(self.slots, delta.slots)
        for slot, record in delta.answers:
            self.answers.put(slot, record)
        moved, value, known, n, era = columns_of(delta.values)
        if len(moved) and moved.min() < 0:
            raise ValueError("answers of a slot below 0")
        table = self.slots
        table.value[moved], table.known[moved], table.n[moved], table.eras[moved] = value, known, n, era
        filters, *digest = digest_columns(delta.digests)
        if not table.filters.are(filters).all():
            raise ValueError("digests of slots that are no filters")
        if len(filters):
            table.filters.start(filters, *digest)

    def rebuild(self, era: int) -> None:
        """Build what follows from the slots: maps, counts, index. Cost: O(slots log slots)."""
        self.slots.era = era
        self.slots.rebuild()
        used = self.slots.used()
        for number, count in Counter(self.slots.shape[used].tolist()).items():
            self.shapes[number].count = count
        self._restore_lists()
        self.enlist(used[(self.slots.eras[used] == era) & ~self.slots.finals.told(used)])
        self._moved.clear()

    def _restore_lists(self) -> None:
        """Take the lists out of what was stored. Raises ValueError where somebody who asks for one has none."""
        lists = self.answers.taken_lists()
        slots = np.array(list(lists), np.int64)
        self.lists.restore([self._list_layout(slot) for slot in lists], slots, list(lists.values()))
        asking = self.slots.with_shapes([entry.number for entry in self.shapes if entry.shown_images])
        begun = asking[self.slots.n[asking] > 0]
        if not self.lists.are(begun).all():
            raise ValueError(f"slots {begun[~self.lists.are(begun)][:5].tolist()} have no list of rows")

    def _shapes(self, accepted: AcceptedBatch) -> I64:
        """Return the numbers of the shapes of subscriptions, which are counted."""
        numbers = []
        times = np.bincount(accepted.shape, minlength=len(accepted.shapes)).tolist()
        for asked, count in zip(accepted.shapes, times, strict=True):
            entry = self.shapes.get(asked.shape)
            if entry is None:
                entry = self.shapes.enter(*asked)
                self._entered.add(entry.number)
            entry.count += count
            numbers.append(entry.number)
        return np.array(numbers, np.int64)[accepted.shape]

    def _moved_beside(self, touched: I64) -> I64:
        """Return the slots of which only the answer changed: not those of `touched`, which are stored whole."""
        if not self._moved:
            return _NONE
        moved = distinct_numbers(np.concatenate(self._moved))[0]
        moved = moved[self.slots.is_used(moved)]
        return moved[~np.isin(moved, touched, assume_unique=True)] if len(touched) else moved

    def _values(self, moved: I64) -> Values:
        table = self.slots
        if not len(moved):
            return Values()
        return values_of(moved, table.value[moved], table.known[moved], table.n[moved], table.eras[moved])

    def _digests(self, moved: I64) -> Digests:
        filters = self.slots.filters
        moved = moved[filters.are(moved)]
        if not len(moved):
            return Digests()
        return digests_of(moved, filters.rows[moved], filters.low[moved], filters.high[moved])

    def check(self) -> None:
        """Check the invariants of the module's header, and those of the parts. Raises AssertionError."""
        self.slots.check()
        self.index.check()
        table = self.slots
        used = table.used()
        self.filters.check()
        self.lists.check()
        listed = used[(table.eras[used] == table.era) & ~table.empty[used] & ~table.finals.told(used)]
        are_filters = np.isin(table.shape[listed], self.shapes.filters)
        assert (are_filters == table.filters.are(listed)).all(), (1, listed)
        assert sorted(self.index.slots()) == listed[~are_filters].tolist(), (1, listed)
        assert self.filters.slots().tolist() == listed[are_filters].tolist(), (1, listed)
        counts = Counter(table.shape[used].tolist())
        assert {entry.number: entry.count for entry in self.shapes} == counts, (2, counts)
        assert set(self.registrations.queued().tolist()) <= set(table.awaiting().tolist()), "3"


def _shape_state(entry: ShapeEntry) -> ShapeState:
    types = tuple(_type_state(type_) for type_ in (*entry.types, *entry.tested_types))
    range_type = _type_state(entry.range_type)
    return ShapeState(entry.number, entry.shape.key, entry.born, entry.shard, entry.topic, types, range_type)


def _shape_entry(state: ShapeState) -> ShapeEntry:
    shape, types = _shared(shape_from_key(state.key)), tuple(_type(type_) for type_ in state.types)
    own = len(types) - len(shape.tested) if isinstance(shape, FilterShape) else len(types)
    names = (state.born, state.shard, state.topic)
    return ShapeEntry(state.number, shape, *names, types[:own], _type(state.range_type), types[own:])


def _shared(shape: AnyShape) -> AnyShape:
    """Return a shape that was read, with what it has in common with other filters' there once."""
    if not isinstance(shape, FilterShape):
        return shape
    return FilterShape(
        relation=once(shape.relation),
        shown=once(shape.shown),
        outputs=once(shape.outputs),
        tested=tuple(map(once, shape.tested)),
        bucket=once(shape.bucket),
        keys=once(shape.keys),
    )


def _type_state(type_: ColumnType | None) -> TypeState | None:
    return None if type_ is None else (_WHOLE if type_.whole else type_.kind.value, type_.precision, type_.scale)


@lru_cache(1_024)
def _type(state: TypeState | None) -> ColumnType | None:
    if state is None:
        return None
    word, precision, scale = state
    whole = word == _WHOLE
    return ColumnType(Kind.DECIMAL if whole else Kind(word), precision, scale, whole)
