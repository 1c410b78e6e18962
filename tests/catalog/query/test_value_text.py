"""Values as people read them."""

import pytest

from catalog.query.value_set import ValueSet, everything
from catalog.query.value_text import held, is_point, shown
from catalog.types.order_key import order_key
from tests.catalog.sample import of


@pytest.mark.parametrize(
    ("type_", "values", "said"),
    [
        (of("BIGINT"), ValueSet(((5, 5),)), "5"),
        (of("BIGINT"), ValueSet(((-(2**63), 4), (6, 9)), True), "up to 4, 6 to 9 or NULL"),
        (of("VARCHAR"), ValueSet(((b"a", b"a\0"),)), '"a"'),
        (of("VARCHAR"), ValueSet(((b"a", b"b"),)), '"a" to before "b"'),
        (of("BOOLEAN"), everything(of("BOOLEAN")), "any value"),
    ],
)
def test_value_sets(type_, values, said) -> None:
    assert held(type_, values) == said


def test_points() -> None:
    wide = of("DECIMAL", 38, 0)
    key = order_key(wide, "7")
    assert is_point(wide, key, order_key(wide, "8")) and not is_point(wide, key, order_key(wide, "9"))
    assert is_point(of("VARCHAR"), b"", b"\0") and not is_point(of("VARCHAR"), b"", b"a")
    assert is_point(of("DATE"), 3, 3) and not is_point(of("DATE"), 3, 4)


def test_a_value_of_a_group() -> None:
    assert (shown(of("DATE"), 0), shown(of("VARCHAR"), "x")) == ("1970-01-01", "x")
