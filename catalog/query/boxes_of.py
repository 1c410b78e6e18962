"""The WHERE of a filter as boxes, for given constants: its disjunctive normal form over value sets.

    (a = 1 OR a = 2) AND (b > 5 OR c IS NULL)         a in {1, 2}, b > 5    OR    a in {1, 2}, c in {NULL}

Once for a template, conditions of *one* column under one AND or OR are gathered, wherever they stand there: they make
one value set, however many they are, so IN and `a = 1 OR a = 2` never multiply boxes. What is left of the tree are ANDs
and ORs of different columns. Boxes that are equal in all columns but one are one box again, and a box within another
one goes.

What is written out is bounded (`filter_terms.py`): a row is judged by looking at a filter's boxes one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from catalog.query.condition_set import ConditionSet
from catalog.query.condition_tree import Condition, Or, Tree
from catalog.query.filter_terms import MAX_BOXES, MAX_COLUMNS, MAX_INTERVALS, Box
from catalog.query.range_ends import EndSet
from catalog.query.value_set import ValueSet
from catalog.types.literal import ConstantRefused, LiteralKind

_FEW = 6
"""Boxes that are looked at pair by pair."""
_MOST_ON_THE_WAY = 4 * MAX_BOXES
"""Boxes of a part of a condition, which an AND around it may still make fewer."""

_MOST_WORK = 300_000
"""Pairs of boxes, and intervals, over all steps of writing a condition out: about half a second."""
_INSTEAD = "Register a subscription for each side of an OR; IN counts as one condition."


class ConditionTooLarge(ConstantRefused):
    """A condition has too many boxes, or boxes that are too large."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """Value sets of one column, all of them or any."""

    sides: tuple[_Values, ...]
    union: bool

    def values(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> ValueSet:
        first, *others = [side.values(kinds, texts) for side in self.sides]
        for other in others:
            first = first | other if self.union else first & other
        return first


AnySet = ConditionSet | EndSet
"""What one condition holds, of a column or of an end of a range."""
_Values = AnySet | _Joined


@dataclass(frozen=True, slots=True)
class OneColumn:
    """All conditions of the column at `place`."""

    place: int
    holds: _Values


@dataclass(frozen=True, slots=True)
class Product:
    """All of: conditions of different columns, and sums."""

    columns: tuple[OneColumn, ...]
    sums: tuple[Sum, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Any of: conditions of different columns, and products."""

    columns: tuple[OneColumn, ...]
    products: tuple[Product, ...]


BoxTree = OneColumn | Product | Sum


