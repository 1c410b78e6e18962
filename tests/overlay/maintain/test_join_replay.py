"""A timeline replayed gives, cause by cause, what nested loops over all rows say has come and gone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.schema.join import Join, column_name
from operators.packed import Header, PackedImages
from operators.timeline import Timeline
from overlay.maintain.join_replay import images, lacking
from tests.effort import deep_examples
from tests.oracle.naive_answer import Row, Rows
from tests.oracle.naive_cell import Caused, NaiveTimeline, applied, joined
from tests.overlay.join_questions import FORMS, RELATIONS, SHOWN, TABLES, batches, joins

HEADER = Header("changes", 3, "cell/r+s+t/0", 7)
Told = dict[tuple[str, int, int], Counter]


def needed_of(join: Join) -> list[str]:
    return [column_name((position, name)) for position in range(len(join.tables)) for name in SHOWN]


def told_of(packed: list[PackedImages], needed: list[str]) -> tuple[Told, Counter]:
    """Return by cause what has come less what has gone, and how many images there were."""
    net: Told = {}
    times: Counter = Counter()
    for one in packed:
        assert one.topic is not None and list(one.columns) == needed
        for i in range(len(one)):
            cause = one.header.topics[one.topic[i]], int(one.partition[i]), int(one.offset[i])
            bag = net.setdefault(cause, Counter())
            times[cause] += 1
            for side, there in (("old", one.rows[i] <= 0), ("new", one.rows[i] >= 0)):
                row = tuple(value_of(one, name, side, i) for name in needed)
                assert there or set(row) == {None}
                bag[row] += (1 if side == "new" else -1) if there else 0
    return {cause: Counter({row: n for row, n in bag.items() if n}) for cause, bag in net.items()}, times


def value_of(packed: PackedImages, name: str, side: str, i: int) -> int | str | None:
    column = packed.columns[name]
    if not getattr(column, f"{side}_known")[i]:
        assert getattr(column, side)[i] == 0
        return None
    value = int(getattr(column, side)[i])
    return value if column.texts is None else column.texts[value]


def recomputed(join: Join, tables: dict[str, Rows], batch: list[Caused], needed: list[str], wanted: object) -> Told:
    found: Told = {}
    for one in batch:
        after = applied(tables, one.parts)
        old, new = (bag_of(joined(join, state), needed, wanted) for state in (tables, after))
        new.subtract(old)
        found[one.topic, one.partition, one.offset] = Counter({row: n for row, n in new.items() if n})
        tables = after
    return found


def bag_of(rows: Rows, needed: list[str], wanted: object) -> Counter:
    return Counter(tuple(row[name] for name in needed) for row in rows.values() if wanted(row))  # type: ignore[operator]


@pytest.mark.deep
@settings(max_examples=deep_examples(2_000, few=15), deadline=None)
@given(
    join=joins,
    drawn=batches((6, 12), (1, 8)),
    piece=st.sampled_from([1, 2, 3, 1_000]),
    others=st.lists(joins, max_size=1),
)
def test_each_cause_does_what_nested_loops_say(
    join: Join, drawn: list[list[Caused]], piece: int, others: list[Join]
) -> None:
    before, batch = drawn
    tables: dict[str, Rows] = {name: {} for name in TABLES}
    for one in before:
        tables = applied(tables, one.parts)
    told = dict.fromkeys(TABLES, SHOWN)
    timeline = NaiveTimeline(RELATIONS, [join, *others], told).of(tables, batch, 40)
    needed = needed_of(join)
    assert lacking(join, needed, timeline) == []
    made = list(images(join, needed, timeline, HEADER, piece))
    check_form(join, made, needed, piece)
    net, times = told_of(made, needed)
    event(f"{sum(times.values()).bit_length()} bits of images")
    wanted = recomputed(join, tables, batch, needed, lambda row: True)
    assert {cause: bag for cause, bag in net.items() if bag} == {cause: bag for cause, bag in wanted.items() if bag}
    for one in made:
        for i in range(len(one)):
            assert one.topic is not None
            cause = one.header.topics[one.topic[i]], int(one.partition[i]), int(one.offset[i])
            assert (one.several is not None and bool(one.several[i])) == (times[cause] > 1)


def check_form(join: Join, made: list[PackedImages], needed: list[str], piece: int) -> None:
    assert all(0 < len(one) <= piece for one in made)
    assert all(len(one) == piece for one in made[:-1])
    for one in made:
        assert one.header.channels == [ImageChannel(join.name)] and one.header.needed == [needed]
        assert (one.header.epoch, one.header.shard, one.header.batch) == (3, "cell/r+s+t/0", 7)
    for name in ("cause", "seq"):
        numbers = np.concatenate([getattr(one, name) for one in made] or [np.zeros(0, np.int64)])
        assert (np.diff(numbers) >= 0).all()


@pytest.mark.deep
@settings(max_examples=deep_examples(1_000, few=10), deadline=None)
@given(join=joins, drawn=batches((6, 12), (1, 8)), bound=st.tuples(st.integers(0, 3), st.integers(0, 1)))
def test_rows_that_nobody_wants_may_be_left_out(join: Join, drawn: list[list[Caused]], bound: tuple[int, int]) -> None:
    """A row is sent where its x is wanted at some position of its table; whoever asks for that is told all the same."""
    before, batch = drawn
    tables: dict[str, Rows] = {name: {} for name in TABLES}
    for one in before:
        tables = applied(tables, one.parts)
    at, x = bound[0] % len(join.tables), bound[1]

    def sent(table: str, row: Row) -> bool:
        places = [i for i, name in enumerate(join.tables) if name == table]
        return any(place != at or row["x"] == x for place in places)

    timeline = NaiveTimeline(RELATIONS, [join], dict.fromkeys(TABLES, SHOWN), sent).of(tables, batch)
    needed, column = needed_of(join), column_name((at, "x"))
    net, _ = told_of(list(images(join, needed, timeline, HEADER)), needed)
    place = needed.index(column)
    mine = {cause: Counter({row: n for row, n in bag.items() if row[place] == x}) for cause, bag in net.items()}
    wanted = recomputed(join, tables, batch, needed, lambda row: row[column] == x)
    assert {cause: bag for cause, bag in mine.items() if bag} == {cause: bag for cause, bag in wanted.items() if bag}


def timeline_of(tables: dict[str, Rows], batch: list[Caused], join: Join) -> Timeline:
    return NaiveTimeline(RELATIONS, [join], dict.fromkeys(TABLES, SHOWN)).of(tables, batch)


def test_a_row_that_joins_as_before_is_one_image_with_each_partner() -> None:
    join = FORMS["two"]
    row = {"id": "p", "k": 1, "j": 0, "x": 0, "s": "a"}
    tables = {"r": {"p": row}, "s": {key: row | {"id": key} for key in "pq"}, "t": {}}
    batch = [
        Caused((("r", "p", row | {"x": 1}),), "topic-r", 0, 5),
        Caused((("r", "p", row | {"x": 1, "j": 1}),), "r", 0, 6),
    ]
    (one,) = images(join, needed_of(join), timeline_of(tables, batch, join), HEADER)
    assert one.rows.tolist() == [0, 0] and one.cause.tolist() == [0, 0], "no one looks at j"
    assert one.columns["0.x"].old.tolist() == [0, 0] and one.columns["0.x"].new.tolist() == [1, 1]
    assert [value_of(one, "1.id", side, i) for side in ("old", "new") for i in (0, 1)] == ["p", "q", "p", "q"]


def test_what_one_key_has_comes_in_pieces() -> None:
    join, many = FORMS["two"], 500
    row = {"id": "p", "k": 1, "j": 0, "x": 0, "s": "a"}
    tables: dict[str, Rows] = {"r": {"p": row}, "s": {str(i): row | {"id": str(i)} for i in range(many)}, "t": {}}
    batch = [Caused((("r", "p", row | {"x": i % 2 + 1}),), "topic-r", 0, i) for i in range(20)]
    made = list(images(join, ["0.x", "1.id"], timeline_of(tables, batch, join), HEADER, 333))
    assert [len(one) for one in made] == [333] * 30 + [10]
    assert Counter(offset for one in made for offset in one.offset.tolist()) == dict.fromkeys(range(20), many)
    ids = Counter((int(one.offset[i]), value_of(one, "1.id", "new", i)) for one in made for i in range(len(one)))
    assert len(ids) == many * 20 and set(ids.values()) == {1}
    assert all(len(one.columns["1.id"].texts or ()) <= 333 for one in made), "texts that no image has are left out"


@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_a_timeline_lacks(form: str) -> None:
    join = FORMS[form]
    row = {"id": "p", "k": 1, "j": 1, "x": 0, "s": "a"}
    tables: dict[str, Rows] = {name: {"p": row} for name in TABLES}
    batch = [Caused(((join.tables[0], "p", row | {"x": 1}),), "topic", 0, 5)]
    timeline = timeline_of(tables, batch, join)
    assert lacking(join, needed_of(join), timeline) == []
    assert lacking(join, ["0.id", "1.j"], timeline) == ["1.j"]
    other = NaiveTimeline(RELATIONS, [], {}).of(tables, batch)
    assert lacking(join, ["0.id"], other) == [], "no row is sent for this join"
    assert list(images(join, ["0.id"], other, HEADER)) == []
    for rows in timeline.rows:
        first = next(iter(rows.keys), None)
        if first is not None:
            del rows.keys[first]
            assert f"class {first[1]} of {first[2]}" in lacking(join, [], timeline)
            return
