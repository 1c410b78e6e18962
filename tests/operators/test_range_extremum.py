"""RangeExtremum against its naive twin: exact, silent, single, idempotent, after every change and for every range."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import Region, Shape, group_key
from operators.operator import Messages
from operators.range_extremum import RangeExtremum, ShapeError, warm
from state import a2b_tree, byte_table, ordering, row_store
from state.change_batch import ChangeBatch
from state.errors import StateError
from state.order_code import INT64_MAX, INT64_MIN
from tests.oracle.naive_range_extremum import KEEP, NaiveRangeExtremum
from tests.oracle.plain_kernels import plain_kernels

BIGINT, VARCHAR = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
RELATION = Relation(
    "t",
    (Column("id", BIGINT, False), Column("e", VARCHAR), Column("f", BIGINT), Column("x", BIGINT), Column("y", BIGINT)),
    ("id",),
    "t",
)
SHAPES = [
    Shape("t", "min", "y", ("e",), "x"),
    Shape("t", "max", "y", ("e",), "x"),
    Shape("t", "min", "x", ("e",), None),
    Shape("t", "max", "y", ("e", "f"), "x"),
    Shape("t", "min", "y", (), "x"),
    Shape("t", "max", "f", ("f",), None),
]
Change = tuple[int, dict[str, int | str | None] | None]


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, ordering, a2b_tree):
        yield


def batch_of(changes: Sequence[Change], relation: Relation = RELATION) -> ChangeBatch:
    """Lay changes out as a decoder does."""
    names = [column.name for column in relation.columns]
    m, c = len(changes), len(names)
    codes, valid, kept = np.zeros((c, m), np.int64), np.zeros((c, m), np.bool_), np.zeros((c, m), np.bool_)
    texts: dict[int, list[str | None]] = {1: [None] * m}
    for i, (pk, row) in enumerate(changes):
        for column, name in enumerate(names):
            value = pk if name == "id" else (row or {}).get(name)
            kept[column, i] = value == KEEP
            if value is None or value == KEEP or row is None:
                continue
            valid[column, i] = True
            if isinstance(value, str):
                texts[column][i] = value
            else:
                codes[column, i] = value
    live = np.array([row is not None for _, row in changes], np.bool_)
    partition, offset = np.array([pk % 3 for pk, _ in changes], np.int32), np.arange(m, dtype=np.int64)
    keys = [b"%d" % pk for pk, _ in changes]
    return ChangeBatch(keys, live, codes, valid, texts, partition, offset, kept if kept.any() else None)


class Watched:
    """Every range over small domains, as a subscriber each, holding what messages told it."""

    def __init__(self, bounds: Sequence[int], groups: dict[str, Sequence[int | str]]) -> None:
        self.ranges = list(itertools.product(bounds, bounds))
        self.groups = groups
        self.held: dict[Region, int | None] = {}

    def subscribe(self, operator: RangeExtremum, twin: NaiveRangeExtremum, shape: Shape) -> None:
        values = itertools.product(*(self.groups[name] for name in shape.equal))
        ranges = self.ranges if shape.range else [(INT64_MIN, INT64_MAX)]
        regions = [Region(shape, group_key(group), lo, hi) for group in values for lo, hi in ranges]
        new, there = operator.snapshot(regions)
        for region, code, is_there in zip(regions, new.tolist(), there.tolist(), strict=True):
            answer = code if is_there else None
            assert answer == twin.answer(shape, region.group, region.lo, region.hi), region
            self.held[region] = answer

    def unsubscribe(self, shape: Shape) -> None:
        self.held = {region: answer for region, answer in self.held.items() if region.shape != shape}

    def hear(self, messages: Messages, which: Sequence[int]) -> None:
        """Take the messages of one change: each subscriber at most one, and never the answer it has."""
        heard = set()
        for i in which:
            shape, group = messages.shapes[messages.shape[i]], messages.groups[messages.group[i]]
            assert messages.lo_min[i] <= messages.lo_max[i] <= INT64_MAX
            assert messages.hi_min[i] <= messages.hi_max[i]
            for region, held in self.held.items():
                if region.shape == shape and region.group == group and hits(messages, i, region):
                    new = int(messages.new[i]) if messages.has_new[i] else None
                    assert region not in heard, f"not single: {region}"
                    assert new != held, f"not silent: {region} holds {held}"
                    heard.add(region)
                    self.held[region] = new

    def verify(self, twin: NaiveRangeExtremum) -> None:
        for region, held in self.held.items():
            assert held == twin.answer(region.shape, region.group, region.lo, region.hi), f"not exact: {region}"


def hits(messages: Messages, i: int, region: Region) -> bool:
    lo = messages.lo_min[i] <= region.lo <= messages.lo_max[i]
    return bool(lo and messages.hi_min[i] <= region.hi <= messages.hi_max[i])


def play(operator: RangeExtremum, twin: NaiveRangeExtremum, watched: Watched, changes: Sequence[Change]) -> None:
    """Apply one batch, and check every range after each of its changes."""
    messages = operator.apply(batch_of(changes))
    causes = messages.cause.tolist()
    assert causes == sorted(causes)
    for i, (pk, row) in enumerate(changes):
        before = dict(twin.rows)
        twin.change(b"%d" % pk, None if row is None else {"id": pk, **row})
        which = [k for k, cause in enumerate(causes) if cause == i]
        assert not which or before != twin.rows, "a change to the same row said something"
        watched.hear(messages, which)
        watched.verify(twin)
    operator.check()
    assert operator.rows == len(twin.rows)


def rows_over(xs: list[int], ys: list[int], keep: bool) -> st.SearchStrategy[dict[str, int | str | None]]:
    extra = [None, KEEP] if keep else [None]
    return st.fixed_dictionaries(
        {
            "e": st.sampled_from(["a", "b", "a", "b", *extra]),
            "f": st.sampled_from([0, 0, 1, *extra]),
            "x": st.sampled_from([*xs, *extra]),
            "y": st.sampled_from([*ys, *extra]),
        }
    )


def batches_over(xs: list[int], ys: list[int], keep: bool = True) -> st.SearchStrategy[list[list[Change]]]:
    row = st.one_of(st.none(), rows_over(xs, ys, keep), rows_over(xs, ys, keep))
    return st.lists(st.lists(st.tuples(st.integers(0, 6), row), min_size=1, max_size=9), min_size=1, max_size=4)


def run(batches: list[list[Change]], bounds: list[int], shape_sets: list[set[int]]) -> None:
    operator, twin = RangeExtremum(RELATION), NaiveRangeExtremum(["id", "e", "f", "x", "y"])
    watched = Watched(bounds, {"e": ["a", "b", "nowhere"], "f": [0, 1]})
    listening: set[int] = set()
    for number, changes in enumerate(batches):
        wanted = shape_sets[number % len(shape_sets)]
        for gone in listening - wanted:
            operator.forget([SHAPES[gone]])
            watched.unsubscribe(SHAPES[gone])
        operator.listen([SHAPES[i] for i in sorted(wanted)])
        for come in sorted(wanted - listening):
            watched.subscribe(operator, twin, SHAPES[come])
        listening = wanted
        play(operator, twin, watched, changes)
        stored = operator.dump()
        operator = RangeExtremum.load(RELATION, stored)
        operator.check()
        assert operator.dump() == stored
        assert operator.shapes == tuple(sorted((SHAPES[i] for i in listening), key=lambda shape: shape.key))


SHAPE_SETS = st.lists(st.sets(st.integers(0, len(SHAPES) - 1), min_size=1, max_size=3), min_size=1, max_size=3)
CALM = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@CALM
@given(batches=batches_over(list(range(7)), list(range(5))), shape_sets=SHAPE_SETS)
def test_small_domains(plain: None, batches: list[list[Change]], shape_sets: list[set[int]]) -> None:
    run(batches, [INT64_MIN, 0, 1, 2, 3, 4, 5, 6, INT64_MAX], shape_sets)


ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX]


@CALM
@given(batches=batches_over(ENDS, ENDS), shape_sets=SHAPE_SETS)
def test_whole_int64(plain: None, batches: list[list[Change]], shape_sets: list[set[int]]) -> None:
    run(batches, ENDS, shape_sets)


def test_hundreds_of_rows_compiled() -> None:
    """The compiled kernels, more rows and a fresh shard, against the twin on a sample of ranges."""
    rng = np.random.default_rng(5)
    operator, twin = RangeExtremum(RELATION), NaiveRangeExtremum(["id", "e", "f", "x", "y"])
    operator.listen(SHAPES)
    watched = Watched([INT64_MIN, 20, 41, INT64_MAX], {"e": ["a", "b"], "f": [0, 1]})
    for shape in SHAPES:
        watched.subscribe(operator, twin, shape)
    for _ in range(4):
        changes: list[Change] = []
        for pk, e, f, x, y in rng.integers(0, [300, 3, 3, 60, 60], (400, 5)).tolist():
            row: dict[str, int | str | None] = {"e": ["a", "b", None][e], "f": [0, 1, None][f], "x": x, "y": y}
            changes.append((pk, row if y else None))
        messages = operator.apply(batch_of(changes))
        for pk, changed in changes:
            twin.change(b"%d" % pk, changed and {"id": pk, **changed})
        for _ in range(2):
            tell(watched, messages)
            watched.verify(twin)
        operator = RangeExtremum.load(RELATION, operator.dump())
        operator.check()


def tell(watched: Watched, messages: Messages) -> None:
    """Take a batch's messages in order, without asking what changed (so that a repetition is harmless)."""
    for i in range(len(messages)):
        shape, group = messages.shapes[messages.shape[i]], messages.groups[messages.group[i]]
        for region in watched.held:
            if region.shape == shape and region.group == group and hits(messages, i, region):
                watched.held[region] = int(messages.new[i]) if messages.has_new[i] else None


