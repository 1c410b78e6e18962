"""What changes ask: their own values and those of the partners that are there then, step by step, no cause cut."""

from __future__ import annotations

from random import Random

import pytest

from overlay.index.join_form import Form
from overlay.index.join_index_kernels import CHANGE, COMES, END, FIRST, GOES, MODE, STAYS
from overlay.index.join_queries import FormRows, KeyedRows, has_both
from overlay.index.join_values import EqualValues
from tests.overlay.join_timelines import NUMBER, Drawn, Row, draw

Asked = list[tuple[int, int, list[int], list[int], list[int]]]
"""Of each query: change, mode, own values, values of partners, their versions, ascending."""


def found(drawn: Drawn, step: int) -> Asked:
    timeline = drawn.timeline
    form = Form(drawn.join.name, ((), ("y",)), ("x", None))
    values = EqualValues([]), EqualValues([NUMBER])
    for y in range(drawn.top + 1):
        values[1].enter((y,))
    keyed, queries = KeyedRows(timeline, drawn.join.name), Asked()
    rows, spans = FormRows(keyed, form, values), list(keyed.steps(step))
    assert [first for first, _ in spans[1:]] == [last for _, last in spans[:-1]]
    causes = timeline.cause.tolist()
    assert all(causes[first - 1] != causes[first] for first, _ in spans[1:])
    for first, last in spans:
        made = rows.step(first, last)
        assert first <= made.queries[:, CHANGE].min(initial=last) and made.queries[:, CHANGE].max(initial=-1) < last
        for query, runs in zip(made.queries.tolist(), made.runs.tolist(), strict=True):
            own, others = (made.values[slice(*runs[2 + side])].tolist() for side in _sides(drawn, query[CHANGE]))
            equal = made.values[slice(*runs[1])].tolist()
            partners = made.partner[query[FIRST] : query[END]].tolist()
            assert len(equal) == 1 and sorted(others) == others and sorted(own) == own
            queries.append((query[CHANGE], query[MODE], own + equal, others, sorted(partners)))
    return sorted(queries)


def wanted(drawn: Drawn) -> Asked:
    queries = Asked()
    for t, change in enumerate(drawn.changes):
        side, other = _sides(drawn, t)
        old, new = (
            drawn.versions[side][version].row if version >= 0 else None for version in (change.before, change.after)
        )
        old, new = (row if row is not None and _asks(drawn, side, row) else None for row in (old, new))
        if old and new and _key(drawn, side, old) == _key(drawn, side, new):
            queries += _with(drawn, t, STAYS, side, [old, new], other)
        else:
            queries += _with(drawn, t, GOES, side, [old], other) if old else []
            queries += _with(drawn, t, COMES, side, [new], other) if new else []
    return sorted(queries)


def _with(drawn: Drawn, t: int, mode: int, side: int, rows: list[Row], other: int) -> Asked:
    """Return the queries of rows: one for each fixed value of the other table, of which table 1 alone has one."""
    by_equal: dict[object, list[int]] = {}
    at = t if mode == COMES else t - 1
    for number, version in enumerate(drawn.versions[other]):
        there = version.born <= at < version.died and _asks(drawn, other, version.row)
        if there and _key(drawn, other, version.row)[0] == _key(drawn, side, rows[0])[0]:
            by_equal.setdefault(version.row["y"] if other == 1 else None, []).append(number)
    own = sorted({_value(side, row) for row in rows})
    made = Asked()
    for equal, partners in by_equal.items():
        number = rows[0]["y"] if side == 1 else equal
        others = sorted(_value(other, drawn.versions[other][partner].row) for partner in partners)
        made.append((t, mode, [*own, int(number or 0)], others, partners))
    return made


def _sides(drawn: Drawn, t: int) -> tuple[int, int]:
    return drawn.changes[t].table, 1 - drawn.changes[t].table


def _value(side: int, row: Row) -> int:
    return int(row["x"] or 0) if side == 0 else 0


def _asks(drawn: Drawn, side: int, row: Row) -> bool:
    return None not in [row["x" if side == 0 else "y"], *_key(drawn, side, row)[0]]


def _key(drawn: Drawn, side: int, row: Row) -> tuple[list[object], object]:
    joined = [row[name] for each in drawn.join.classes for position, name in each if position == side]
    return joined, row["y"] if side == 1 else None


@pytest.mark.parametrize("step", [1, 5, 1_000])
def test_changes_ask_with_the_partners_of_then(step: int) -> None:
    for seed in range(60):
        drawn = draw(Random(seed))
        if has_both(drawn.timeline, drawn.join.name):
            assert found(drawn, step) == wanted(drawn), seed


def test_a_table_of_which_nothing_is_sent_has_no_keys() -> None:
    drawn = draw(Random(1))
    assert has_both(drawn.timeline, drawn.join.name)
    drawn.timeline.rows[1].keys.clear()
    timeline = drawn.timeline
    timeline.rows[1].keys.clear()
    assert not has_both(timeline, drawn.join.name)
    assert not has_both(drawn.timeline, "another")
