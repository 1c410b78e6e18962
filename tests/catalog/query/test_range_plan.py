import pytest

from catalog.query.channel import channel_of
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, NO_GROUP, Output, group_key
from catalog.sql.errors import SubscriptionError
from catalog.types.order_key import after, key_of_unscaled
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.catalog.sample import region


@pytest.mark.parametrize(
    ("condition", "equal", "range_"),
    [
        ("", (), None),
        ("volume BETWEEN 1 AND 2", (), "volume"),
        ("exchange = 'a'", ("exchange",), None),
        ("volume = 3 AND exchange = 'a' AND risk > 1", ("exchange", "volume"), "risk"),
        ("volume > 1 AND volume < 5 AND 3 >= volume", (), "volume"),
        ("volume = 3 AND volume > 1 AND risk < 2", ("volume",), "risk"),
        ("symbol = 'A' AND price > 1", ("symbol",), "price"),
        ("price = 1", ("price",), None),
        ('open = TRUE AND "Lot Size" <= 5', ("open",), "Lot Size"),
        ("open > FALSE", (), "open"),
    ],
)
def test_roles_of_the_columns(condition, equal, range_) -> None:
    shape = region(condition).shape
    assert (shape.relation, shape.outputs) == ("stock", (Output("min", "price"),))
    assert (shape.equal, shape.range) == (equal, range_)


def test_groups_stand_in_ddl_order_and_hold_codes() -> None:
    condition = "volume = -3 AND open = FALSE AND exchange = 'Ö' AND risk = 0.5 AND day = '1970-01-02' AND price = 1.5"
    group = group_key(("Ö", code_of_double(0.5), 150, -3, 0, 1))
    assert region(condition).group == group


LOW, HIGH = INT64_MIN, INT64_MAX


@pytest.mark.parametrize(
    ("condition", "lo", "hi"),
    [
        ("volume > 5", 6, HIGH),
        ("volume >= 5", 5, HIGH),
        ("volume < 5", LOW, 4),
        ("5 >= volume", LOW, 5),
        ("volume BETWEEN -1 AND 3", -1, 3),
        ("volume > 1 AND volume <= 9 AND volume < 7 AND volume >= 0", 2, 6),
        ("volume < 2.5", LOW, 2),
        ("volume <= -2.5", LOW, -3),
        ("volume > 2.5", 3, HIGH),
        ("volume >= -2.5", -2, HIGH),
        ("volume BETWEEN 2.5 AND 3.5", 3, 3),
        ("volume <= 1e100", LOW, HIGH),
        ("volume > -1e100", LOW, HIGH),
        ("volume <= 9223372036854775807", LOW, HIGH),
        ("volume < 9223372036854775807", LOW, HIGH - 1),
        ("volume < 9223372036854775807.5", LOW, HIGH),
        ("volume >= -9223372036854775808", LOW, HIGH),
        ("price > 1.005", 101, HIGH),
        ("price < 1.005", LOW, 100),
        ("price BETWEEN 1 AND 1.999", 100, 199),
        ("risk >= 0.1", code_of_double(0.1), HIGH),
        ("risk > 0.1", code_of_double(0.1) + 1, HIGH),
        ("risk > -0.0", 1, HIGH),
        ("risk < 0", LOW, -1),
        ("day <= '2026-03-01 12:00'", LOW, 20513),
        ("day >= '2026-03-01 12:00'", 20514, HIGH),
        ("day < TIMESTAMP '2026-03-01 12:00:00'", LOW, 20513),
        ("day < TIMESTAMP '2026-03-01 00:00:00'", LOW, 20512),
        ("at < DATE '1970-01-02'", LOW, 86_400_000_000 - 1),
        ("at <= '1970-01-01 00:00:00.0000015'", LOW, 1),
        ("open >= TRUE", 1, HIGH),
    ],
)
def test_ranges_are_exact(condition, lo, hi) -> None:
    got = region(condition)
    assert (got.lo, got.hi, got.empty) == (lo, hi, False)


@pytest.mark.parametrize(
    ("condition", "lo", "hi"),
    [
        ("volume BETWEEN 5 AND 3", 5, 3),
        ("volume > 5 AND volume < 6", 6, 5),
        ("volume BETWEEN 2.1 AND 2.9", 3, 2),
        ("volume > 1e100", HIGH, LOW),
        ("volume < -9223372036854775808", HIGH, LOW),
        ("volume > 9223372036854775807", HIGH, LOW),
        ("volume < NULL", 1, 0),
        ("volume > 1 AND volume < NULL", 1, 0),
        ("small > 32767", 32768, HIGH),
        ("price > 9999999999.99", 10**12, HIGH),
        ("risk > 1e400", code_of_double(float("inf")) + 1, HIGH),
        ("risk >= 1e400", code_of_double(float("inf")), HIGH),
        ("day < '0001-01-01'", LOW, -719163),
        ("open > TRUE", 2, HIGH),
    ],
)
def test_impossible_ranges_are_legal_and_empty(condition, lo, hi) -> None:
    got = region(condition)
    assert (got.lo, got.hi, got.empty) == (lo, hi, True)
    assert got.group == b"[]"


