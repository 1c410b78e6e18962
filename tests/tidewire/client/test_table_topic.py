"""Topics of Debezium tables get one partition, and others are told of."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from tidewire.client.table_topic import PARTITIONS, partitions_of, uncertain_order

FORMATS = [
    ("json", ""), ("debezium-json", ""), ("debezium-json", ",'schema'='inline'"), ("csv", ""),
    ("debezium-json", ",'decimal'='base64','timestamp'='micros'"),
]  # fmt: skip


def table(format: str, options: str) -> Relation:
    ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT) WITH ('topic'='pg.t','format'='{format}'{options})"
    return apply_ddl(Catalog(), ddl, 0).relations["t"]


@pytest.mark.parametrize(("format", "options"), FORMATS)
@pytest.mark.parametrize("partitions", [0, 1, 2, 4])
def test_what_has_no_certain_order_is_said_of_debezium_alone(format: str, options: str, partitions: int) -> None:
    relation = table(format, options)
    debezium = format == "debezium-json"
    assert partitions_of(relation) == (1 if debezium else PARTITIONS)
    said = uncertain_order(relation, partitions)
    if debezium and partitions > 1:
        assert said is not None
        for part in ("table `t`", "`pg.t`", f"{partitions} partitions", "truncate", "primary key", "one partition"):
            assert part in said
    else:
        assert said is None
