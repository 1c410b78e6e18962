"""What goes wrong in views elsewhere, each as the smallest case: a cause after the other, beside the twin."""

from __future__ import annotations

from catalog.schema.relation import Column, Relation
from catalog.schema.view import Aggregate, Arithmetic, By, ColumnOf, GroupBy, Joined, Map, Stage, TopK, Union
from catalog.types.column_type import ColumnType, Kind
from state.order_code import code_of_double
from tests.operators.views.view_draws import BIGINT, DOUBLE, LONG, SHORT, VARCHAR, WIDE
from tests.operators.views.view_world import Cause, ViewWorld
from tests.oracle.naive_views import Stored


def relation(name: str, key: str, *columns: tuple[str, ColumnType]) -> Relation:
    return Relation(name, tuple(Column(each, type_) for each, type_ in columns), (key,) if key else (), name)


T = relation("t", "id", ("id", BIGINT), ("g", VARCHAR), ("x", BIGINT))
S = relation("s", "k", ("k", VARCHAR), ("y", BIGINT))
BANK = relation("bank", "id", ("id", BIGINT), ("credit", BIGINT), ("debit", BIGINT), ("amount", BIGINT))
BY_G = Stage(
    relation("by_g", "g", ("g", VARCHAR), ("n", BIGINT), ("low", BIGINT), ("total", LONG)),
    GroupBy(
        "t", ("g",), (Aggregate("COUNT", None, BIGINT), Aggregate("MIN", "x", BIGINT), Aggregate("SUM", "x", LONG))
    ),
)
FIRST = Stage(
    relation("first", "id", ("id", BIGINT), ("g", VARCHAR), ("x", BIGINT), ("place", BIGINT)),
    TopK("t", ("g",), (By("x", False, False), By("id", False, False)), 2, True),
)


def put(key: int, g: str | None, x: int | None) -> tuple[str, bytes, tuple[Stored, ...]]:
    return "t", b"%d" % key, (key, g, x)


def gone(key: int) -> tuple[str, bytes, None]:
    return "t", b"%d" % key, None


def told(stage: Stage, *batches: list[Cause]) -> list[list[tuple[int, bytes, tuple[Stored, ...] | None]]]:
    world = ViewWorld({"t": T, "s": S}, [stage])
    return [world.play(causes)[stage.relation.name] for causes in batches]


def test_what_comes_and_goes_in_one_cause_says_nothing() -> None:
    assert told(BY_G, [[put(1, "a", 1)], [put(2, "a", 0), gone(2)], [put(1, "b", 1), put(1, "a", 1)]])[0][1:] == []


def test_a_group_that_empties_and_comes_back_in_a_batch() -> None:
    (causes,) = told(BY_G, [[put(1, None, 5)], [gone(1)], [put(1, None, 6)]])
    assert [(cause, row) for cause, _, row in causes] == [(0, (None, 1, 5, "5")), (1, None), (2, (None, 1, 6, "6"))]


def test_a_row_that_moves_between_groups_is_told_once_by_cause() -> None:
    rows: list[Cause] = [[put(1, "a", 1), put(2, "a", 2), put(3, "b", 3), put(4, "b", 4)]]
    _, causes = told(FIRST, rows, [[put(1, "b", 1)]])
    assert sorted((key, row) for _, key, row in causes) == [
        (b"1", (1, "b", 1, 1)),
        (b"2", (2, "a", 2, 1)),
        (b"3", (3, "b", 3, 2)),
        (b"4", None),
    ]


def test_a_truncate_is_one_cause() -> None:
    rows: list[Cause] = [[put(key, "ab"[key % 2], key)] for key in range(6)]
    for stage in (BY_G, FIRST):
        told(stage, rows, [[gone(key) for key in range(6)], [put(1, "a", 1)]])


