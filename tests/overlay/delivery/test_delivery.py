"""Texts of deliveries: valid JSON whatever the id, members in order, values remembered within bounds."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from overlay.arena.text_arena import sizes_of
from overlay.delivery import delivery as deliveries
from overlay.delivery.delivery import (
    Position,
    ValueTexts,
    change,
    change_head,
    change_heads,
    change_tail,
    changed,
    delivery,
    json_text,
    moved,
    progress_delivery,
    row_at,
    row_start,
)

START = row_start(Position(1, 2), json_text("t"))
AT = START + '3,"offset":4}'


@given(st.text(), st.integers(0, 2**40), st.integers(1, 2**40))
def test_any_id_makes_a_line_that_reads_back(name: str, version: int, n: int) -> None:
    line = msgspec.json.decode(delivery(json_text(name), "change", version, n, moved("1", "null"), AT))
    at = {"epoch": 1, "batch": 2, "topic": "t", "partition": 3, "offset": 4}
    assert line == {"id": name, "kind": "change", "version": version, "n": n, "old": 1, "new": None, "at": at}
    assert list(line) == ["id", "kind", "version", "n", "old", "new", "at"]


def test_head_and_tail_of_a_change_make_the_same_line() -> None:
    whole = delivery(json_text("a"), "change", 7, 2, moved("1", "2"), AT)
    head = change_head(json_text("a"), 7)
    assert change(head, 2, "1", change_tail("2", row_at(START, 3, 4))) == whole
    assert changed(head, 2, moved("1", "2"), row_at(START, 3, 4)) == whole
    assert changed(head, 2, moved("1", "2"), row_at(START, 3, 4), 5) == whole[:-1] + b',"changes":5}'


def test_sql_and_reason_come_last() -> None:
    line = delivery(
        json_text("a"), "snapshot", 7, 1, moved("null", "2"), Position(1, 2).text, sql=json_text('SELECT "x"')
    )
    assert line.endswith(b'"at":{"epoch":1,"batch":2},"sql":"SELECT \\"x\\""}')
    assert delivery("1", "ended", 7, 1, moved("1", "2"), "{}", reason="why").endswith(b',"reason":"why"}')


def test_progress_has_its_position_and_time() -> None:
    assert progress_delivery(Position(1, 2), "noon") == b'{"kind":"progress","epoch":1,"batch":2,"time":"noon"}'
    assert Position(1, 2).before == Position(1, 1)


@pytest.mark.parametrize("type_", [ColumnType(Kind.BIGINT), ColumnType(Kind.DECIMAL, 12, 2), ColumnType(Kind.BOOLEAN)])
def test_a_column_of_texts_is_the_texts_one_by_one(type_: ColumnType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "_REMEMBERED", 2)
    codes = np.array([0, 1, 0, 1, 0] if type_.kind is Kind.BOOLEAN else [5, -7, 5, 900, 3], np.int64)
    known = np.array([True, True, False, True, True])
    one_by_one = [ValueTexts(type_).text(int(c), bool(k)) for c, k in zip(codes, known, strict=True)]
    assert ValueTexts(type_).texts(codes, known) == one_by_one
    assert one_by_one[2] == "null"


@pytest.mark.parametrize("type_", [ColumnType(Kind.DECIMAL, 12, 2), ColumnType(Kind.DATE)])
def test_texts_stay_right_when_they_are_forgotten(type_: ColumnType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "_REMEMBERED", 3)
    texts = ValueTexts(type_)
    for codes in ([1, 2], [2, 3], [3, 4, 1], [9], [1, 2, 3, 4, 5], [5, 1]):
        expected = [ValueTexts(type_).text(code, True) for code in codes]
        assert texts.texts(np.array(codes), np.ones(len(codes), np.bool_)) == expected


def test_decimals_have_all_digits_of_their_scale() -> None:
    assert ValueTexts(ColumnType(Kind.DECIMAL, 12, 2)).text(1000, True) == '"10.00"'


@pytest.mark.parametrize("last", [b"c", b'"', b"\\", b"\n", "é".encode()])
def test_beginnings_of_many_changes_are_what_one_by_one_gives(last: bytes) -> None:
    keys = [b"a", b"bc-1", last]
    ids, heads = change_heads(b"".join(keys), sizes_of(keys), [7, 8, 9])
    assert ids == keys
    assert heads == [
        change_head(json_text(key.decode()), version) for key, version in zip(keys, [7, 8, 9], strict=True)
    ]


def test_no_changes_have_no_beginnings() -> None:
    assert change_heads(b"", sizes_of([]), []) == ([], [])
