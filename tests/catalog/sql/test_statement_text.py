import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from tests.effort import examples


def text(sql: str) -> StatementText:
    return StatementText(sql, SubscriptionError)


def refusal(sql: str) -> SubscriptionError:
    with pytest.raises(SubscriptionError) as caught:
        _ = text(sql).statements
    return caught.value


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("SELECT MIN(a FROM t", "FROM"),
        ("SELECT MIN(a) FROM t WHERE", "WHERE"),
        ("SELECT MIN(a) FROM t WHERE a = 'x", "'"),
        ('SELECT MIN(a) FROM t WHERE "a', '"'),
        ("SELECT MIN(a) FROM t WHERE a = 'it''s' AND b = 'x", "'"),
        ("SELECT a FROM t /* b", "/*"),
        ("SELECT 'a' -- it's\n, 'b", "'"),
        ("SELECT é FROM t t t", "t"),
        ("CREATE TABLE t (a INT) nonsense", "nonsense"),
    ],
)
def test_syntax_errors_underline_the_token(sql, token) -> None:
    error = refusal(sql)
    assert error.code == "syntax"
    assert sql[error.start : error.end] == token


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(SubscriptionError, match="no valid Unicode"):
        text("SELECT '\ud800'")


def test_nesting_has_an_end() -> None:
    assert "nested too deeply" in refusal("SELECT " + "(" * 5000).what


def test_empty_statements_are_left_out() -> None:
    assert text(";; -- nothing\n ; /* still */").statements == []
    assert len(text("SELECT 1; ; SELECT 2;").statements) == 2


def test_spans_of_nodes_tokens_and_words() -> None:
    sql = "SELECT MIN(a) FROM t\nWHERE b = TRUE AND \"c d\" BETWEEN 'é' AND 7 AND e = NULL"
    source = text(sql)
    (tree,) = source.statements

    def shown(place: object) -> str:
        span = source.span(place)
        assert span is not None
        return sql[slice(*span)]

    assert shown(tree.find(exp.Between)) == "\"c d\" BETWEEN 'é' AND 7"
    assert shown(tree.find(exp.Boolean)) == "TRUE"
    assert shown(tree.find(exp.Null)) == "NULL"
    assert shown(source.keyword(("WHERE",))) == "WHERE"
    assert shown((0, 6)) == "SELECT"
    assert source.span(None) is None
    assert source.keyword(("LIMIT",)) is None
    assert shown(source.token_after(sql.index("FROM"))) == "FROM"
    assert source.token_after(len(sql)) is None


def test_a_keyword_of_an_outer_level_goes_first() -> None:
    source = text("SELECT (SELECT 1 LIMIT 2) FROM t WHERE 'LIMIT' = a LIMIT 3")
    token = source.keyword(("LIMIT",))
    assert token is not None and source.sql[token.start :] == "LIMIT 3"


def test_first_token_of_a_statement() -> None:
    source = text("DROP TABLE a;\n DROP TABLE b; SELECT 1")
    starts = [source.first_token(s).start for s in source.statements]
    assert starts == [0, 15, 29]


def test_commands_stay_silent(caplog, capsys) -> None:
    (tree,) = text("GRANT ALL TO me").statements
    assert not isinstance(tree, exp.Select)
    assert not caplog.records and not capsys.readouterr().err


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=examples(200))
def test_any_text_parses_or_is_refused(sql) -> None:
    try:
        _ = StatementText(sql, SubscriptionError).statements
    except SubscriptionError as error:
        assert error.code in ("syntax", "malformed")
        assert 0 <= error.start <= error.end <= max(len(sql), error.end)