@pytest.mark.parametrize(
    "condition",
    [
        "volume = 2.5",
        "volume = 1e100",
        "volume = 9223372036854775808",
        "volume = NULL",
        "volume = 5 AND volume = 6",
        "volume = 5 AND volume > 5",
        "small = 70000",
        "price = 10000000000",
        "price = 1.005",
        "risk = 1e400",
        "ratio = 1e39",
        "day = '2026-03-01 12:00'",
        "exchange = NULL",
        "exchange = 'a' AND exchange = 'b'",
        "exchange = 'a' AND exchange > 'a'",
        "exchange = 'a' AND exchange < NULL",
        "open = TRUE AND open = FALSE",
    ],
)
def test_impossible_equalities_are_legal_and_empty(condition) -> None:
    got = region(condition)
    assert got.empty and got.group == NO_GROUP
    assert len(got.shape.equal) == 1
    other = region(condition + " AND at > '2026-03-01'")
    assert other.empty and other.shape.range == "at"


def test_strings_beside_an_equality_compare_by_code_point() -> None:
    assert region("exchange = 'a' AND exchange > 'Z' AND exchange BETWEEN '' AND 'é'").group == b'["a"]'
    assert region("exchange = ''").group == b'[""]'
    assert region("exchange = 'A'").group != region("exchange = 'a'").group


def test_a_real_equals_the_json_number_of_the_same_text() -> None:
    assert region("ratio = 0.1").group == group_key((code_of_double(0.10000000149011612),))
    assert region("ratio < 0.1").hi == code_of_double(0.10000000149011612) - 1


def test_a_double_is_compared_with_the_nearest_double() -> None:
    assert region("risk = 9007199254740993").group == region("risk = 9007199254740992").group
    assert region("risk = -0.0").group == region("risk = 0").group


@pytest.mark.parametrize("condition", ["volume = 'x' AND exchange = 5", "exchange = 5 AND volume = 'x'"])
def test_the_first_mismatch_in_ddl_order_is_told(condition) -> None:
    with pytest.raises(SubscriptionError) as caught:
        region(condition)
    assert caught.value.code == "type_mismatch" and "`exchange`" in caught.value.what


@pytest.mark.parametrize(
    ("condition", "lo", "hi"),
    [
        ("symbol >= 'a'", b"a", BEYOND_KEYS),
        ("symbol > 'a'", after(b"a"), BEYOND_KEYS),
        ("symbol < 'a'", LOWEST_KEY, b"a"),
        ("symbol <= 'a'", LOWEST_KEY, after(b"a")),
        ("symbol BETWEEN 'b' AND 'é' AND symbol > 'c'", after(b"c"), after("é".encode())),
        ("symbol BETWEEN 'b' AND 'a'", b"b", after(b"a")),
        ("wide > 1.5", key_of_unscaled(15 * 10**9 + 1), BEYOND_KEYS),
        ("wide BETWEEN -1e-11 AND 1e-10", key_of_unscaled(0), key_of_unscaled(2)),
        ("wide < 1e100", LOWEST_KEY, BEYOND_KEYS),
    ],
)
def test_ranges_of_what_has_no_code_are_half_open_ranges_of_keys(condition, lo, hi) -> None:
    found = region(condition)
    assert (found.lo, found.hi, found.empty) == (lo, hi, lo >= hi)


def test_nothing_is_in_a_range_of_keys_with_null_or_beyond_all() -> None:
    assert region("symbol > NULL").empty
    assert region("wide > 1e100").empty
    assert region("wide > 3 AND wide < 3").empty


def test_a_wide_decimal_is_compared_by_its_canonical_text() -> None:
    assert region("wide = 3").group == group_key(("3.0000000000",))
    assert region("wide = 1e-11").group == NO_GROUP


@pytest.mark.parametrize(
    ("selected", "kinds"),
    [
        ("MIN(price)", [("min", "price")]),
        ("MIN(symbol), MAX(wide)", [("min", "symbol"), ("max", "wide")]),
        ("COUNT(*), COUNT(price)", [("rows", None), ("rows", "price")]),
        ("COUNT(price), SUM(price), AVG(price)", [("values", "price")]),
        ("DISTINCT symbol", [("distinct", "symbol")]),
    ],
)
def test_a_select_list_needs_channels(selected, kinds) -> None:
    shape = region("risk > 1", selected).shape
    assert list(shape.channels) == [channel_of("stock", kind, column, (), "risk") for kind, column in kinds]
