"""Stages of every kind over given relations, and chains of them, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from catalog.schema.relation import Column, Relation
from catalog.schema.view import By, ColumnOf, Expression, GroupBy, Joined, Map, Stage, TopK, Union
from tests.operators.views.view_draws import (
    BIGINT,
    columns_of,
    comparable,
    draw_aggregate,
    draw_condition,
    draw_expression,
)


def _made(name: str, columns: Sequence[Column], key: Sequence[str] = ()) -> Relation:
    return Relation(name, tuple(Column(each.name, each.type) for each in columns), tuple(key), "")


def draw_map(rng: Random, relation: Relation, name: str) -> Stage:
    """Return a SELECT … WHERE over a relation, which mostly shows the relation's key."""
    shown = [relation.column(each) for each in relation.key] if rng.random() < 0.7 else []
    items: list[Expression] = [ColumnOf(each.name, each.type) for each in shown]
    items += [draw_expression(rng, relation) for _ in range(rng.randint(0 if shown else 1, 4))]
    where = [draw_condition(rng, relation) for _ in range(rng.choice((0, 1, 1, 2)))]
    columns = [Column(f"{name}_{i}", item.type) for i, item in enumerate(items)]
    key = [column.name for column in columns[: len(shown)]]
    return Stage(_made(name, columns, key), Map(relation.name, tuple(items), tuple(where)))


def draw_group_by(rng: Random, relation: Relation, name: str) -> Stage:
    """Return a GROUP BY over a relation."""
    every = columns_of(relation)
    by = rng.sample(every, min(rng.choice((0, 1, 1, 2)), len(every)))
    aggregates = [draw_aggregate(rng, relation) for _ in range(rng.randint(0 if by else 1, 4))]
    columns = [*by, *(Column(f"{name}_{i}", each.type) for i, each in enumerate(aggregates))]
    key = [column.name for column in by]
    return Stage(_made(name, columns, key), GroupBy(relation.name, tuple(key), tuple(aggregates)))


def draw_top_k(rng: Random, relation: Relation, name: str) -> Stage:
    """Return the first rows of a relation that has a key."""
    every = [column.name for column in relation.columns]
    by = rng.sample(every, rng.choice((0, 1, 1, 2)) if len(every) > 1 else 0)
    ordered = dict.fromkeys([*rng.sample(every, min(len(every), rng.choice((0, 1, 2)))), *relation.key])
    order = [By(column, rng.random() < 0.5, rng.random() < 0.5) for column in ordered]
    ranked = rng.random() < 0.5
    columns = [*relation.columns, *([Column(f"{name}_place", BIGINT)] if ranked else [])]
    made = _made(name, columns, relation.key)
    return Stage(made, TopK(relation.name, tuple(by), tuple(order), rng.randint(1, 3), ranked))


def draw_join(rng: Random, relations: Sequence[Relation], name: str) -> Stage | None:
    """Return a join of two relations, if columns of both can be compared."""
    left, right = rng.choice(relations), rng.choice(relations)
    outer, lookup = rng.random() < 0.5, bool(right.key) and rng.random() < 0.5
    wanted = [right.column(each) for each in right.key] if lookup else rng.sample(right.columns, 1)
    if not lookup and rng.random() < 0.3:
        wanted += rng.sample(right.columns, 1)
    equal = []
    for column in wanted:
        others = [each for each in left.columns if comparable(each.type, column.type)]
        if not others:
            return None
        equal.append((rng.choice(others).name, column.name))
    sides = [(f"{name}l_{each.name}", each.type) for each in left.columns]
    sides += [(f"{name}r_{each.name}", each.type) for each in right.columns]
    key = [f"{name}l_{each}" for each in left.key]
    if not lookup:
        key = [*key, *(f"{name}r_{each}" for each in right.key)] if left.key and right.key and not outer else []
    made = _made(name, [Column(each, type_) for each, type_ in sides], key)
    return Stage(made, Joined(left.name, right.name, tuple(equal), outer, lookup))


def draw_union(rng: Random, relations: Sequence[Relation], name: str) -> Stage:
    """Return a union of relations that have columns of the same types."""
    first = rng.choice(relations)
    alike = [each for each in relations if [c.type for c in each.columns] == [c.type for c in first.columns]]
    inputs = [first, *(rng.choice(alike) for _ in range(rng.choice((0, 1, 1, 2))))]
    columns = [Column(f"{name}_{i}", column.type) for i, column in enumerate(first.columns)]
    return Stage(_made(name, columns), Union(tuple(each.name for each in inputs)))


def draw_chain(rng: Random, tables: Sequence[Relation], stages: int) -> list[Stage]:
    """Return stages over tables and over each other."""
    relations, out = list(tables), list[Stage]()
    while len(out) < stages:
        name = f"v{len(out)}"
        source = rng.choice(relations[-3:] if rng.random() < 0.7 else relations)
        made = {
            "map": lambda name=name, source=source: draw_map(rng, source, name),
            "group": lambda name=name, source=source: draw_group_by(rng, source, name),
            "top": lambda name=name, source=source: draw_top_k(rng, source, name) if source.key else None,
            "join": lambda name=name: draw_join(rng, relations, name),
            "union": lambda name=name: draw_union(rng, relations, name),
        }[rng.choice(("map", "map", "group", "group", "top", "join", "join", "union"))]()
        if made is not None and len(made.relation.columns) < 60:
            out.append(made)
            relations.append(made.relation)
    return out
