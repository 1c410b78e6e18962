"""Bounds of the columns of stages: how large the numbers in them can be, which their types alone do not say.

    SUM(amount) of BIGINT     DECIMAL(38,0), of which 94 bits can be used

So what a view computes of the columns of another is bound by what these are computed from (`bounds.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from catalog.schema.relation import Relation
from catalog.schema.view import (
    Arithmetic,
    Coalesce,
    ColumnOf,
    Constant,
    Expression,
    Fold,
    GroupBy,
    Joined,
    Map,
    Operator,
    TopK,
    Union,
    View,
)
from catalog.view.bounds import COUNTED, Bound, bound_of

Bounds = tuple[Bound | None, ...]
"""By column of a relation; None where its values are no exact numbers."""


class ColumnBounds:
    """Bounds of the relations that one query reads and makes; `relation` and `view` find what is declared."""

    def __init__(self, relation: Callable[[str], Relation | None], view: Callable[[str], View | None]) -> None:
        self._relation = relation
        self._view = view
        self._known: dict[str, tuple[Relation, Bounds]] = {}

    def of(self, name: str) -> Bounds:
        """Return the bounds of a relation. *Cost*: all stages below it, once."""
        if name not in self._known:
            view, relation = self._view(name), self._relation(name)
            for stage in () if view is None else view.stages:
                self.add(stage.relation, stage.operator)
            if name not in self._known:
                assert relation is not None, "what is read is declared"
                self._known[name] = relation, tuple([bound_of(column.type) for column in relation.columns])
        return self._known[name][1]

    def add(self, relation: Relation, operator: Operator) -> None:
        """Note what a stage makes."""
        self._known[relation.name] = relation, self._made(relation, operator)

    def _made(self, relation: Relation, operator: Operator) -> Bounds:
        inputs = [self.of(name) for name in operator.inputs]
        names = [{c.name: i for i, c in enumerate(self._known[name][0].columns)} for name in operator.inputs]
        match operator:
            case Map():
                return tuple([self._computed(item, inputs[0], names[0]) for item in operator.items])
            case GroupBy() | Fold():
                by = [inputs[0][names[0][column]] for column in operator.by]
                return (*by, *(_of_aggregate(a.kind, a.column, inputs[0], names[0]) for a in operator.aggregates))
            case TopK():
                return (*inputs[0], COUNTED) if operator.ranked else inputs[0]
            case Joined():
                return (*inputs[0], *inputs[1])
            case Union():
                return tuple([_united(each) for each in zip(*inputs, strict=True)])

    def _computed(self, item: Expression, bounds: Bounds, names: dict[str, int]) -> Bound | None:
        match item:
            case ColumnOf():
                return bounds[names[item.name]]
            case Constant():
                return bound_of_constant(item)
            case Arithmetic():
                left, right = self._computed(item.left, bounds, names), self._computed(item.right, bounds, names)
                if left is None or right is None:
                    return None
                return left.multiplied(right) if item.op == "*" else left.added(right)
            case Coalesce():
                own = bound_of(item.type)
                found = _united([self._computed(each, bounds, names) for each in item.operands])
                return None if own is None or found is None else found.at(max(own.scale, found.scale))
        return None


def bound_of_constant(constant: Constant) -> Bound | None:
    """Return the bound of one value."""
    natural = bound_of(constant.type)
    if natural is None or constant.value is None:
        return None
    value = constant.value
    units = abs(value if isinstance(value, int) else int(value.replace(".", "")))
    return Bound(units, natural.scale, natural.whole)


def _of_aggregate(kind: str, column: str | None, bounds: Bounds, names: dict[str, int]) -> Bound | None:
    argument = None if column is None else bounds[names[column]]
    if kind == "COUNT":
        return COUNTED
    if kind == "AVG" or argument is None:
        return None
    return argument.summed() if kind == "SUM" else argument


def _united(bounds: Sequence[Bound | None]) -> Bound | None:
    found: Bound | None = bounds[0]
    for bound in bounds[1:]:
        if found is None or bound is None:
            return None
        found = found.united(bound)
    return found
