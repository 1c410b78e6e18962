"""Whether regions fit a relation: what an edge of another version, or damaged bytes, may ask of a shard that cannot be.

A region fits where its shape's channels can be bound to the relation's columns, its group has a value of the right kind
for each equality column, written canonically (it is compared by its bytes), and its bounds are of the range attribute's
kind and in order. An empty region is never looked up, so only its shape counts. Regions of filters: `filter_fit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from catalog.bulk.term_columns import TermColumns
from catalog.query.best_shape import BestShape
from catalog.query.channel import MOSTS
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import FUNCTIONS, AnyShape, Region, Shape, group_key
from catalog.schema.relation import Relation
from operators.channel_binding import ChannelError
from operators.channel_kinds import bind
from operators.filter_fit import FilterFit
from state.order_code import INT64_MAX, INT64_MIN


class _Asked(NamedTuple):
    """What regions of a shape must have, or why there can be none. `bounds`: the type of `lo` and `hi`."""

    shape: AnyShape
    why_none: str
    coded: tuple[bool, ...] = ()
    bounds: type = int
    filters: FilterFit | None = None


class RegionFit:
    """Judges regions of one relation. Cost: 0.2 us a region, 3 us for each new shape and group.

    Shapes are told apart by identity, since a record has each once, and to hash them takes longer than all else; they
    are kept, so that no other one gets the identity of one that was judged.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._shapes: dict[int, _Asked] = {}
        self._groups: dict[tuple[int, bytes], str] = {}

    def reasons(self, regions: Sequence[Region]) -> list[str]:
        """Return `why_not` of each region, the terms of filters read all at once. Cost: 1 us a filter."""
        read = self._read(regions)
        known: dict[tuple[object, ...], str] = {}
        reasons = []
        for i, region in enumerate(regions):
            if i not in read:
                reasons.append(self._why_not(region, False))
                continue
            alike = id(region.shape), region.group, region.lo, region.hi, region.empty
            reason = known.get(alike)
            if reason is None:
                reason = known[alike] = self._why_not(region, True)
            reasons.append(reason)
        return reasons

    def why_not(self, region: Region) -> str:
        """Return why `region` does not fit, '' where it does."""
        return self._why_not(region, False)

    def _read(self, regions: Sequence[Region]) -> set[int]:
        """Return the places of filters whose terms are sure to fit: order codes, of columns that have such."""
        shapes = {id(region.shape): region.shape for region in regions if region.terms}
        shapes = {name: shape for name, shape in shapes.items() if self._of(shape).filters is not None}
        places = [i for i, region in enumerate(regions) if region.terms and id(region.shape) in shapes]
        if not places:
            return set()
        number = {shape: i for i, shape in enumerate(shapes)}
        coded = [found.tested for shape in shapes.values() if (found := self._of(shape).filters) is not None]
        fits = np.full((len(coded), 2 + max(map(len, coded))), False)
        for i, columns in enumerate(coded):
            fits[i, : len(columns)] = columns
        terms = TermColumns.of([regions[i].terms for i in places])
        owners = terms.owners
        shape = np.array([number[id(regions[i].shape)] for i in places], np.int64)[owners]
        astray = ~fits[shape, np.minimum(terms.places, fits.shape[1] - 1)]
        sure = terms.taken & (np.bincount(owners[astray], minlength=len(places)) == 0)
        return {places[i] for i in sure.nonzero()[0].tolist()}

    def _of(self, shape: AnyShape) -> _Asked:
        asked = self._shapes.get(id(shape))
        if asked is None:
            asked = self._shapes[id(shape)] = self._asked(shape)
        return asked

    def _why_not(self, region: Region, read: bool) -> str:
        """Return why a region does not fit; `read`: its terms are known to."""
        shape, asked = id(region.shape), self._of(region.shape)
        if region.terms and asked.filters is None:
            return asked.why_none or f"terms {region.terms[:64]!r}, expected none for a shape of a range"
        if asked.why_none or region.empty:
            return asked.why_none
        reason = self._groups.get((shape, region.group))
        if reason is None:
            reason = self._groups[shape, region.group] = _why_no_group(region.group, asked.coded)
        if asked.filters is not None:
            return reason or asked.filters.why_not(region, read)
        lo, hi = region.lo, region.hi
        if type(lo) is not asked.bounds or type(hi) is not asked.bounds or lo > hi:  # type: ignore[operator]
            return reason or f"bounds {lo!r} and {hi!r}, expected two ordered ones of type {asked.bounds.__name__}"
        return reason

    def _asked(self, shape: AnyShape) -> _Asked:
        if isinstance(shape, FilterShape):
            filters = FilterFit(shape, self._relation)
            return _Asked(shape, filters.why_none, () if filters.why_none else filters.coded, filters=filters)
        return self._bound(shape, self._why_no_rows(shape) if isinstance(shape, BestShape) else _why_no_outputs(shape))

    def _why_no_rows(self, shape: BestShape) -> str:
        """Return why a shape of first rows is none, '' where it may be one."""
        if not 0 <= shape.limit <= MOSTS[-1]:
            return f"first {shape.limit} rows, expected at most {MOSTS[-1]}"
        unknown = sorted(set(shape.shown) - {column.name for column in self._relation.columns})
        return f"shown columns {unknown}, expected some of the table's" if unknown or not shape.shown else ""

    def _bound(self, shape: Shape | BestShape, why_none: str) -> _Asked:
        """Return what regions of a shape of ranges must have: its channels must fit the relation, too."""
        if why_none:
            return _Asked(shape, why_none)
        compared = [name for name in (*shape.equal, shape.range) if name is not None]
        if len(set(compared)) < len(compared):
            return _Asked(shape, f"a column compared twice: {compared}")
        try:
            for channel in shape.channels:
                bind(channel, self._relation)
        except ChannelError as error:
            return _Asked(shape, str(error))
        coded = tuple(self._relation.column(name).type.coded for name in shape.equal)
        ordered = shape.range is None or self._relation.column(shape.range).type.coded
        return _Asked(shape, "", coded, int if ordered else bytes)


def _why_no_outputs(shape: Shape) -> str:
    """Return why a shape of a range is none by its outputs, '' where it may be one."""
    functions = [output.function for output in shape.outputs]
    if not functions or ("distinct" in functions and len(functions) > 1):
        return f"outputs {functions}, expected some, DISTINCT alone"
    unknown = [function for function in functions if function not in FUNCTIONS]
    return f"outputs {unknown}, expected some of {', '.join(FUNCTIONS)}" if unknown else ""


def _why_no_group(group: bytes, coded: tuple[bool, ...]) -> str:
    try:
        values = msgspec.json.decode(group, type=tuple[int | str, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        values = None
    kinds = [isinstance(value, int) for value in values or ()]
    bounded = all(isinstance(value, str) or INT64_MIN <= value <= INT64_MAX for value in values or ())
    if values is None or tuple(kinds) != coded or not bounded or group_key(values) != group:
        expected = ["order code" if each else "text" for each in coded]
        return f"group {group[:64]!r}, expected a canonical array of {expected}"
    return ""
