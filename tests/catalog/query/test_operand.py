"""Constants as they are read."""

import pytest
from sqlglot import exp

from catalog.query.operand import Operand, OperandReader, is_constant
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from catalog.types.literal import LiteralKind


def read(constant: str, parameters: bool = False) -> Operand:
    text = StatementText(f"SELECT MIN(a) FROM t WHERE b = {constant}", SubscriptionError)
    condition = text.statements[0].args["where"].this
    return OperandReader(text, parameters).read(condition.expression.unnest(), condition)


@pytest.mark.parametrize(
    ("constant", "kind", "text", "negative"),
    [
        ("5", LiteralKind.NUMBER, "5", False),
        ("- (-(-2.50))", LiteralKind.NUMBER, "2.50", True),
        ("'it''s'", LiteralKind.STRING, "it's", False),
        ("false", LiteralKind.BOOLEAN, "FALSE", False),
        ("NULL", LiteralKind.NULL, "NULL", False),
        ("DATE '2026-03-01'", LiteralKind.DATE, "2026-03-01", False),
        ("TIMESTAMP '2026-03-01'", LiteralKind.TIMESTAMP, "2026-03-01", False),
    ],
)
def test_constants(constant, kind, text, negative) -> None:
    found = read(constant)
    assert (found.kind, found.text, found.negative) == (kind, text, negative)
    assert found.span is not None


def test_a_parameter_is_one_where_it_may_be() -> None:
    assert (read("-?", True).kind, read("-?", True).negative) == (None, True)
    with pytest.raises(SubscriptionError, match="left unbound"):
        read("?")


@pytest.mark.parametrize("constant", ["-'a'", "-TRUE", "1 + 2", "now()", "CAST('a' AS VARCHAR)", "DATE 'x' + 1", "1e"])
def test_what_is_no_constant(constant) -> None:
    with pytest.raises(SubscriptionError):
        read(constant)


def test_what_is_meant_as_a_constant() -> None:
    assert is_constant(exp.Literal.number(5)) and is_constant(exp.Neg(this=exp.Literal.number(5)))
    assert not is_constant(exp.column("a")) and not is_constant(exp.Neg(this=exp.column("a")))
