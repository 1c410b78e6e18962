"""Value sets against sets of Python."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.value_set import NOTHING, ONLY_NULL, ValueSet, everything
from state.order_code import INT64_MAX, INT64_MIN
from tests.catalog.sample import of
from tests.effort import deep_examples, examples

CODES = range(-1, 9)
KEYS = [b"", b"\0", b"a", b"a\0", b"a\0\0", b"aa", b"b", b"c"]
ALL_CODES, ALL_KEYS = ValueSet(((-1, 8),)), ValueSet(((b"", b"c\0"),))

coded = st.builds(ValueSet.of, st.lists(st.tuples(st.integers(-1, 8), st.integers(-1, 8)), max_size=5), st.booleans())
keyed = st.builds(
    ValueSet.of, st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(KEYS)), max_size=5), st.booleans()
)
pairs = st.tuples(coded, coded, st.just((CODES, ALL_CODES))) | st.tuples(keyed, keyed, st.just((KEYS, ALL_KEYS)))


def members(values: ValueSet, domain) -> set:
    return {value for value in (*domain, None) if values.holds(value)}


@pytest.mark.deep
@given(pairs)
@settings(deadline=None, max_examples=deep_examples(2_000))
def test_sets_are_united_cut_and_complemented(drawn) -> None:
    one, other, (domain, whole) = drawn
    a, b = members(one, domain), members(other, domain)
    assert members(one | other, domain) == a | b
    assert members(one & other, domain) == a & b
    assert members(one.complement(whole), domain) == {value for value in domain if value not in a}
    assert one.within(other) == (a <= b) or domain is KEYS
    assert bool(one) == bool(a) or domain is KEYS


@given(pairs)
@settings(deadline=None, max_examples=examples(1_000))
def test_results_are_canonical(drawn) -> None:
    one, other, (_, whole) = drawn
    for found in (one | other, one & other, one.complement(whole), other.complement(whole)):
        assert found == ValueSet.of(found.intervals, found.null)
        assert found == ValueSet.of(reversed(found.intervals), found.null)
    assert one.complement(whole).complement(whole).intervals == (one & whole).intervals


def test_intervals_that_touch_are_one() -> None:
    assert ValueSet.of([(3, 4), (1, 2), (9, 5), (6, 6)]) == ValueSet(((1, 4), (6, 6)))
    assert ValueSet.of([(b"a", b"b"), (b"b", b"c"), (b"d", b"d")]) == ValueSet(((b"a", b"c"),))


def test_codes_reach_to_the_ends_of_64_bits() -> None:
    whole = everything(of("BIGINT"))
    assert whole == ValueSet(((INT64_MIN, INT64_MAX),))
    ends = ValueSet(((INT64_MIN, INT64_MIN), (INT64_MAX, INT64_MAX)))
    assert ends.complement(whole) == ValueSet(((INT64_MIN + 1, INT64_MAX - 1),))
    assert whole.complement(whole) == NOTHING and NOTHING.complement(whole) == whole


def test_a_complement_never_holds_null() -> None:
    assert ONLY_NULL.complement(everything(of("BOOLEAN"))) == ValueSet(((0, 1),))
    assert everything(of("VARCHAR")).complement(everything(of("VARCHAR"))) == NOTHING
