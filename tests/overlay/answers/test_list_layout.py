"""A list is written in its order, without the columns that only tell its rows apart."""

from __future__ import annotations

import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.types.column_type import ColumnType, Kind
from operators.reply import encode_row
from overlay.answers.answer import ListAnswer
from overlay.answers.list_layout import ListLayout

BIGINT, TEXT, WIDE = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 20, 2)
ORDER = (Order("x", True, False), Order("k", False, False))
SHAPE = BestShape("t", ("s", "w", "s"), (), None, ORDER, 2, ())
LAYOUT = ListLayout(SHAPE, [TEXT, WIDE, TEXT])


def image(key: int, text: str | None, wide: str | None = None) -> bytes:
    return encode_row([text, wide, text, 7, key])


def test_images_have_what_is_shown_and_then_what_rows_are_ordered_by() -> None:
    assert LAYOUT.images == ("s", "w", "s", "x", "k")


def test_rows_are_written_as_they_are_shown_and_in_their_order() -> None:
    one, other = image(1, 'a"é', "-1.50"), image(0, None)
    assert LAYOUT.text(ListAnswer([one, other])) == '[["a\\"é","-1.50","a\\"é"],[null,null,null]]'
    assert LAYOUT.texts([other, one, other]) == [LAYOUT.texts([row])[0] for row in (other, one, other)]
    assert LAYOUT.text(ListAnswer()) == "[]"


def test_rows_that_are_shown_alike_make_no_difference_but_their_places_do() -> None:
    a, b, like_a = image(0, "a"), image(1, "b"), image(2, "a")
    assert not LAYOUT.differ(ListAnswer([a, b]), ListAnswer([like_a, b]))
    assert LAYOUT.differ(ListAnswer([a, b]), ListAnswer([b, a]))
    assert LAYOUT.differ(ListAnswer([a]), ListAnswer([a, like_a]))


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        (None, [], '"form":"list","removed":[],"added":[]'),
        (None, ["a"], '"form":"list","removed":[],"added":[[0,["a",null,"a"]]]'),
        (["a"], ["a"], '"same":true,"removed":[],"added":[]'),
        (["a"], [], '"form":"list","whole":true,"removed":[],"added":[]'),
        (["a", "b"], ["b"], '"form":"list","whole":true,"removed":[],"added":[[0,["b",null,"b"]]]'),
        (["a", "b"], None, '"removed":[[1,["b",null,"b"]],[0,["a",null,"a"]]],"added":[]'),
    ],
)
def test_what_snapshots_resyncs_and_ends_say(old: list[str] | None, new: list[str] | None, body: str) -> None:
    held, now = (each and [image(i, text) for i, text in enumerate(each)] for each in (old, new))
    assert LAYOUT.body(None if held is None else ListAnswer(held), None if now is None else ListAnswer(now)) == body


def test_a_list_that_is_too_long_or_of_other_rows_does_not_fit() -> None:
    row = image(0, "a")
    assert LAYOUT.fits([row, row]) and LAYOUT.fits([])
    assert not LAYOUT.fits([row, row, row])
    assert not LAYOUT.fits([encode_row(["a", None, "a"])])


def test_a_list_of_no_rows_has_room_for_none() -> None:
    none = ListLayout(BestShape("t", ("s",), (), None, ORDER, 0, ()), [TEXT])
    assert none.fits([]) and not none.fits([encode_row(["a", 7, 0])])
