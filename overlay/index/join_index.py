"""The fast way of joins of two tables: a change asks once who is concerned, however many rows it has with its partners.

Problem. A join question is a filter of joined rows. A change of one row comes, goes or changes with each of its
partners, so 20 partners are 20 changed rows, and asking an index of filters with each of them finds the same
subscriptions again and again.

Idea. Ask with the change's own values and the list of its partners' (`join_queries.py`) an index that holds the
ranges over both tables as one point (`overlay/index/range_set_index.py`). Who is met has a *run* of the partners,
which ascend by the value that its range is about:

    quote 7: 10 -> 12       partners   5    8    8    11
    a: price 9..11, size 6..20              └─ run ───┘      10 was in, 12 is not: three rows went
    b: price 9..20, size 5..5          └┘                    both are in: a row changed

One index serves all virtual edges of a process; what it was asked for a record is kept for the others, found by the
record's name. What came and went for whom is made of the runs by `overlay/maintain/join_fast_rows.py`.

Who fits is said by `join_form.py`; all others are followed the general way. A subscription's further conditions
are judged for the row and for each partner of its run (`join_further.py`).

Invariants (`check`), beside those of the parts: 1 fixed values are counted as the entries that are in have them; 2 a
form is there if and only if somebody is of it.
Cost: 3 to 10 us a change of 5 partners, by how many are met, see `python -m benchmarks.join_edge_cost`; a subscription
that comes 10 us, one that goes 2 us; beside the index 8 bytes each, where values are fixed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, column_name
from catalog.types.column_type import ColumnType, Kind
from operators.timeline import SentColumn, SentRows, Timeline
from overlay.arena.growable_column import widened
from overlay.index import join_index_kernels as kernels
from overlay.index.join_form import EVERYTHING, Constants, Form, fit, join_of_two
from overlay.index.join_further import FurtherConditions
from overlay.index.join_queries import STEP, FormRows, KeyedRows, Step, has_both
from overlay.index.join_values import EqualValues
from overlay.index.range_set_index import Asked, RangeSetIndex
from state.change_batch import I32, I64, Bool
from state.lifetimes import NEVER
from state.range_set_tree import LEAF
from state.range_set_tree import warm as warm_tree

_READINGS = 4
"""Of how many records the answers are kept, for virtual edges that are still to come to them: up to 15 MB each."""


class Hits(NamedTuple):
    """Whom changes of a timeline meet, in any order: a slot once a change, twice where its partners change.

    change: its index in the timeline.  slot.  start, stop: the run, in `partner`, versions of rows of the other table.
    kind: WAS, IS or both.
    """

    change: I64
    slot: I64
    start: I64
    stop: I64
    kind: kernels.I8

    def of(self, which: I64) -> Hits:
        """Return some of them."""
        return Hits(self.change[which], self.slot[which], self.start[which], self.stop[which], self.kind[which])


class StepHits(NamedTuple):
    """The hits of some changes, which are whole causes."""

    hits: Hits
    partner: I64


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the changes [first, last) asked, who is met of everybody, and their runs in `partner`.

    Of kind 0 is who is not met after all. What was asked and where it was met is not kept.
    """

    first: int
    last: int
    queries: I64
    asked: Asked
    partner: I64
    start: I64
    stop: I64
    kind: kernels.I8


class _Typed(NamedTuple):
    """A form, and the types of its equal columns by position: of tables that came again they may be others.

    Each virtual edge hears of that by itself, so for a while there may be subscriptions of before and after it.
    """

    form: Form
    types: tuple[tuple[ColumnType, ...], tuple[ColumnType, ...]]


class _OfForm:
    """The subscriptions of a form, beside their points. equal: by entry, the numbers of fixed values."""

    def __init__(self, number: int, typed: _Typed) -> None:
        self.number = number
        self.typed = typed
        self.form = typed.form
        self.values = EqualValues(typed.types[0]), EqualValues(typed.types[1])
        self.equal: I32 = np.zeros((0, 2), np.int32)
        self.further = FurtherConditions()

    def points(self, ones: Sequence[Constants]) -> tuple[I64, I64]:
        """Count subscriptions in; return the numbers of their fixed values, and their points."""
        whole = np.empty((len(ones), 4, 2), np.int64)
        for p in (0, 1):
            whole[:, p] = np.array([self.values[p].enter(one.equal[p]) for one in ones])[:, None]
            whole[:, 2 + p] = [one.range[p] for one in ones]
        return whole[:, :2, 0], whole[:, self.form.attributes].reshape(len(ones), -1)

    def enter(self, entries: I64, equal: I64, ones: Sequence[Constants]) -> None:
        """Note what entries have."""
        if any(self.form.equal):
            self.equal = widened(self.equal, int(entries.max()) + 1)
            self.equal[entries] = equal
        self.further.insert(entries, [one.further for one in ones])

    def leave(self, entries: I64) -> None:
        """Forget what entries have."""
        for p in (0, 1):
            numbers = self.equal[entries, p].tolist() if any(self.form.equal) else [0] * len(entries)
            for number in numbers:
                self.values[p].leave(number)
        self.further.remove(entries)


