"""What is told of rows that the fast way found: texts, ends and digests, against rows that are written one by one."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest

from catalog.query.filter_shape import FilterShape
from catalog.schema.join import place_of
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.delivery.bag_delivery import rows_text
from overlay.maintain.join_fast_rows import RowChanges, Rows
from overlay.maintain.join_fast_told import told
from overlay.maintain.projections import Projector
from state.row_digest import KEY_BYTES, Digest
from tests.overlay.join_timelines import TYPES, Drawn, Value, draw, value_of

LISTS = [("0.s", "1.x"), ("1.s", "0.s", "1.s"), ("0.y",)]
PROJECTOR = Projector(ShapeTable(), bytes(range(KEY_BYTES)))


def entry(drawn: Drawn, number: int) -> ShapeEntry:
    """Return a shape that shows a list."""
    types = tuple(TYPES[place_of(name)[1]] for name in LISTS[number])
    return ShapeEntry(number, FilterShape(drawn.join.name, LISTS[number], (), (), (), ()), 0, "cell", "", types)


def digest(shown: ShapeEntry, rows: list[list[Value]]) -> Digest:
    return Digest.of(*PROJECTOR.hashed(shown, False, rows)) if rows else Digest()


@pytest.mark.parametrize("seed", range(20))
def test_each_is_told_its_rows_and_what_they_do_to_its_digest(seed: int) -> None:
    source = Random(seed)
    drawn = draw(source, 20)
    lists, many = [entry(drawn, number) for number in range(len(LISTS))], source.randint(0, 5)
    chosen = np.array([source.randrange(len(LISTS)) for _ in range(many)], np.int64)
    owner = np.array([*range(many), *(source.choices(range(many), k=20) if many else [])], np.int64)
    first, second = (np.array([source.randrange(len(side)) for _ in owner], np.int64) for side in drawn.versions)
    came, nothing = np.array([source.random() < 0.5 for _ in owner], np.bool_), np.zeros(many, np.int64)
    changes = RowChanges(nothing, nothing, np.arange(many), chosen, Rows(owner, (first, second), came))
    made = told(drawn.timeline, changes, lists, PROJECTOR)
    removed, added = made.sides()
    for i, number in enumerate(chosen.tolist()):
        sides: list[list[list[Value]]] = [[], []]
        for at in (owner == i).nonzero()[0].tolist():
            row = drawn.versions[0][first[at]].row, drawn.versions[1][second[at]].row
            sides[int(came[at])].append([value_of(row, name) for name in LISTS[number]])
        for side, texts in zip(sides, (removed, added), strict=True):
            assert texts[i] == rows_text([msgspec.json.encode(row).decode() for row in side])
        assert [rows_text(made.rows(i, came=each)) for each in (False, True)] == [removed[i], added[i]]
        moved = digest(lists[number], sides[1]) - digest(lists[number], sides[0])
        assert [int(column[i]) for column in made.moved] == [moved.count, moved.low, moved.high]
