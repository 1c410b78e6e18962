"""Options as they are written, by themselves; which there are, tables and streams say in tests of their own."""

from __future__ import annotations

import pytest

from catalog.ddl.given_options import GivenOptions, is_topic_name
from catalog.sql.errors import CatalogError
from catalog.sql.statement_text import StatementText

KNOWN = ("topic", "format", "absent")


def given(written: str) -> GivenOptions:
    source = StatementText(f"CREATE TABLE t (id BIGINT PRIMARY KEY) {written}", CatalogError)
    statement = source.statements[0]
    return GivenOptions.of(statement, source, KNOWN, statement.this)


def refused(written: str) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        options = given(written)
        options.topic("t")
        options.one_of("absent", ("null", "error"))
        options.of_format("json", ())
    return caught.value


def test_names_are_folded_and_values_are_not() -> None:
    options = given("WITH ('Topic'='Stock', format='CSV')")
    topic = options.get("topic")
    assert topic is not None and topic.value == "Stock" and options.get("absent") is None
    assert options.source.sql[slice(*topic.value_span or ())] == "'Stock'"
    assert options.source.sql[slice(*topic.name_span or ())] == "'Topic'"
    assert options.one_of("format", ("json", "csv")) == "csv" and options.one_of("absent", ("null",)) == "null"


def test_without_any_there_are_defaults() -> None:
    options = given("")
    assert options.topic("t") == ("t", None) and options.of_format("json", ()) == ()


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ("WITH ('topic'='a', 'TOPIC'='b')", "conflict", "option `topic` is given twice"),
        ("WITH ('topic'=5)", "syntax", "the value of option `topic` is no string"),
        ("WITH ('topic'='a b')", "malformed", "'a b' is no name of a Kafka topic"),
        ("WITH ('absent'='nul')", "unsupported", "Did you mean null?"),
        ("WITH ('tpoic'='a')", "unsupported", "Did you mean `topic`?"),
        ("WITH ('topic'='a') COMMENT 'x'", "unsupported", "takes nothing but options"),
    ],
)
def test_what_is_no_option_is_refused(written: str, code: str, said: str) -> None:
    error = refused(written)
    assert error.code == code and said in str(error)


def test_a_fault_stands_at_the_option_or_else_at_what_is_declared() -> None:
    options = given("WITH ('topic'='a')")
    assert "'a'" in str(options.fault("topic", "conflict", "it is taken", "Take another."))
    assert "it lacks one" in str(options.fault("absent", "malformed", "it lacks one", "Say one."))


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ü", "a" * 250])
def test_names_that_kafka_does_not_take(name: str) -> None:
    assert not is_topic_name(name)
    assert is_topic_name("a" * 249) and is_topic_name("...")
