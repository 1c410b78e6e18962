import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.errors import CatalogError


def options(written: str, table: str = "t") -> Relation:
    (relation,) = apply_ddl(Catalog(), f"CREATE TABLE {table} (a INT PRIMARY KEY) {written}", 0).relations.values()
    return relation


@pytest.mark.parametrize(
    ("written", "topic", "absent"),
    [
        ("", "t", "null"),
        ("WITH ('topic'='a.b_C-1')", "a.b_C-1", "null"),
        ("WITH ('format'='json', 'absent'='keep')", "t", "keep"),
        ("with (topic='x', FORMAT='JSON', Absent='ERROR')", "x", "error"),
    ],
)
def test_options(written, topic, absent) -> None:
    table = options(written)
    assert (table.topic, table.format, table.absent) == (topic, "json", absent)


@pytest.mark.parametrize("topic", ["", ".", "..", "a b", "a/b", "é", "x" * 250])
def test_names_that_kafka_does_not_take(topic) -> None:
    with pytest.raises(CatalogError, match="no name of a Kafka topic"):
        options(f"WITH ('topic'='{topic}')")


def test_a_quoted_table_may_need_a_topic() -> None:
    with pytest.raises(CatalogError, match="'topic'"):
        options("", '"my table"')
    assert options("WITH ('topic'='my-table')", '"my table"').topic == "my-table"