class JoinIndex:
    """The subscriptions of all virtual edges of a process that fit. `leaf`, `step`: see the parts; in tests tiny."""

    def __init__(self, leaf: int = LEAF, step: int = STEP) -> None:
        self._index = RangeSetIndex(leaf)
        self._step = step
        self._forms: dict[_Typed, _OfForm] = {}
        self._by_number: dict[int, _OfForm] = {}
        self._readings: OrderedDict[Hashable, dict[int, _Reading]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return self._index.nbytes

    # -- who is there ---------------------------------------------------------------------------------------------

    def insert(
        self, edge: int, slots: I64, shape: FilterShape, types: Mapping[str, ColumnType], terms: Sequence[bytes]
    ) -> Bool:
        """Put those subscriptions of one shape in that fit, and return which do. None of them may be in.

        types: of the columns that the shape compares.
        """
        fits = np.zeros(len(slots), np.bool_)
        if join_of_two(shape.relation) is None:
            return fits
        by_form: dict[Form, tuple[list[int], list[Constants]]] = {}
        for i, one in enumerate(terms):
            fitting = fit(shape, one)
            if fitting is not None:
                fits[i] = True
                places, constants = by_form.setdefault(fitting[0], ([], []))
                places.append(i)
                constants.append(fitting[1])
        for form, (places, constants) in by_form.items():
            of = self._opened(form, types)
            equal, points = of.points(constants)
            of.enter(self._index.insert(edge, of.number, slots[places], points), equal, constants)
        return fits

    def remove(self, edge: int, slots: I64) -> None:
        """Take those slots of a virtual edge out that are in."""
        self._left(self._index.remove(edge, slots))

    def forget(self, edge: int) -> None:
        """Take all that a virtual edge has out."""
        self._left(self._index.forget(edge))

    def has(self, edge: int, slots: I64) -> Bool:
        """Whether each of `slots` of a virtual edge is in."""
        return self._index.has(edge, slots)

    def slots(self, edge: int) -> I64:
        """Return the slots of a virtual edge that are in, ascending."""
        return self._index.slots(edge)

    def _opened(self, form: Form, types: Mapping[str, ColumnType]) -> _OfForm:
        first, second = (tuple(types[column_name((p, name))] for name in form.equal[p]) for p in (0, 1))
        typed = _Typed(form, (first, second))
        known = self._forms.get(typed)
        if known is None:
            known = self._forms[typed] = _OfForm(self._index.open(len(form.attributes)), typed)
            self._by_number[known.number] = known
        return known

    def _left(self, gone: Sequence[tuple[int, I64]]) -> None:
        for number, entries in gone:
            of = self._by_number[number]
            of.leave(entries)
            if not self._index.size(number):
                self._index.close(number)
                del self._by_number[number], self._forms[of.typed]

    # -- who is met -----------------------------------------------------------------------------------------------

    def hits(self, edge: int, timeline: Timeline, join: str, record: Hashable = None) -> Iterator[StepHits]:
        """Yield whom changes meet of a virtual edge's subscriptions to a join, form by form, step by step.

        The timeline tells what those need; what other virtual edges need that are ahead it may not tell yet. No cause
        is cut, and a slot is of one form. record: the same for all virtual edges that get this timeline, and for those
        alone; None: nobody else gets it.
        """
        if not has_both(timeline, join):
            return
        rows = _Rows(timeline, join, self._step)
        mine = [of for of in self._forms.values() if of.form.join == join and self._index.has_form(edge, of.number)]
        for of in mine:
            for reading in self._read(of, rows, record):
                which, slots = self._index.mine(edge, reading.asked)
                yield _hits(reading, which, slots)
                if self._index.has_later(edge, reading.asked):
                    again = rows.of(of).step(reading.first, reading.last)
                    asked, which, slots = self._index.later(edge, reading.asked, again.values, _asked(of, again))
                    yield _hits(self._judged(of, rows.of(of), again, asked), which, slots)

    def _read(self, of: _OfForm, rows: _Rows, record: Hashable) -> Iterator[_Reading]:
        """Yield what a form is asked; kept where it is one step, so that memory is bounded."""
        kept = self._kept(record)
        if of.number in kept:
            yield kept[of.number]
            return
        spans = rows.spans
        for first, last in spans:
            step = rows.of(of).step(first, last)
            asked = self._index.ask(of.number, step.values, _asked(of, step))
            reading = self._judged(of, rows.of(of), step, asked)
            if len(spans) == 1:
                kept[of.number] = reading
            yield reading

    def _judged(self, of: _OfForm, rows: FormRows, step: Step, asked: Asked) -> _Reading:
        """Find out which partners those who are met have in their ranges."""
        met, n = asked.met, len(asked.met.query)
        lows, highs = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
        attributes = of.form.attributes
        for p in (0, 1):
            lows[p], highs[p] = EVERYTHING
            if 2 + p in attributes:
                at = 2 * attributes.index(2 + p)
                lows[p], highs[p] = met.point[:, at], met.point[:, at + 1]
        start, stop, kind = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int8)
        _, *changes = rows.changes
        kernels.meet(met.query, lows, highs, step.queries, *changes, rows.xs, step.values, start, stop, kind)
        partner = of.further.sift(step, rows, met.query, met.entry, start, stop, kind)
        kept = Asked(asked.form, asked.moment, met._replace(point=met.point[:0]))
        return _Reading(step.first, step.last, step.queries, kept, partner, start, stop, kind)

    def _kept(self, record: Hashable) -> dict[int, _Reading]:
        """Return what forms were asked for a record, by form; the oldest record is forgotten."""
        if record is None:
            return {}
        kept = self._readings.setdefault(record, {})
        if len(self._readings) > _READINGS:
            self._readings.popitem(last=False)
        return kept

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n log n)."""
        self._index.check()
        for typed, of in self._forms.items():
            entries = self._index.entries(of.number)
            assert len(entries) and of.typed == typed and self._by_number[of.number] is of, (2, typed)
            of.further.check(entries)
            for p in (0, 1):
                of.values[p].check(of.equal[entries, p] if any(of.form.equal) else np.zeros(len(entries), np.int64))
        assert len(self._forms) == len(self._by_number), (2, self._forms)


class _Rows:
    """The rows of a timeline for each form, laid out when somebody asks."""

    def __init__(self, timeline: Timeline, join: str, step: int) -> None:
        self._timeline = timeline
        self._join = join
        self._step = step
        self._of: dict[int, FormRows] = {}

    @cached_property
    def keyed(self) -> KeyedRows:
        """The rows as all forms see them."""
        return KeyedRows(self._timeline, self._join)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """From where to where the changes of each step go."""
        return list(self.keyed.steps(self._step))

    def of(self, of: _OfForm) -> FormRows:
        """Return the rows as a form sees them."""
        if of.number not in self._of:
            self._of[of.number] = FormRows(self.keyed, of.form, of.values)
        return self._of[of.number]


def _asked(of: _OfForm, step: Step) -> I64:
    """Return the lists of the attributes that an index of a form has."""
    attributes = of.form.attributes
    return step.runs if len(attributes) == 4 else np.ascontiguousarray(step.runs[:, attributes])


def _hits(reading: _Reading, which: I64, slots: I64) -> StepHits:
    met = reading.kind[which] > 0
    which, slots = which[met], slots[met]
    change = reading.queries[reading.asked.met.query[which], kernels.CHANGE]
    hits = Hits(change, slots, reading.start[which], reading.stop[which], reading.kind[which])
    return StepHits(hits, reading.partner)


class EdgeJoins:
    """What one virtual edge has of `index`, by slot; nothing at first, whatever one of its number had before."""

    def __init__(self, index: JoinIndex, edge: int) -> None:
        self._index = index
        self._edge = edge
        index.forget(edge)

    def clear(self) -> None:
        """Take everything out."""
        self._index.forget(self._edge)

    @property
    def bytes_each(self) -> int:
        """Bytes of the index for each subscription in it."""
        return self._index.nbytes // max(len(self._index), 1)

    def insert(self, slots: I64, shape: FilterShape, types: Mapping[str, ColumnType], terms: Sequence[bytes]) -> Bool:
        """Put those of `slots` in that fit, and return which do: `JoinIndex.insert`."""
        return self._index.insert(self._edge, slots, shape, types, terms)

    def remove(self, slots: I64) -> Bool:
        """Take those of `slots` out that are in, and return which were."""
        were = self._index.has(self._edge, slots)
        self._index.remove(self._edge, slots[were])
        return were

    def slots(self) -> I64:
        """Return the slots that are in, ascending."""
        return self._index.slots(self._edge)

    def hits(self, timeline: Timeline, join: str, record: Hashable) -> Iterator[StepHits]:
        """Yield whom changes meet: `JoinIndex.hits`."""
        return self._index.hits(self._edge, timeline, join, record)


def warm() -> None:
    """Compile the kernels or load them from numba's cache, and refuse further specialisations of them.

    Cost: seconds where no cache is, else 0.3 s.
    """
    warm_tree()
    join, _ = Join.of(["a", "b"], [((0, "k"), (1, "k"))])
    shape = FilterShape(join.name, ("0.k",), (), ("0.k", "1.k"), (), ())
    index, once, known = JoinIndex(), np.zeros(1, np.int64), np.ones(1, np.bool_)
    rows = [
        SentRows(name, once - 1, once + NEVER, {(join.name, 0, p): once}, {"k": SentColumn(once, known)})
        for p, name in enumerate(join.tables)
    ]
    range_, further = ValueSet(((0, 1),)), ValueSet(((0, 1), (3, 4)))
    number = ColumnType(Kind.BIGINT)
    types = {"0.k": number, "1.k": number}
    for slot, terms in enumerate([{0: range_, 1: range_}, {0: range_, 1: further}]):
        index.insert(0, np.array([slot]), shape, types, [encode_terms([terms])])
    changes = (once, once, once - 1, once, once, once, ["a"], once, once, once)
    list(index.hits(0, Timeline((rows[0], rows[1]), *changes), join.name))
    for kernel in kernels.ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
