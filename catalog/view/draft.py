"""The stages of a view that is being planned, one after the other; the last gets the view's name.

    add(Map(seat ...), columns)      stage/cheap/0
    add(TopK(stage/cheap/0 ...))     stage/cheap/1
    close(columns shown)             cheap, a Map of stage/cheap/1; or stage/cheap/1 itself where it shows just these

A relation is known by its key: where a stage shows all columns of its input's key, these are its `key`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from catalog.schema.relation import Column, Relation, derived
from catalog.schema.view import (
    Aggregate,
    By,
    ColumnOf,
    Condition,
    Expression,
    Fold,
    GroupBy,
    Joined,
    Map,
    Operator,
    Stage,
    TopK,
    Union,
    stage_name,
)
from catalog.types.column_type import ColumnType, Kind
from catalog.view.column_bounds import Bounds, ColumnBounds

Shown = tuple[str, Expression, bool]
"""An item: what its column is called, what is in it, whether it may be NULL."""


@dataclass(slots=True)
class Draft:
    """The stages of view `name`, made under catalog version `born`."""

    name: str
    born: int
    bounds: ColumnBounds
    stages: list[Stage] = field(default_factory=list)

    def bounds_of(self, relation: Relation) -> Bounds:
        """Return the bounds of a relation's columns."""
        return self.bounds.of(relation.name)

    def map(self, source: Relation, items: Sequence[Shown], where: Sequence[Condition] = ()) -> Relation:
        """Add a Map."""
        columns = _with_parts([Column(name, expression.type, nullable) for name, expression, nullable in items])
        shown: dict[str, str] = {}
        for name, expression, _ in items:
            if isinstance(expression, ColumnOf):
                shown.setdefault(expression.name, name)
        operator = Map(source.name, tuple([expression for _, expression, _ in items]), tuple(where))
        return self._add(operator, columns, _named(source.key, shown))

    def group(
        self,
        source: Relation,
        by: Sequence[tuple[str, str]],
        aggregates: Sequence[tuple[str, Aggregate, bool]],
        parts: int = 0,
    ) -> Relation:
        """Add a GroupBy: `by` are columns of the source and what they are called in the groups.

        The last ones, `parts` of them, hang on the others, being parts of ranges, and are not in the key.
        """
        return self._grouped(GroupBy, source, by, aggregates, parts)

    def fold(
        self, source: Relation, by: Sequence[tuple[str, str]], aggregates: Sequence[tuple[str, Aggregate, bool]]
    ) -> Relation:
        """Add a Fold, as `group` does a GroupBy."""
        return self._grouped(Fold, source, by, aggregates, 0)

    def _grouped(
        self,
        kind: type[GroupBy | Fold],
        source: Relation,
        by: Sequence[tuple[str, str]],
        aggregates: Sequence[tuple[str, Aggregate, bool]],
        parts: int,
    ) -> Relation:
        columns = [replace(source.column(name), name=called, of="", role="") for name, called in by]
        columns += [Column(called, aggregate.type, nullable) for called, aggregate, nullable in aggregates]
        operator = kind(source.name, tuple([name for name, _ in by]), tuple([each for _, each, _ in aggregates]))
        return self._add(operator, columns, tuple([called for _, called in by[: len(by) - parts]]))

    def top(self, source: Relation, by: Sequence[str], order: Sequence[By], k: int, rank: str | None) -> Relation:
        """Add a TopK; `rank` is what the column of places is called, if there is one."""
        columns = list(source.columns)
        if rank is not None:
            columns.append(Column(rank, ColumnType(Kind.BIGINT), False))
        return self._add(TopK(source.name, tuple(by), tuple(order), k, rank is not None), columns, source.key)

    def join(
        self,
        left: Relation,
        right: Relation,
        equal: Sequence[tuple[str, str]],
        outer: bool,
        names: tuple[Sequence[str], Sequence[str]],
    ) -> Relation:
        """Add a Joined; `names` are what the columns of each side are called in it."""
        columns = _called(left, names[0])
        columns += [replace(column, nullable=column.nullable or outer) for column in _called(right, names[1])]
        lookup = bool(right.key) and set(right.key) <= {name for _, name in equal}
        key = tuple([names[0][left.index(name)] for name in left.key])
        if not lookup:
            others = [names[1][right.index(name)] for name in right.key]
            key = (*key, *others) if key and others else ()
        return self._add(Joined(left.name, right.name, tuple(equal), outer, lookup), columns, key)

    def union(self, branches: Sequence[Relation], names: Sequence[str]) -> Relation:
        """Add a Union, and call its columns `names`."""
        columns = [
            Column(name, branches[0].columns[i].type, any(branch.columns[i].nullable for branch in branches))
            for i, name in enumerate(names)
        ]
        columns = _with_parts(columns)
        return self._add(Union(tuple([branch.name for branch in branches])), columns, ())

    def project(self, source: Relation, items: Sequence[Shown], where: Sequence[Condition] = ()) -> Relation:
        """Return a relation that shows just `items`, by position: `source` itself if it does, else a Map of it.

        The last stage gets the names of the items; what is declared keeps its own. Of a Fold there is always a Map:
        it stands for itself, whoever asks the view or not.
        """
        last = self.stages[-1].relation if self.stages else None
        folded = bool(self.stages) and isinstance(self.stages[-1].operator, Fold)
        names = [expression.name for _, expression, _ in items if isinstance(expression, ColumnOf)]
        whole = len(names) == len(items) and names == [column.name for column in source.columns]
        if where or not whole or folded:
            return self.map(source, items, where)
        if last is None or source.name != last.name:
            return source
        renamed = {old: new for old, (new, _, _) in zip(names, items, strict=True)}
        columns = _with_parts([replace(column, name=renamed[column.name]) for column in last.columns])
        relation = replace(last, columns=tuple(columns), key=tuple([renamed[name] for name in last.key]))
        return self._replace_last(relation)

    def close(self, made: Relation) -> tuple[Stage, ...]:
        """Return the stages, of which `made` is the last, under the view's name; a Map of it where it is none."""
        if not self.stages or self.stages[-1].relation.name != made.name:
            self.map(made, [(c.name, ColumnOf(c.name, c.type), c.nullable) for c in made.columns])
        self._replace_last(replace(self.stages[-1].relation, name=self.name))
        return tuple(self.stages)

    def _add(self, operator: Operator, columns: Sequence[Column], key: tuple[str, ...]) -> Relation:
        name = stage_name(self.name, len(self.stages))
        relation = Relation(name, tuple(columns), key, topic="", born=self.born)
        self.stages.append(Stage(relation, operator))
        self.bounds.add(relation, operator)
        return relation

    def _replace_last(self, relation: Relation) -> Relation:
        self.stages[-1] = Stage(relation, self.stages[-1].operator)
        self.bounds.add(relation, self.stages[-1].operator)
        return relation


def _with_parts(columns: Sequence[Column]) -> list[Column]:
    """Return columns, those marked that stand for parts of a range among them, as they are called."""
    parts = {part.name: part for column in columns for part in derived(column)}
    return [
        replace(column, of=part.of, role=part.role)
        if (part := parts.get(column.name))
        else replace(column, of="", role="")
        for column in columns
    ]


def _called(relation: Relation, names: Sequence[str]) -> list[Column]:
    """Return the columns of a relation under other names."""
    called = {column.name: name for column, name in zip(relation.columns, names, strict=True)}
    return [replace(each, name=called[each.name], of=called[each.of] if each.of else "") for each in relation.columns]


def _named(key: tuple[str, ...], shown: dict[str, str]) -> tuple[str, ...]:
    """Return what the columns of a key are called, () where not all are shown."""
    return tuple([shown[name] for name in key]) if all(name in shown for name in key) else ()
