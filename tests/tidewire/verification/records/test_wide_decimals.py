"""Keys of wide decimals sort as the numbers do, made by DuckDB or here."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tidewire.verification.recompute.history import connect
from tidewire.verification.records.wide_decimals import key_expression, key_of, wide_digits

numbers = st.decimals("-9999.9999", "9999.9999", places=4) | st.sampled_from([Decimal("1e9"), Decimal("-1e40")])


def test_only_long_decimals_are_wide() -> None:
    assert wide_digits("DECIMAL(38,2)") == (38, 2)
    assert [wide_digits(type) for type in ("DECIMAL(18,2)", "VARCHAR")] == [None, None]


@settings(max_examples=examples(200), deadline=None)
@given(numbers, numbers)
def test_constants_sort_as_numbers_do(one: Decimal, other: Decimal) -> None:
    value = max(min(one, Decimal("99.99")), Decimal("-99.99")).quantize(Decimal("0.01"))
    key, constant = key_of(value, 4, 2), key_of(other, 4, 2)
    assert (key < constant, key == constant) == (value < other, value == other)


def test_duckdb_makes_the_same_keys() -> None:
    database = connect()
    for precision, scale in ((38, 38), (38, 0), (38, 2), (20, 4)):
        largest = Decimal("9" * precision).scaleb(-scale).copy_abs() if precision < 28 else None
        for text in ("0", "0.5", "-0.5", "0.01", "-0.01") if scale else ("0", "1", "-1", "9" * 38, "-" + "9" * 38):
            number = Decimal(text)
            sql = f"SELECT {key_expression('x', precision, scale)} FROM (SELECT ?::DECIMAL({precision},{scale}) AS x)"
            assert database.execute(sql, [text]).fetchone() == (key_of(number, precision, scale),)
        assert largest is None or key_of(largest, precision, scale) < key_of(largest + 1, precision, scale)
    assert database.execute(
        f"SELECT {key_expression('x', 38, 2)} FROM (SELECT NULL::DECIMAL(38,2) AS x)"
    ).fetchone() == (None,)
