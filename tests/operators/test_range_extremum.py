"""RangeExtremum against its naive twin: exact, silent, single, idempotent, after every change and for every range."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import Region, Shape, group_key
from operators.operator import Messages
from operators.range_extremum import RangeExtremum
from state import a2b_tree, byte_table, ordering, row_store
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN
from tests.oracle.naive_range_extremum import KEEP, NaiveRangeExtremum

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
KERNEL_MODULES: list[ModuleType] = [byte_table, row_store, ordering, a2b_tree]


@pytest.fixture
def plain() -> Iterator[None]:
    """Run the kernels as the plain Python they are: no compiling, and coverage sees them."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for module in KERNEL_MODULES:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
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
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
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
