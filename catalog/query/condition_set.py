"""What one condition holds, for given constants: a value set.

    condition                        holds                                        its opposite
    =  <  <=  >  >=                  one interval                                 one or two: the complement
    IN (1, 2, NULL)                  1 and 2                                      nothing: it may be that one
    LIKE 'ab%', starts_with          all texts from 'ab' up to before 'ac'        the complement
    IS NULL                          NULL                                         every value
    any comparison with NULL         nothing                                      nothing

What a constant is to a column of its type is in `catalog/types/literal.py`, as for ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from catalog.query.condition_tree import PLAIN
from catalog.query.like_pattern import beyond_prefix, read_pattern
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.query.value_set import NOTHING, ONLY_NULL, Interval, ValueSet, everything
from catalog.types.column_type import ColumnType
from catalog.types.literal import ConstantRefused, LiteralKind, Place, Placing, placing, text_of
from catalog.types.order_key import after, key_of_unscaled
from state.order_code import INT64_MAX, INT64_MIN

_FAR = 10**40
"""Beyond all codes and all unscaled values."""


@dataclass(frozen=True, slots=True)
class ConditionSet:
    """A condition of one column.

    operands: number of each constant, and whether a minus stands before it.  anything: every value and NULL.
    """

    column: str
    type: ColumnType
    operator: str
    operands: tuple[tuple[int, bool], ...]
    _everything: ValueSet
    anything: ValueSet
    _reach: tuple[int, int]
    _placing: Placing | None

    @classmethod
    def of(cls, column: str, type_: ColumnType, operator: str, operands: tuple[tuple[int, bool], ...]) -> ConditionSet:
        """Return what `column operator operands` is, the operator one of `condition_tree.OPPOSITES`."""
        return cls(column, type_, operator, operands, *_of_type(type_))

    def values(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> ValueSet:
        """Return what it holds. Cost: 1-3 us a constant. Raises ConstantRefused with `column` and `operand`."""
        operator = self.operator
        if operator == "null":
            return ONLY_NULL
        if operator == "not null":
            return self._everything
        intervals: list[Interval] = []
        known = True
        if operator in _PATTERNS:
            known = self._begins(kinds, texts, intervals)
        else:
            for i, negative in self.operands:
                if kinds[i] is LiteralKind.NULL:
                    known = False
                    continue
                try:
                    intervals += self._intervals(kinds[i], texts[i], negative)
                except ConstantRefused as e:
                    raise e.at(self.column, i) from None
        if not known and operator != "in":
            return NOTHING
        if len(intervals) != 1 or operator in _COMPLEMENTS:
            found = ValueSet.of(intervals)
            return found.complement(self._everything) if operator in _COMPLEMENTS else found
        return ValueSet(tuple(intervals))

    @property
    def ranged(self) -> bool:
        """Whether `interval` says all of what it holds."""
        return self.operator in PLAIN and self.type.coded

    def interval(self, kinds: Sequence[LiteralKind], texts: Sequence[str]) -> tuple[int, int]:
        """Return the least and the greatest code of what it holds, the one beyond the other where that is nothing.

        As `values`, without an object. Cost: 1 us. Raises ConstantRefused.
        """
        ((i, negative),) = self.operands
        if kinds[i] is LiteralKind.NULL:
            return INT64_MAX, INT64_MIN
        assert self._placing is not None, "only asked where it is `ranged`"
        try:
            low, high = _RANGES[self.operator](self._placing(self.type, kinds[i], texts[i], negative))
        except ConstantRefused as e:
            raise e.at(self.column, i) from None
        least, greatest = self._reach
        return max(low, least), min(high, greatest)

    def _intervals(self, kind: LiteralKind, text: str, negative: bool) -> list[Interval]:
        """Return what passes one comparison, or what does not pass its opposite: at most one interval."""
        if self._placing is None:
            found = text_of(self.type, kind, text, negative)
            assert found is not None, "NULL is dealt with before"
            key = found.encode()
            lo, hi = _TEXT_RANGES[self.operator](key)
            return [(lo, hi)] if lo < hi else []
        low, high = _RANGES[self.operator](self._placing(self.type, kind, text, negative))
        least, greatest = self._reach
        if low > min(high, greatest) or high < least:
            return []
        if self.type.coded:
            return [(max(low, least), min(high, greatest))]
        first = LOWEST_KEY if low <= least else key_of_unscaled(low)
        return [(first, BEYOND_KEYS if high >= greatest else key_of_unscaled(high + 1))]

    def _begins(self, kinds: Sequence[LiteralKind], texts: Sequence[str], intervals: list[Interval]) -> bool:
        """Add the texts that a pattern, or a prefix, holds; return whether no constant is NULL."""
        found: list[str | None] = []
        for i, negative in self.operands:
            try:
                found.append(text_of(self.type, kinds[i], texts[i], negative))
            except ConstantRefused as e:
                raise e.at(self.column, i) from None
        head, *escapes = found
        if head is None or None in escapes:
            return False
        prefix, more = head, True
        if self.operator.endswith("like"):
            try:
                prefix, more = read_pattern(head, escapes[0] if escapes else None)
            except ConstantRefused as e:
                raise e.at(self.column, self.operands[0][0]) from None
        key = prefix.encode()
        beyond = beyond_prefix(prefix) if more else None
        end = after(key) if not more else BEYOND_KEYS if beyond is None else beyond.encode()
        intervals.append((key, end))
        return True


@lru_cache(256)
def _of_type(type_: ColumnType) -> tuple[ValueSet, ValueSet, tuple[int, int], Placing | None]:
    """Return all values of a type, these and NULL, its reach, and what places literals among its codes."""
    text = type_.is_text
    every = everything(type_)
    reach = (0, 0) if text else type_.reach
    return every, ValueSet(every.intervals, True), reach, None if text else placing(type_)


_PATTERNS = frozenset({"like", "not like", "prefix", "not prefix"})
_COMPLEMENTS = frozenset({"<>", "not in", "not like", "not prefix"})


def _point(place: Place) -> Place:
    return place[1], place[0]


_RANGES: dict[str, Callable[[Place], tuple[int, int]]] = {
    **dict.fromkeys(("=", "<>", "in", "not in"), _point),
    "<": lambda place: (-_FAR, place[1] - 1),
    "<=": lambda place: (-_FAR, place[0]),
    ">": lambda place: (place[0] + 1, _FAR),
    ">=": lambda place: (place[1], _FAR),
}
"""The closed range of codes, or of unscaled values, that passes a comparison with a constant at a place."""

_TEXT_RANGES: dict[str, Callable[[bytes], tuple[bytes, bytes]]] = {
    **dict.fromkeys(("=", "<>", "in", "not in"), lambda key: (key, after(key))),
    "<": lambda key: (LOWEST_KEY, key),
    "<=": lambda key: (LOWEST_KEY, after(key)),
    ">": lambda key: (after(key), BEYOND_KEYS),
    ">=": lambda key: (key, BEYOND_KEYS),
}
