import pytest

from catalog.sql.errors import CatalogError, SqlError, SubscriptionError, excerpt, near, position, suggestion
from state.errors import TidewireError, UserError


def test_an_error_carries_its_fields() -> None:
    sql = "SELECT MIN(a)\nFROM tt"
    error = SubscriptionError("unknown_table", "there is no table `tt`", sql, (19, 21), "Known: `t`.")
    assert (error.code, error.line, error.column) == ("unknown_table", 2, 6)
    assert sql[error.start : error.end] == "tt"
    assert error.message == "there is no table `tt`\nline 2, column 6:\n  FROM tt\n       ^^"
    assert str(error) == error.message + "\nKnown: `t`."


def test_an_error_without_a_place() -> None:
    error = CatalogError("malformed", "the text is too long")
    assert str(error) == error.message == "the text is too long"
    assert (error.line, error.column, error.hint) == (0, 0, None)


@pytest.mark.parametrize("kind", [CatalogError, SubscriptionError])
def test_errors_are_the_users(kind) -> None:
    error = kind("syntax", "x")
    assert isinstance(error, SqlError) and isinstance(error, UserError) and isinstance(error, TidewireError)
    assert isinstance(error, ValueError) and not error.retry_helps


def test_position_counts_from_one() -> None:
    assert [position("a\n\nbc", i) for i in range(6)] == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 3)]


@pytest.mark.parametrize(
    ("sql", "start", "end", "shown"),
    [
        ("abc def", 4, 7, "  abc def\n      ^^^"),
        ("abc def", 7, 7, "  abc def\n         ^"),
        ("", 0, 0, "\n  ^"),
        ("a\tb\r\nc", 2, 3, "  a b\n    ^"),
        ("ab\ncd", 0, 5, "  ab\n  ^^"),
        ("日本 x", 3, 4, "  日本 x\n       ^"),
        ("日本 x", 0, 2, "  日本 x\n  ^^^^"),
        ("e\u0301 x", 3, 4, "  e\u0301 x\n    ^"),
        ("a\x1b[0m", 0, 1, "  a [0m\n  ^"),
    ],
)
def test_excerpt_underlines_the_token(sql, start, end, shown) -> None:
    assert excerpt(sql, start, end) == shown


def test_a_long_line_is_cut_around_the_token() -> None:
    sql = "x " * 500 + "TOKEN" + " y" * 500
    line, carets = excerpt(sql, 1000, 1005).split("\n")
    assert line.startswith("  ...") and line.endswith("...") and len(line) < 130
    assert line[carets.index("^") : carets.rindex("^") + 1] == "TOKEN"


def test_a_long_token_is_cut() -> None:
    shown = excerpt("a" * 5000, 10, 4000)
    assert max(map(len, shown.split("\n"))) < 150


def test_near_names() -> None:
    assert near("EXCHANGE", ["exchange", "price"]) == ["exchange"]
    assert near("zzz", ["exchange", "price"]) == []
    assert suggestion("pric", ["price"], "column") == "Did you mean `price`?"
    assert suggestion("zzz", ["price", "risk"], "column") == "Known columns: `price`, `risk`."
    assert suggestion("zzz", [], "table") == "There is no table yet."
    assert (
        suggestion("zzz", [f"c{i}" for i in range(20)], "column", limit=2) == "Known columns: `c0`, `c1` and 18 more."
    )
