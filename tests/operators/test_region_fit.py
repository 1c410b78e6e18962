"""Regions that fit, by recomputation: what fits can be listened to and answered; the rest says why not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from operators.region_fit import RegionFit
from shard.tables import Table
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples
from tests.operators.watched import RELATION

NAMES = [column.name for column in RELATION.columns]
CODED = {column.name: column.type.coded for column in RELATION.columns}
FUNCTIONS = ["min", "max", "count", "count_distinct", "sum", "avg", "distinct"]


@st.composite
def regions(draw: st.DrawFn) -> Region:
    """Any region, mostly one that is nearly right."""
    name = st.sampled_from([*NAMES, *NAMES, "gone"])
    outputs = draw(st.lists(st.builds(Output, st.sampled_from(FUNCTIONS), name), min_size=1, max_size=2))
    equal = draw(st.lists(name, max_size=2))
    range_ = draw(st.none() | name)
    values = [draw(st.integers(-2, 2)) if CODED.get(column, True) else draw(st.text(max_size=2)) for column in equal]
    if draw(st.integers(0, 4)) == 0:
        values = draw(st.lists(st.one_of(st.integers(), st.text(max_size=1)), max_size=3))
    ends = (INT64_MIN, INT64_MAX) if CODED.get(range_ or "", True) else (LOWEST_KEY, BEYOND_KEYS)
    lo, hi = draw(st.sampled_from([ends, ends, ends[::-1], (0, 5), (b"a", b"b")]))
    shape = Shape(RELATION.name, tuple(outputs), tuple(equal), range_)
    return Region(shape, group_key(tuple(values)), lo, hi, draw(st.integers(0, 5)) == 0)


@pytest.mark.deep
@given(st.lists(regions(), min_size=1, max_size=4))
@settings(max_examples=deep_examples(400, few=4), deadline=None)
def test_what_fits_is_answered_and_what_does_not_says_why(asked: list[Region]) -> None:
    fit = RegionFit(RELATION)
    reasons = [fit.why_not(region) for region in asked]
    assert RegionFit(RELATION).reasons(asked) == reasons == [fit.why_not(r) for r in asked]
    assert reasons == [RegionFit(RELATION).why_not(region) for region in asked]
    kept = [region for region, reason in zip(asked, reasons, strict=True) if not reason]
    operator = Table(RELATION)
    operator.listen([channel for region in kept for channel in region.shape.channels])
    assert len(operator.snapshot(kept)) == len(kept)
    operator.check()


@pytest.mark.parametrize(
    ("outputs", "group", "bounds", "says"),
    [
        ((), b"[]", (0, 1), "outputs [], expected some"),
        ((Output("topk", NAMES[0]),), b"[]", (0, 1), "outputs ['topk'], expected some of min, max"),
        ((Output("count", None),), b"[1]", (0, 1), "group b'[1]', expected a canonical array of []"),
        ((Output("count", None),), b"[]", (1, 0), "bounds 1 and 0, expected two ordered ones of type int"),
    ],
)
def test_the_reason_names_what_is_wrong(
    outputs: tuple[Output, ...], group: bytes, bounds: tuple[int, int], says: str
) -> None:
    assert says in RegionFit(RELATION).why_not(Region(Shape(RELATION.name, outputs, (), None), group, *bounds))
