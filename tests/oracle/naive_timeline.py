"""What a timeline says, change by change: each join is made of the rows that are there, by nested loops."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from catalog.schema.join import Join, column_name, join_of_name
from catalog.schema.relation import Relation
from operators.timeline import SentRows, Timeline
from tests.oracle.join_twin import Bag
from tests.oracle.naive_first_rows import Row, meets, shown


def changes_of(timeline: Timeline, relation: Relation, region: Region) -> dict[int, tuple[Bag, Bag]]:
    """Return by cause what a filter of a join is rid of and gets; causes that change nothing are left out."""
    join = join_of_name(relation.name)
    assert join is not None and isinstance(region.shape, FilterShape)
    net: dict[int, Counter] = {}
    for i in range(len(timeline)):
        bag = net.setdefault(int(timeline.cause[i]), Counter())
        for version, sign in ((int(timeline.before[i]), -1), (int(timeline.after[i]), 1)):
            for row in _rows(timeline, join, i, version, sign) if version >= 0 else ():
                padded = {column.name: row.get(column.name) for column in relation.columns}
                if meets(relation, region, padded):
                    bag[shown(region.shape, padded)] += sign
    removed = {cause: Counter({row: -n for row, n in bag.items() if n < 0}) for cause, bag in net.items()}
    added = {cause: Counter({row: n for row, n in bag.items() if n > 0}) for cause, bag in net.items()}
    return {cause: (removed[cause], added[cause]) for cause in net if removed[cause] or added[cause]}


def _rows(timeline: Timeline, join: Join, i: int, version: int, sign: int) -> Iterator[Row]:
    """Yield the joined rows that have a version in them: just before change i (sign -1), or just after it."""
    table, number = int(timeline.table[i]), int(timeline.number[i])
    names = [rows.table for rows in timeline.rows]
    at = [names.index(name) for name in join.tables]
    if not any(join.name == name for rows in timeline.rows for name, _, _ in rows.keys):
        return  # nothing is sent for it
    for place in (p for p, of in enumerate(at) if of == table):
        choices = []
        for p, of in enumerate(at):
            rows = timeline.rows[of]
            alive = [version] if p == place else _alive(rows, number, sign)
            # a row that is joined with itself counts once: where it stands first
            choices.append([v for v in alive if not (of == table and p < place and v == version)])
        for chosen in itertools.product(*choices):
            if all(_equal(timeline, join, at, class_, chosen) for class_ in range(len(join.classes))):
                yield {
                    column_name((p, name)): value
                    for p, v in enumerate(chosen)
                    for name, value in values_of(timeline.rows[at[p]], v).items()
                }


def _alive(rows: SentRows, number: int, sign: int) -> list[int]:
    lives = list(enumerate(zip(rows.born.tolist(), rows.died.tolist(), strict=True)))
    if sign < 0:
        return [v for v, (born, died) in lives if born < number <= died]
    return [v for v, (born, died) in lives if born <= number < died]


def _equal(timeline: Timeline, join: Join, at: list[int], class_: int, chosen: tuple[int, ...]) -> bool:
    positions = {position for position, _ in join.classes[class_]}
    keys = {int(timeline.rows[at[p]].keys[join.name, class_, p][chosen[p]]) for p in positions}
    return len(keys) == 1 and -1 not in keys


def values_of(rows: SentRows, version: int) -> Row:
    """Return the values of a version that were sent."""
    found: dict[str, int | str | None] = {}
    for name, column in rows.columns.items():
        code = int(column.codes[version])
        value = code if column.texts is None else column.texts[code] if column.known[version] else None
        found[name] = value if column.known[version] else None
    return found
