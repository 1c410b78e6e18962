"""The static half of certainty: which answers are never taken back, told from how the relation below them grows.

    quote is a stream; hourly is SELECT hour, issue, MAX(price) AS high, COUNT(*) AS n FROM quote GROUP BY ...

    SELECT MAX(high) FROM hourly WHERE issue = 'A'       at_least     it only rises
    SELECT DISTINCT issue FROM hourly WHERE n > 1000     at_least     the set only grows
    SELECT MIN(n) FROM hourly                            temporary    a new group has n = 1, and n rises
    SELECT MIN(price) FROM table                         temporary    rows of tables change

Source: Relational, 1.2.3: the compiler types every column. A question about tables alone is always temporary. The rule
claims nothing that is not so (`tests/catalog/query/test_certainty.py` plays random histories), and less than is so.
When an answer becomes final is not told here: that is a question of event time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from enum import StrEnum

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region, Shape
from catalog.query.value_set import ValueSet, everything
from catalog.schema.relation import Relation
from catalog.schema.view import View
from catalog.types.column_type import ColumnType
from catalog.view.aggregate_growth import aggregate_moves
from catalog.view.expression_growth import FLOATS, compared, is_number
from catalog.view.growth import EITHER, NEGATIVE, POSITIVE, ColumnGrowth, Growth, Signs, declared_growth
from catalog.view.moves import EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES, Moves
from catalog.view.stage_growth import stage_growth


class Certainty(StrEnum):
    """What a subscriber may rely on."""

    AT_LEAST = "at_least"
    """The answer only rises; a set or bag only grows. NULL, no value yet, is below all."""
    AT_MOST = "at_most"
    """The answer only falls; a set or bag only loses. NULL, no value yet, is above all."""
    TEMPORARY = "temporary"
    """It may change any way."""


class Certainties:
    """What can be told of questions about declared relations; `relation` and `view` find what is declared.

    append_only: the relations whose rows never change, nor go: streams.
    forgetting: those whose rows go when they are old; a question that is final before that leaves them out.
    """

    def __init__(
        self,
        relation: Callable[[str], Relation | None],
        view: Callable[[str], View | None],
        append_only: Collection[str],
        forgetting: Collection[str] = (),
    ) -> None:
        self._relation = relation
        self._view = view
        self._append_only = append_only
        self._forgetting = forgetting
        self._known: dict[str, Growth] = {}

    def of(self, region: Region) -> Certainty:
        """Return the certainty of a question's answer. *Cost*: the stages below it, once; the size of its WHERE."""
        relation = self._declared(region.shape.relation)
        if relation is None or relation.home:
            return Certainty.TEMPORARY  # a join of tables
        if region.empty:
            return Certainty.AT_LEAST
        moves = _answer_moves(region, relation, self.growth(relation.name))
        if not moves & (FALLS | EMPTIES):
            return Certainty.AT_LEAST
        return Certainty.TEMPORARY if moves & (RISES | EMPTIES) else Certainty.AT_MOST

    def growth(self, name: str) -> Growth:
        """Return how a declared relation, or a stage of a declared view below it, grows."""
        if name not in self._known:
            view, relation = self._view(name), self._relation(name)
            for stage in () if view is None else view.stages:
                self._note(stage.relation.name, stage_growth(stage, self.growth))
            if name not in self._known:
                assert relation is not None, "what is read is declared"
                self._note(name, declared_growth(relation, name in self._append_only))
        return self._known[name]

    def _declared(self, name: str) -> Relation | None:
        view = self._view(name)
        return self._relation(name) if view is None else view.relation

    def _note(self, name: str, growth: Growth) -> None:
        self._known[name] = replace(growth, rows=growth.rows | FALLS) if name in self._forgetting else growth