ROW: dict[str, int | str | None] = {"e": "a", "f": 0, "x": 1, "y": 5}


def loaded(*changes: Change) -> RangeExtremum:
    operator = RangeExtremum(RELATION)
    operator.listen(SHAPES[:2])
    operator.apply(batch_of(changes))
    return operator


def test_messages_of_one_change_are_adjacent_and_name_shape_and_group() -> None:
    messages = loaded((1, ROW), (2, ROW | {"y": 4})).apply(batch_of([(1, None), (2, ROW | {"e": "b", "y": 4})]))
    told = [
        (cause, messages.shapes[shape].aggregate, messages.groups[group], new if there else None)
        for cause, shape, group, new, there in zip(
            messages.cause.tolist(),
            messages.shape.tolist(),
            messages.group.tolist(),
            messages.new.tolist(),
            messages.has_new.tolist(),
            strict=True,
        )
    ]
    assert told == [
        (0, "max", b'["a"]', 4),
        (1, "max", b'["a"]', None),
        (1, "max", b'["b"]', 4),
        (1, "min", b'["a"]', None),
        (1, "min", b'["b"]', 4),
    ]


def test_an_identical_row_and_a_delete_of_nothing_say_nothing() -> None:
    operator = loaded((1, ROW))
    before = operator.dump()
    assert len(operator.apply(batch_of([(1, ROW), (2, None), (1, dict.fromkeys(ROW, KEEP))]))) == 0
    assert operator.dump() == before
    assert len(operator.apply(batch_of([]))) == 0