def test_transfers_never_show_a_total_but_zero() -> None:
    def side(name: str, column: str, sign: bool) -> Stage:
        amount = ColumnOf("amount", BIGINT)
        signed = amount if sign else Arithmetic("-", Arithmetic("-", amount, amount, BIGINT), amount, BIGINT)
        made = relation(name, "", ("account", BIGINT), ("change", BIGINT))
        return Stage(made, Map("bank", (ColumnOf(column, BIGINT), signed)))

    balance = relation("balance", "account", ("account", BIGINT), ("balance", LONG))
    stages = [
        side("credits", "credit", True),
        side("debits", "debit", False),
        Stage(relation("both", "", ("account", BIGINT), ("change", BIGINT)), Union(("credits", "debits"))),
        Stage(balance, GroupBy("both", ("account",), (Aggregate("SUM", "change", LONG),))),
        Stage(relation("total", "", ("total", LONG)), GroupBy("balance", (), (Aggregate("SUM", "balance", LONG),))),
    ]
    world = ViewWorld({"bank": BANK}, stages)
    causes: list[Cause] = [[("bank", b"%d" % i, (i, i % 3, (i + i // 3) % 3, 10 + i))] for i in range(9)]
    changed: list[Cause] = [[("bank", b"%d" % i, (i, i % 2, 2, 7))] for i in range(4)]
    said = [world.play(batch)["total"] for batch in (causes, changed)]
    assert {row for batch in said for _, _, row in batch} == {("0",)}


def test_a_left_row_gains_its_first_partner_and_loses_its_last() -> None:
    columns = (("id", BIGINT), ("g", VARCHAR), ("x", BIGINT), ("k", VARCHAR), ("y", BIGINT))
    for lookup in (True, False):
        stage = Stage(relation("j", "id", *columns), Joined("t", "s", (("g", "k"),), True, lookup))
        rows: list[Cause] = [[put(1, "a", 1)], [put(2, None, 1)], [("s", b"a", ("a", 7))], [("s", b"a", None)]]
        (causes,) = told(stage, rows)
        assert len(causes) == (4 if lookup else 6)
        told(stage, rows[:2], [rows[2], [*rows[3], ("s", b"a", ("a", 8)), put(1, "b", 2)]])


def test_one_cause_changes_both_sides_of_a_self_join() -> None:
    columns = [
        (f"{side}{name}", type_) for side in "lr" for name, type_ in (("id", BIGINT), ("g", VARCHAR), ("x", BIGINT))
    ]
    stage = Stage(relation("j", "", *columns), Joined("t", "t", (("g", "g"),), False, False))
    told(stage, [[put(1, "a", 1), put(2, "a", 2)], [put(1, "b", 1), put(2, "b", 2)], [gone(1), put(3, "b", 1)]])


def test_numbers_of_texts_differ_on_the_sides_of_a_join() -> None:
    columns = (("id", BIGINT), ("g", VARCHAR), ("x", BIGINT), ("k", VARCHAR), ("y", BIGINT))
    stage = Stage(relation("j", "id", *columns), Joined("t", "s", (("g", "k"),), False, True))
    rows: list[Cause] = [[("s", key.encode(), (key, 1))] for key in "cba"] + [[put(1, "a", 1)], [put(2, "c", 1)]]
    told(stage, rows[:2], rows[2:])


def test_sums_beyond_64_bits_and_beyond_18_digits() -> None:
    most = 2**63 - 1
    (causes,) = told(BY_G, [[put(key, "a", most)] for key in range(3)])
    assert causes[-1][2] == ("a", 3, most, str(3 * most))
    wide = relation("w", "id", ("id", BIGINT), ("w", WIDE), ("c", SHORT), ("d", DOUBLE))
    widest = ColumnType(Kind.DECIMAL, 38, 2)
    aggregates = (
        Aggregate("SUM", "w", widest),
        Aggregate("AVG", "w", DOUBLE),
        Aggregate("AVG", "c", DOUBLE),
        Aggregate("SUM", "d", DOUBLE),
    )
    columns = (("a", widest), ("b", DOUBLE), ("c", DOUBLE), ("d", DOUBLE))
    world = ViewWorld({"w": wide}, [Stage(relation("v", "", *columns), GroupBy("w", (), aggregates))])
    rows: list[tuple[Stored, ...]] = [
        (0, "999999999999999999.99", 1, code_of_double(1e308)),
        (1, "999999999999999999.99", 2, code_of_double(1e308)),
        (2, "-0.01", 2, code_of_double(-1e308)),
    ]
    said = world.play([[("w", b"%d" % i, row)] for i, row in enumerate(rows)])["v"]
    assert [row and row[3] for _, _, row in said] == [code_of_double(1e308), None, code_of_double(1e308)]


def test_minus_zero_is_zero_as_a_group() -> None:
    table = relation("d", "id", ("id", BIGINT), ("d", DOUBLE))
    stage = Stage(
        relation("v", "d", ("d", DOUBLE), ("n", BIGINT)), GroupBy("d", ("d",), (Aggregate("COUNT", None, BIGINT),))
    )
    world = ViewWorld({"d": table}, [stage])
    rows: list[Cause] = [[("d", b"%d" % i, (i, code_of_double(zero)))] for i, zero in enumerate((0.0, -0.0))]
    assert [row for _, _, row in world.play(rows)["v"]] == [(0, 1), (0, 2)]
