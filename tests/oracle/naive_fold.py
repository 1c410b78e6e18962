"""Folds from plain rows: all that came so far, grouped anew after each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.schema.relation import Relation
from catalog.schema.view import Fold, GroupBy, Stage
from tests.oracle.naive_views import Row, recomputed


def folded(stage: Stage, relation: Relation, rows: Sequence[Row]) -> dict[bytes, Row]:
    """Return the rows of a Fold over rows of a stream, which have no key."""
    of = stage.operator
    assert isinstance(of, Fold)
    alike = Stage(stage.relation, GroupBy(of.input, of.by, of.aggregates))
    return recomputed(alike, [relation], [{b"%d" % i: row for i, row in enumerate(rows)}])


def told_of(
    stage: Stage, relation: Relation, before: Sequence[Row], rows: Sequence[Row]
) -> Iterator[tuple[int, bytes, Row]]:
    """Yield what each of `rows` changes, behind those `before`: its place, the group's key and row."""
    held = folded(stage, relation, before)
    for place in range(len(rows)):
        now = folded(stage, relation, [*before, *rows[: place + 1]])
        yield from ((place, key, row) for key, row in now.items() if held.get(key) != row)
        held = now
