"""What single conditions hold, by the table of the module."""

import pytest

from catalog.query.condition_set import ConditionSet
from catalog.query.value_set import ValueSet, everything
from catalog.types.literal import ConstantRefused, LiteralKind
from catalog.types.order_key import key_of_unscaled
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.catalog.sample import of

NULL = (LiteralKind.NULL, "NULL")


def number(text: str) -> tuple[LiteralKind, str]:
    return LiteralKind.NUMBER, text


def string(text: str) -> tuple[LiteralKind, str]:
    return LiteralKind.STRING, text


def held(type_, operator: str, *constants: tuple[LiteralKind, str], negative: bool = False) -> ValueSet:
    condition = ConditionSet.of("c", type_, operator, tuple((i, negative) for i in range(len(constants))))
    return condition.values([kind for kind, _ in constants], [text for _, text in constants])


BIGINT, TEXT, WIDE = of("BIGINT"), of("VARCHAR"), of("DECIMAL", 20, 1)
LOW, HIGH = INT64_MIN, INT64_MAX


@pytest.mark.parametrize(
    ("operator", "constants", "intervals"),
    [
        ("=", ["5"], [(5, 5)]),
        ("<>", ["5"], [(LOW, 4), (6, HIGH)]),
        ("<", ["5"], [(LOW, 4)]),
        ("<=", ["5.5"], [(LOW, 5)]),
        (">", ["5.5"], [(6, HIGH)]),
        (">=", ["5"], [(5, HIGH)]),
        ("=", ["5.5"], []),
        ("<>", ["5.5"], [(LOW, HIGH)]),
        ("<>", [str(HIGH)], [(LOW, HIGH - 1)]),
        (">", [str(HIGH)], []),
        ("<=", ["1e400"], [(LOW, HIGH)]),
        ("in", ["1", "3", "2", "7"], [(1, 3), (7, 7)]),
        ("not in", ["1", "3"], [(LOW, 0), (2, 2), (4, HIGH)]),
        ("in", ["0.5"], []),
        ("not in", ["0.5"], [(LOW, HIGH)]),
    ],
)
def test_numbers(operator, constants, intervals) -> None:
    assert held(BIGINT, operator, *map(number, constants)) == ValueSet(tuple(intervals))


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">=", "in", "not in"])
@pytest.mark.parametrize("type_", [BIGINT, TEXT, WIDE, of("BOOLEAN"), of("DATE")], ids=str)
def test_nothing_is_known_of_a_comparison_with_null(operator, type_) -> None:
    assert held(type_, operator, NULL) == ValueSet(())


def test_null_in_a_list() -> None:
    assert held(BIGINT, "in", number("1"), NULL) == ValueSet(((1, 1),))
    assert held(BIGINT, "not in", number("1"), NULL) == ValueSet(())


def test_null_itself() -> None:
    for type_ in (BIGINT, TEXT, WIDE):
        assert held(type_, "null") == ValueSet((), True)
        assert held(type_, "not null") == everything(type_)


@pytest.mark.parametrize(
    ("operator", "constants", "intervals"),
    [
        ("=", ["a"], [(b"a", b"a\0")]),
        ("<>", ["a"], [(b"", b"a"), (b"a\0", b"\xff")]),
        ("<", [""], []),
        (">=", [""], [(b"", b"\xff")]),
        ("in", ["a", "a\0", ""], [(b"", b"\0"), (b"a", b"a\0\0")]),
        ("like", ["ab%"], [(b"ab", b"ac")]),
        ("like", ["ab"], [(b"ab", b"ab\0")]),
        ("like", ["%"], [(b"", b"\xff")]),
        ("like", ["\x7f%"], [(b"\x7f", "\x80".encode())]),
        ("like", ["\U0010ffff%"], [("\U0010ffff".encode(), b"\xff")]),
        ("like", ["a!%%", "!"], [(b"a%", b"a&")]),
        ("not like", ["ab%"], [(b"", b"ab"), (b"ac", b"\xff")]),
        ("not like", ["%"], []),
        ("prefix", ["a%"], [(b"a%", b"a&")]),
        ("not prefix", [""], []),
    ],
)
def test_texts(operator, constants, intervals) -> None:
    assert held(TEXT, operator, *map(string, constants)) == ValueSet(tuple(intervals))


def test_a_pattern_that_is_null_holds_nothing() -> None:
    for operator in ("like", "not like", "prefix", "not prefix"):
        assert held(TEXT, operator, NULL) == ValueSet(())
    assert held(TEXT, "not like", string("a%"), NULL) == ValueSet(())


def test_wide_decimals_are_half_open_ranges_of_keys() -> None:
    assert held(WIDE, "=", number("1.5")) == ValueSet(((key_of_unscaled(15), key_of_unscaled(16)),))
    assert held(WIDE, "<>", number("1.55")) == everything(WIDE)
    assert held(WIDE, "<", number("1e60")) == everything(WIDE) == held(WIDE, ">", number("1e60"), negative=True)
    assert held(WIDE, ">", number("1e60")) == ValueSet(())
    assert held(WIDE, "in", number("1.5"), number("1.6")) == ValueSet(((key_of_unscaled(15), key_of_unscaled(17)),))


def test_zero_is_one_value_and_a_real_is_the_nearest_one() -> None:
    assert held(of("DOUBLE"), "=", number("0")) == held(of("DOUBLE"), "=", number("0"), negative=True)
    assert held(of("REAL"), "=", number("0.1")) == ValueSet(((code_of_double(0.10000000149011612),) * 2,))
    least, greatest = of("REAL").reach
    assert held(of("REAL"), "<>", number("0")) == ValueSet(((least, -1), (1, greatest)))


def test_what_a_column_cannot_be_compared_with_is_named() -> None:
    for type_, operator, constants, place in (
        (BIGINT, "in", [number("1"), string("x")], 1),
        (TEXT, "<>", [number("1")], 0),
        (TEXT, "like", [string("a_")], 0),
        (TEXT, "like", [string("a"), number("1")], 1),
        (of("DATE"), "not in", [string("2026-13-01")], 0),
    ):
        with pytest.raises(ConstantRefused) as caught:
            held(type_, operator, *constants)
        assert (caught.value.column, caught.value.operand) == ("c", place)
