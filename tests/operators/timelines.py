"""A small timeline with all that one may have, and what compares two."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from catalog.schema.join import Join
from operators.timeline import SentColumn, SentRows, Timeline
from state.lifetimes import NEVER, STORED
from state.order_code import INT64_MAX, INT64_MIN

JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
OTHER, _ = Join.of(["r", "s"], [((0, "k"), (1, "j")), ((0, "j"), (1, "k"))])


def column(values: list[int | str | None], text: bool = False) -> SentColumn:
    """Lay a column out."""
    known = np.array([value is not None for value in values], np.bool_)
    places = {value: place for place, value in enumerate(dict.fromkeys(one for one in values if isinstance(one, str)))}
    codes = [places[value] if isinstance(value, str) else value or 0 for value in values]
    return SentColumn(np.array(codes, np.int64), known, list(places) if text else None)


def small() -> Timeline:
    """Return a timeline of three causes, the second of two changes."""
    key, same = np.array([0, 1, -1]), np.array([1, 0])
    left = SentRows(
        "r", np.array([STORED, 3, 5]), np.array([3, NEVER, NEVER]),
        {(JOIN.name, 0, 0): key, (OTHER.name, 0, 0): key, (OTHER.name, 1, 0): np.array([2, -1, 2])},
        {"x": column([INT64_MIN, None, INT64_MAX]), "y": column(["a", None, "é"], text=True)},
    )  # fmt: skip
    right = SentRows(
        "s", np.array([STORED, 4]), np.array([NEVER, NEVER]),
        {(JOIN.name, 0, 1): same, (OTHER.name, 0, 1): same, (OTHER.name, 1, 1): same},
        {"y": column([None, None], text=True)},
    )  # fmt: skip
    return Timeline(
        (left, right), number=np.array([3, 4, 5]), table=np.array([0, 1, 0]), before=np.array([0, -1, -1]),
        after=np.array([1, 1, 2]), cause=np.array([2, 3, 3]), seq=np.array([103, 104, 105]), topics=["a", "b"],
        topic=np.array([0, 1, 1]), partition=np.array([1, 0, 0]), offset=np.array([7, 2**40, 2**40]),
    )  # fmt: skip


def same(one: Timeline, other: Timeline) -> bool:
    """Whether two timelines say the same; a table without rows has neither keys nor columns."""
    plain = [field.name for field in fields(Timeline) if field.name not in ("rows", "named", "topics")]
    alike = all(getattr(one, name).tolist() == getattr(other, name).tolist() for name in plain)
    rows = zip(one.rows, other.rows, strict=True)
    return alike and one.topics == other.topics and all(said(mine) == said(others) for mine, others in rows)


def said(rows: SentRows) -> tuple[object, ...]:
    """Return what rows say, whatever the places of texts are."""
    keys = {name: key.tobytes() for name, key in rows.keys.items()} if len(rows) else {}
    columns = {name: _values(each) for name, each in rows.columns.items()} if len(rows) else {}
    return rows.table, rows.born.tolist(), rows.died.tolist(), keys, columns


def _values(each: SentColumn) -> list[object]:
    assert each.texts is None or len(set(each.texts)) == len(each.texts)
    codes = each.codes.tolist()
    values = codes if each.texts is None else [each.texts[code] if each.texts else None for code in codes]
    return [value if known else None for value, known in zip(values, each.known.tolist(), strict=True)]
