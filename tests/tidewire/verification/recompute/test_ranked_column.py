"""Values of a column as deliveries show them and as exact numbers."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

from tidewire.verification.recompute.ranked_column import Measure, nearest


def test_numbers_have_exact_units() -> None:
    money = Measure.of("DECIMAL(38,2)", [Decimal("-0.05"), Decimal("123456789012345678901234567890123456.78")])
    assert money.units == [0, -5, 12345678901234567890123456789012345678]
    assert (money.shown[1], money.sum_shown(money.units[1] * 3), money.sum_shown(-200)) == ("-0.05", "-0.15", "-2.00")
    doubles = Measure.of("DOUBLE", [-0.1, 5e-324, 1.7976931348623157e308])
    assert [Fraction(units, doubles.one) for units in doubles.units[1:3]] == [Fraction(-0.1), Fraction(5e-324)]
    assert doubles.sum_shown(doubles.units[3] * 2) == "Infinity"
    assert Measure.of("BIGINT", [2**63 - 1]).sum_shown(2**70) == 2**70
    assert Measure.of("DECIMAL(20,0)", [Decimal(7)]).sum_shown(7) == "7"


def test_others_are_only_shown() -> None:
    days = Measure.of("DATE", [dt.date(2026, 3, 1)])
    assert (days.shown, days.units, days.is_number) == ([None, "2026-03-01"], [0], False)


def test_order_in_a_distinct() -> None:
    assert Measure("DECIMAL(4,2)").ordered(["10.00", None, "9.50", "-1.00"]) == [None, "-1.00", "9.50", "10.00"]
    assert Measure("VARCHAR").ordered(["b", "B", "é", ""]) == ["", "B", "b", "é"]


def test_the_nearest_double() -> None:
    assert nearest(1, 3) == 1 / 3
    assert nearest(-(10**400), 1) == "-Infinity"
