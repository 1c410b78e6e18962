"""Filters that fit, by what comes of them: they are answered; the rest says why not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.output import Output
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from operators.coded_terms import CodedRows
from operators.first_rows import FirstRows, columns_of
from operators.region_fit import RegionFit
from operators.reply import PLAINLY, Asked
from tests.effort import deep_examples
from tests.fuzz.mutation import damaged
from tests.operators.filter_rows import REGIONS, store_of
from tests.operators.watched import RELATION

STORE, _ = store_of([(i, {"e": "ab"[i % 2], "x": i, "w": "0.50", "s": None, "d": 5}) for i in range(4)])
NAMES = [*(column.name for column in RELATION.columns), "gone"]
NAME = st.sampled_from(NAMES)
SET = st.sampled_from([ValueSet(((1, 2),)), ValueSet(((b"a", b"b"),)), ValueSet((), True)])
TERMS = st.lists(st.dictionaries(st.integers(0, 3), SET, max_size=2), max_size=2).map(encode_terms)


@st.composite
def regions(draw: st.DrawFn) -> Region:
    """Any region of a filter, mostly one that is nearly right."""
    if draw(st.booleans()):
        return draw(REGIONS)
    shown = tuple(draw(st.lists(NAME, max_size=2)))
    function = st.sampled_from(["count", "sum", "avg", "min", "distinct", ""])
    outputs = tuple(draw(st.lists(st.builds(Output, function, st.none() | NAME), max_size=2)))
    tested = tuple(draw(st.lists(NAME, max_size=3)))
    keys = tuple(draw(st.lists(st.integers(-1, 2), max_size=1)))
    shape = FilterShape("t", shown, outputs, tested, tuple(draw(st.lists(NAME, max_size=1)))[1:], keys)
    terms = draw(st.one_of(TERMS, damaged(TERMS)))
    return Region(shape, draw(st.sampled_from([b"[]", b"[]", b"[1]", b""])), empty=draw(st.booleans()), terms=terms)


@pytest.mark.deep
@given(st.lists(regions(), min_size=1, max_size=4))
@settings(max_examples=deep_examples(400), deadline=None)
def test_what_fits_is_answered_and_what_does_not_says_why(asked: list[Region]) -> None:
    fit = RegionFit(RELATION)
    reasons = [fit.why_not(region) for region in asked]
    assert RegionFit(RELATION).reasons(asked) == reasons == fit.reasons(asked)
    kept = [region for region, reason in zip(asked, reasons, strict=True) if not reason]
    for region in kept:
        assert isinstance(region.shape, FilterShape) and columns_of(region.shape) <= {*NAMES} - {"gone"}
    for how in (PLAINLY, Asked(None, True)):
        for many in (0, 9):
            first_rows = FirstRows(CodedRows(RELATION, STORE), bytes(16), many)
            assert len(first_rows.answers(kept, [how] * len(kept)).answers) == len(kept)


def test_a_filter_of_a_relation_with_buckets_fixes_them() -> None:
    relation = replace(RELATION, key=("id", "e"), buckets=2, bucket_by=("e",))
    shape = FilterShape("t", ("id",), (), (), ("e",), ())
    terms = encode_terms([{}])
    fit = RegionFit(relation)
    assert fit.why_not(Region(shape, b'["a"]', terms=terms)) == ""
    assert "expected a canonical array of ['text']" in fit.why_not(Region(shape, b"[1]", terms=terms))
    assert "buckets by []" in fit.why_not(Region(FilterShape("t", ("id",), (), (), (), ()), b"[]", terms=terms))