@dataclass(frozen=True, slots=True)
class BoxForm:
    """A condition that is ready to be written out. `all`: every value and NULL, of each column by its place."""

    tree: BoxTree | None
    all: dict[int, ValueSet]

    @classmethod
    def of(cls, tree: Tree | None, placed: Callable[[Condition], tuple[int, AnySet]]) -> BoxForm:
        """Gather the conditions of each column; `placed` gives the place of a condition's column, and what it holds."""
        all_: dict[int, ValueSet] = {}
        return cls(None if tree is None else _gather(tree, placed, all_), all_)

    def boxes(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> list[Box]:
        """Return the boxes for these constants. No condition is one box without columns.

        Cost: 2 us and that of the value sets, for what is one box. Raises ConstantRefused.
        """
        boxes = [{}] if self.tree is None else _Writer(self.all, kinds, texts).boxes(self.tree)
        _check(boxes)
        return boxes

    @property
    def conjunction(self) -> dict[int, list[AnySet]] | None:
        """The conditions of each column by its place, where all of them are to be met; None where there is an OR."""
        if self.tree is None or isinstance(self.tree, Sum):
            return None
        columns, sums = ((self.tree,), ()) if isinstance(self.tree, OneColumn) else (self.tree.columns, self.tree.sums)
        found = {column.place: _all_of(column.holds) for column in columns}
        every = {place: sets for place, sets in found.items() if sets is not None}
        return None if sums or len(every) < len(found) else every


class _Writer:
    """Writes out one condition for given constants. `left` is the work that it may still cost."""

    def __init__(self, all_: dict[int, ValueSet], kinds: Sequence[LiteralKind], texts: Sequence[str]) -> None:
        self._all = all_
        self._kinds = kinds
        self._texts = texts
        self._left = _MOST_WORK

    def boxes(self, tree: BoxTree) -> list[Box]:
        """Return the boxes of a part of the condition."""
        if isinstance(tree, Sum):
            parts = [self.boxes(column) for column in tree.columns]
            parts += [self.boxes(product) for product in tree.products]
            return self._fewer([box for part in parts for box in part])
        columns, sums = ((tree,), ()) if isinstance(tree, OneColumn) else (tree.columns, tree.sums)
        box: Box = {}
        held = True
        for column in columns:
            values = column.holds.values(self._kinds, self._texts)
            held = held and bool(values)
            if values != self._all[column.place]:
                box[column.place] = values
        parts = [self.boxes(side) for side in sums]
        boxes = [box] if held else []
        for part in parts:
            boxes = self._fewer(_multiplied(boxes, part))
        return boxes

    def _fewer(self, boxes: list[Box]) -> list[Box]:
        """Return boxes that hold the same rows, none of which is within another or could be united with it."""
        if len(boxes) < 2 or (len(boxes) <= _FEW and _are_apart(boxes)):
            return boxes
        different = set(map(_key, boxes))
        self._left -= len(different) ** 2 + sum(len(values.intervals) for box in different for _, values in box)
        if self._left < 0:
            raise ConditionTooLarge("the condition takes too many steps to write out as an OR of ANDs", _INSTEAD)
        if len(different) > 4 * _MOST_ON_THE_WAY:
            raise _too_many(len(different))
        merged = self._merged(sorted(different))
        if len(merged) > _MOST_ON_THE_WAY:
            raise _too_many(len(merged))
        return [box for box in merged if not any(_within(box, other) for other in merged if other is not box)]

    def _merged(self, boxes: list[_Key]) -> list[Box]:
        """Unite boxes that differ in one column alone, column by column, until there are no more such."""
        before = 0
        while before != len(boxes):
            before = len(boxes)
            for place in sorted({place for box in boxes for place, _ in box}):
                boxes = self._united(boxes, place)
        return [dict(box) for box in boxes]

    def _united(self, boxes: list[_Key], place: int) -> list[_Key]:
        """Unite boxes that differ in the column at a place alone."""
        rests: dict[_Key, ValueSet] = {}
        for box in boxes:
            values = next((values for at, values in box if at == place), self._all[place])
            rest = tuple([one for one in box if one[0] != place])
            rests[rest] = rests[rest] | values if rest in rests else values
        found = []
        for rest, values in rests.items():
            found.append(rest if values == self._all[place] else tuple(sorted([*rest, (place, values)])))
        return found


_Key = tuple[tuple[int, ValueSet], ...]


def _key(box: Box) -> _Key:
    return tuple(sorted(box.items()))


def _gather(tree: Tree, placed: Callable[[Condition], tuple[int, AnySet]], all_: dict[int, ValueSet]) -> BoxTree:
    if isinstance(tree, Condition):
        place, holds = placed(tree)
        all_[place] = holds.anything
        return OneColumn(place, holds)
    union = isinstance(tree, Or)
    columns: dict[int, list[_Values]] = {}
    others: list[Product | Sum] = []
    for side in _sides([_gather(side, placed, all_) for side in tree.sides], union):
        if isinstance(side, OneColumn):
            columns.setdefault(side.place, []).append(side.holds)
        else:
            others.append(side)
    gathered = tuple([OneColumn(place, _joined(sets, union)) for place, sets in columns.items()])
    if len(gathered) + len(others) == 1:
        return (*gathered, *others)[0]
    if union:
        return Sum(gathered, tuple([side for side in others if isinstance(side, Product)]))
    return Product(gathered, tuple([side for side in others if isinstance(side, Sum)]))


def _sides(sides: Iterable[BoxTree], union: bool) -> Iterator[BoxTree]:
    """Yield the sides of a tree; those of a side of the same kind in its place."""
    for side in sides:
        if union and isinstance(side, Sum):
            yield from side.columns
            yield from side.products
        elif not union and isinstance(side, Product):
            yield from side.columns
            yield from side.sums
        else:
            yield side


def _all_of(values: _Values) -> list[AnySet] | None:
    """Return the conditions that are to be met, None where some of them are joined by OR."""
    if isinstance(values, ConditionSet | EndSet):
        return [values]
    sides = [_all_of(side) for side in values.sides]
    sound = [side for side in sides if side is not None]
    return None if values.union or len(sound) < len(sides) else [one for side in sound for one in side]


def _joined(sets: list[_Values], union: bool) -> _Values:
    return sets[0] if len(sets) == 1 else _Joined(tuple(sets), union)


def _multiplied(boxes: Sequence[Box], others: Sequence[Box]) -> list[Box]:
    """Return what each box has in common with each other one, without what is empty."""
    found = []
    for box in boxes:
        for other in others:
            both = dict(box)
            for place, values in other.items():
                both[place] = both[place] & values if place in both else values
            if all(both.values()):
                found.append(both)
    return found


def _are_apart(boxes: Sequence[Box]) -> bool:
    """Whether no two of a few boxes can be one: each pair differs in two columns, and neither holds the other."""
    for i, box in enumerate(boxes):
        for other in boxes[:i]:
            if not (box.keys() <= other.keys() or other.keys() <= box.keys()):
                continue
            differing = sum([box.get(place) != other.get(place) for place in box.keys() | other.keys()])
            if differing < 2 or _within(box, other) or _within(other, box):
                return False
    return True


def _within(box: Box, other: Box) -> bool:
    """Whether all rows of a box are in the other one, which is another."""
    return other.keys() <= box.keys() and all(box[place].within(values) for place, values in other.items())


def _check(boxes: Sequence[Box]) -> None:
    if len(boxes) > MAX_BOXES:
        raise _too_many(len(boxes))
    for box in boxes:
        if len(box) > MAX_COLUMNS:
            what = f"{len(box)} columns are compared under one AND; at most {MAX_COLUMNS} are taken"
            raise ConditionTooLarge(what, "Compare fewer columns, or register a subscription for each part.")
        for values in box.values():
            if len(values.intervals) > MAX_INTERVALS:
                what = f"one column is compared with {len(values.intervals):,} values or ranges apart from each other"
                hint = f"At most {MAX_INTERVALS:,} are taken: register a subscription for each part."
                raise ConditionTooLarge(what, hint)


def _too_many(count: int) -> ConditionTooLarge:
    what = f"the condition, written out as an OR of ANDs, has {count:,} of them or more; at most {MAX_BOXES} are taken"
    return ConditionTooLarge(what, _INSTEAD)
