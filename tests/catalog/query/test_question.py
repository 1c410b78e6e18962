import pytest

from catalog.query.condition_tree import Condition, conditions_of
from catalog.query.question import Question, read_question
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from catalog.types.literal import LiteralKind


def question(sql: str, parameters: bool = False) -> Question:
    return read_question(StatementText(sql, SubscriptionError), parameters)


def items(asked: Question) -> list[tuple[str, str | None]]:
    return [(item.function, item.column and item.column.text) for item in asked.items]


def comparisons(condition: str) -> list[tuple[str, str, LiteralKind | None, str]]:
    asked = question(f"SELECT MIN(a) FROM t WHERE {condition}", parameters=True)

    def shown(c: Condition) -> tuple[str, str, LiteralKind | None, str]:
        (i,) = c.operands
        operand = asked.operands[i]
        return c.column.text, c.operator, operand.kind, ("-" if operand.negative else "") + operand.text

    return [shown(c) for c in conditions_of(asked.condition)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MIN(price) FROM stock",
        "select min ( PRICE )\nfrom\tStock ;",
        "SELECT MIN(price) AS lowest FROM stock s",
        "SELECT MIN(price) lowest FROM stock AS s -- cheap",
        "SELECT MIN(stock.price) FROM stock",
        'SELECT MIN(s."price") FROM /* the */ "stock" AS s',
        "(SELECT MIN((price)) FROM stock)",
    ],
)
def test_forms_of_one_question(sql) -> None:
    asked = question(sql)
    assert (items(asked), asked.table.text, asked.condition) == ([("min", "price")], "stock", None)


def test_names_fold_unless_quoted() -> None:
    asked = question('SELECT MAX("Lot Size") FROM Stock WHERE "A" = 1 AND B = 2')
    assert items(asked) == [("max", "Lot Size")] and asked.table.text == "stock"
    assert [name.text for name in asked.compared] == ["A", "b"]


NUMBER, STRING = LiteralKind.NUMBER, LiteralKind.STRING


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("x = 1", [("x", "=", NUMBER, "1")]),
        ("1 < x", [("x", ">", NUMBER, "1")]),
        (
            "1 >= x AND (2 <= y AND (z > 3))",
            [("x", "<=", NUMBER, "1"), ("y", ">=", NUMBER, "2"), ("z", ">", NUMBER, "3")],
        ),
        ("x BETWEEN -1 AND 2.50e3", [("x", ">=", NUMBER, "-1"), ("x", "<=", NUMBER, "2.50e3")]),
        ("(x) = (- - 5)", [("x", "=", NUMBER, "5")]),
        ("x = -(-(-(5)))", [("x", "=", NUMBER, "-5")]),
        ("x = +5", [("x", "=", NUMBER, "5")]),
        ("x = .5", [("x", "=", NUMBER, "0.5")]),
        ("x = 5.", [("x", "=", NUMBER, "5.")]),
        ("x = 'it''s'", [("x", "=", STRING, "it's")]),
        ("x = ''", [("x", "=", STRING, "")]),
        ("x = true", [("x", "=", LiteralKind.BOOLEAN, "TRUE")]),
        ("FALSE = x", [("x", "=", LiteralKind.BOOLEAN, "FALSE")]),
        ("x = null", [("x", "=", LiteralKind.NULL, "NULL")]),
        ("date >= DATE '2026-03-01'", [("date", ">=", LiteralKind.DATE, "2026-03-01")]),
        ("timestamp < timestamp '2026-03-01'", [("timestamp", "<", LiteralKind.TIMESTAMP, "2026-03-01")]),
        ("x > CAST('2026-03-01' AS DATE)", [("x", ">", LiteralKind.DATE, "2026-03-01")]),
        ("x = ? AND y > -?", [("x", "=", None, "?"), ("y", ">", None, "-?")]),
        ("? BETWEEN 1 AND 2 AND x = 1", None),
        ("t.x = 1", [("x", "=", NUMBER, "1")]),
    ],
)
def test_conditions(condition, read) -> None:
    if read is None:
        with pytest.raises(SubscriptionError):
            comparisons(condition)
    else:
        assert comparisons(condition) == read


def test_spans_are_those_of_names_and_constants() -> None:
    sql = "SELECT MIN(price) FROM stock WHERE volume = - 5 AND ? = open AND day > DATE '2026-03-01'"
    asked = question(sql, parameters=True)
    measure = asked.items[0].column
    assert measure is not None
    spans = [measure.span, asked.table.span]
    spans += [s for name, o in zip(asked.compared, asked.operands, strict=True) for s in (name.span, o.span)]
    shown = [sql[slice(*s)] for s in spans if s is not None]
    assert shown == ["price", "stock", "volume", "5", "open", "?", "day", "'2026-03-01'"]


def test_comparisons_stand_in_the_order_of_the_text() -> None:
    condition = " AND ".join(f"c{i} = {i}" for i in range(300))
    assert [operand.text for operand in question(f"SELECT MIN(a) FROM t WHERE {condition}").operands] == [
        str(i) for i in range(300)
    ]


@pytest.mark.parametrize(
    ("selected", "read"),
    [
        ("COUNT(*)", [("count", None)]),
        (
            "COUNT(DISTINCT a), count(distinct (b)) AS n, MIN(a)",
            [("count_distinct", "a"), ("count_distinct", "b"), ("min", "a")],
        ),
        ("count( * ), Count(a) AS n, SUM(a), avg(b)", [("count", None), ("count", "a"), ("sum", "a"), ("avg", "b")]),
        ("MIN(a), MIN(a)", [("min", "a"), ("min", "a")]),
        ("DISTINCT a", [("distinct", "a")]),
        ("DISTINCT (t.a) AS v", [("distinct", "a")]),
    ],
)
def test_select_lists(selected, read) -> None:
    assert items(question(f"SELECT {selected} FROM t")) == read