def test_a_shape_that_does_not_fit_is_refused() -> None:
    operator = RangeExtremum(RELATION)
    for shape in (
        Shape("other", "min", "y", (), "x"),
        Shape("t", "sum", "y", (), "x"),
        Shape("t", "min", "nothing", (), "x"),
        Shape("t", "min", "e", (), "x"),
        Shape("t", "min", "y", (), "e"),
    ):
        with pytest.raises(ShapeError):
            operator.listen([shape])
    assert operator.shapes == ()
    with pytest.raises(ShapeError, match="listen"):
        operator.snapshot([Region(SHAPES[0], b'["a"]')])


def test_an_ordering_is_shared_and_goes_with_its_last_shape() -> None:
    operator = loaded((1, ROW))
    assert operator.orderings == 1
    operator.listen(SHAPES)
    assert operator.orderings == 5
    operator.forget([SHAPES[0], *SHAPES[2:]])
    assert operator.orderings == 1
    operator.forget(SHAPES)
    assert operator.orderings == 0
    assert len(operator.apply(batch_of([(1, None)]))) == 0


def test_an_empty_region_has_no_answer() -> None:
    operator = loaded((1, ROW))
    regions = [
        Region(SHAPES[0], b'["a"]'),
        Region(SHAPES[0], b'["a"]', empty=True),
        Region(SHAPES[0], b'["a"]', 2, 1),
        Region(SHAPES[0], b'["z"]'),
    ]
    assert operator.snapshot(regions)[1].tolist() == [True, False, False, False]
    assert operator.snapshot([])[0].tolist() == []


