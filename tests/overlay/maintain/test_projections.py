"""Rows of images and rows of answers have the same texts and hashes, whatever stands in them."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.packed import Header, PackedImages
from operators.row_images import ImageColumn
from overlay.answers.shape_table import ShapeTable
from overlay.maintain.projections import Projector

TEXT, NUMBER = ColumnType(Kind.VARCHAR), ColumnType(Kind.BIGINT)
TABLE = Relation("t", (Column("k", NUMBER, False), Column("s", TEXT), Column("v", NUMBER)), ("k",), "t")
KEY = bytes(range(16))


def column(old: list, new: list, texts: list[str] | None = None) -> ImageColumn:
    codes = [np.array([value or 0 for value in side], np.int64) for side in (old, new)]
    known = [np.array([value is not None for value in side]) for side in (old, new)]
    return ImageColumn(codes[0], known[0], codes[1], known[1], texts)


def images() -> PackedImages:
    columns = {
        "k": column([1, 2, None], [1, 2, 3]),
        "s": column([0, None, None], [1, None, 1], ["a", 'b"']),
        "v": column([5, 6, None], [5, 7, 8]),
    }
    at, rows = np.arange(3), np.array([0, 0, 1])
    header = Header("images", 0, "t/0", 0, channels=[ImageChannel("t")])
    return PackedImages(header, at, at, at, at, None, rows, columns)


def test_pairs_are_made_once_for_each_change_and_select_list() -> None:
    shapes = ShapeTable()
    one = shapes.enter(FilterShape("t", ("s", "k"), (), (), (), (1,)), TABLE, [TEXT, NUMBER])
    alike = shapes.enter(FilterShape("t", ("s", "k"), (), ("v",), (), (1,)), TABLE, [TEXT, NUMBER])
    other = shapes.enter(FilterShape("t", ("v",), (), (), (), ()), TABLE, [NUMBER])
    shape = np.array([one.number, alike.number, other.number, one.number, one.number], np.int32)
    keyed = np.array([False, False, False, False, True])
    place, pairs = Projector(shapes, KEY).project(images(), np.array([0, 0, 0, 2, 0]), shape, keyed)
    assert place[0] == place[1] and len(pairs.change) == 4
    assert [pairs.new.texts[i] for i in place.tolist()] == [
        '["b\\"",1]',
        '["b\\"",1]',
        "[5]",
        '["b\\"",3]',
        '["b\\"",1]',
    ]
    assert pairs.same[place].tolist() == [False, False, True, False, True]
    assert [pairs.keys(i) for i in place.tolist()] == [(), (), (), (), (1,)]
    assert pairs.new.names[int(place[4])] == "[1]"


@pytest.mark.parametrize("keyed", [False, True])
def test_hashes_of_images_are_those_of_answers(keyed: bool) -> None:
    shapes = ShapeTable()
    entry = shapes.enter(FilterShape("t", ("s", "k", "s"), (), (), (), (1,)), TABLE, [TEXT, NUMBER, TEXT])
    projector = Projector(shapes, KEY)
    shape = np.full(3, entry.number, np.int32)
    place, pairs = projector.project(images(), np.arange(3), shape, np.full(3, keyed))
    rows: list[list[int | str | None]] = [['b"', 1, 'b"'], [None, 2, None], ['b"', 3, 'b"']]
    for i, row in enumerate(rows):
        (low,), (high,) = projector.hashed(entry, keyed, [row])
        at = int(place[i])
        assert (low, high) == (pairs.new.low[at], pairs.new.high[at])
    together = projector.hashed(entry, keyed, rows)
    assert together[0].tolist() == pairs.new.low[place].tolist()