def _answer_moves(region: Region, relation: Relation, growth: Growth) -> Moves:
    """Return what the answer may do; of a set, bag or list, whether anything comes and goes."""
    shape = region.shape
    boxes = _boxes(region, relation)
    rows = growth.rows
    for box in boxes:
        for name, values in box.items():
            rows |= set_moves(values, relation.column(name).type, growth.columns[name].moves)
    for name in shape.grouped:
        rows |= compared("=", growth.columns[name].moves)
    if isinstance(shape, BestShape):
        changed = rows or any(growth.columns[name].moves for name in shape.images)
        return MOVES if changed else FIXED
    if isinstance(shape, FilterShape) and shape.shown:
        return rows | (MOVES if any(growth.columns[name].moves for name in shape.shown) else FIXED)
    moves = FIXED
    for output in shape.outputs:
        column = None if output.column is None else _within(boxes, relation, growth, output.column)
        floats = output.column is not None and relation.column(output.column).type.kind in FLOATS
        moves |= _output_moves(output.function, rows, column, floats)
    return moves


def _output_moves(function: str, rows: Moves, column: ColumnGrowth | None, floats: bool) -> Moves:
    if function not in ("distinct", "count_distinct") or column is None:
        return aggregate_moves(function, rows, column, floats)
    changed = column.moves if function == "distinct" else column.moves & MOVES  # NULL is a member, and is not counted
    moves = rows | (MOVES if changed else FIXED)
    if FILLS in column.moves:
        moves |= RISES
    return moves | FALLS if EMPTIES in column.moves else moves


def _boxes(region: Region, relation: Relation) -> list[dict[str, ValueSet]]:
    """Return the value sets of a question's conditions, beside equalities with values that are not looked at."""
    shape = region.shape
    if isinstance(shape, FilterShape):
        boxes = decode_terms(region.terms)
        return [{shape.tested[place]: values for place, values in box.items()} for box in boxes]
    assert isinstance(shape, Shape | BestShape)
    if shape.range is None:
        return [{}]
    return [{shape.range: ValueSet.of([(region.lo, region.hi)])}]  # type: ignore[list-item]


def set_moves(values: ValueSet, type_: ColumnType, moves: Moves) -> Moves:
    """Return whether a value that makes `moves` may come into a set (RISES), and leave it (FALLS).

    *Cost*: O(intervals).
    """
    ((least, greatest),) = everything(type_).intervals
    intervals = values.intervals
    up = not intervals or intervals[-1][1] >= greatest  # type: ignore[operator]
    down = not intervals or intervals[0][0] <= least  # type: ignore[operator]
    if len(intervals) > 1:
        up = down = False
    every = bool(intervals) and up and down
    out = FIXED
    if (RISES in moves and not down) or (FALLS in moves and not up):
        out |= RISES
    if (RISES in moves and not up) or (FALLS in moves and not down):
        out |= FALLS
    into, from_ = (FILLS, EMPTIES) if not values.null else (EMPTIES, FILLS)
    changes = bool(intervals) if not values.null else not every
    if changes and into in moves:
        out |= RISES
    if changes and from_ in moves:
        out |= FALLS
    return out


def _within(boxes: list[dict[str, ValueSet]], relation: Relation, growth: Growth, name: str) -> ColumnGrowth:
    """Return a column of the rows that a question has: with the signs that its conditions leave."""
    signs = Signs(0)
    for box in boxes:
        signs |= _signs_of(box[name], relation.column(name).type) if name in box else EITHER
    return replace(growth.columns[name], signs=growth.columns[name].signs & signs)


def _signs_of(values: ValueSet, type_: ColumnType) -> Signs:
    if not type_.coded or not is_number(type_) or not values.intervals:
        return EITHER
    least, greatest = values.intervals[0][0], values.intervals[-1][1]
    assert isinstance(least, int) and isinstance(greatest, int), "what has order codes is held by them"
    return (NEGATIVE if least < 0 else Signs(0)) | (POSITIVE if greatest > 0 else Signs(0))