def test_appended_nullable_columns_are_null_and_can_be_listened_to() -> None:
    wider = replace(RELATION, columns=(*RELATION.columns, Column("z", BIGINT), Column("w", VARCHAR)))
    operator = RangeExtremum.load(wider, loaded((1, ROW)).dump())
    operator.check()
    shape = Shape("t", "min", "z", ("w",), "x")
    operator.listen([shape])
    assert operator.snapshot([Region(shape, b'["a"]'), Region(SHAPES[0], b'["a"]')])[1].tolist() == [False, True]
    assert RangeExtremum.load(wider, operator.dump()).dump() == operator.dump()


def test_another_declaration_is_refused_and_both_are_named() -> None:
    stored = loaded((1, ROW)).dump()
    columns = RELATION.columns
    for other in (
        replace(RELATION, columns=(*columns, Column("z", BIGINT, False))),
        replace(RELATION, columns=columns[:-1]),
        replace(RELATION, columns=(*columns[:-1], Column("y", VARCHAR))),
        replace(RELATION, key=("x",)),
        replace(RELATION, name="u"),
    ):
        with pytest.raises(StateError, match=r"expected .*BIGINT.* found .*BIGINT"):
            RangeExtremum.load(other, stored)
    with pytest.raises(StateError, match="expected"):
        RangeExtremum.load(RELATION, RangeExtremum(replace(RELATION, born=7)).dump())


def test_a_table_that_was_created_again_begins_empty() -> None:
    stored = loaded((1, ROW)).dump()
    operator = RangeExtremum.load(replace(RELATION, born=7, columns=RELATION.columns[:3]), stored)
    assert operator.rows == 0
    assert operator.shapes == ()


def test_format_topic_and_absent_are_not_part_of_the_state() -> None:
    stored = loaded((1, ROW)).dump()
    assert RangeExtremum.load(replace(RELATION, topic="x", format="debezium", absent="keep"), stored).dump() == stored


def test_partitions_that_moved_are_counted_and_kept() -> None:
    operator, changes = loaded((1, ROW)), batch_of([(1, ROW), (1, ROW)])
    changes.partition[:] = [1, 2]
    operator.apply(changes)
    assert operator.moved_partitions == 1
    restored = RangeExtremum.load(RELATION, operator.dump())
    assert restored.moved_partitions == 1
    assert restored.bytes == operator.bytes == len(operator.dump())


def test_warm_leaves_one_specialisation_of_each_kernel() -> None:
    warm()
    loaded((1, ROW)).snapshot([Region(SHAPES[0], b'["a"]')])
    for module in (byte_table, row_store, ordering, a2b_tree):
        for kernel in module.ENTRIES:
            assert len(kernel.signatures) == 1, kernel
    with pytest.raises(TypeError):
        byte_table._gather(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1))
