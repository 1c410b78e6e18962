from __future__ import annotations

import re
from types import MappingProxyType

import pytest
from pyspark.sql import SparkSession

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.topics import Topics
from streaming.query.match import numbered, subscribe_pattern, topics_read

TOPICS = Topics("t.")


def catalog(**tables: str) -> Catalog:
    relations = {name: Relation(name, (), (), topic) for name, topic in tables.items()}
    return Catalog(0, MappingProxyType(relations))


def test_the_pattern_matches_the_topics_and_nothing_else() -> None:
    pattern = subscribe_pattern(["t.registrations", "a-b_c", "a"])
    assert pattern[0] + pattern[-1] == "^$"
    for name in ("t.registrations", "a-b_c", "a"):
        assert re.match(pattern, name)
    for name in ("tXregistrations", "aa", "a-b_c2", "", "xa"):
        assert not re.match(pattern, name)


def test_the_topics_of_a_catalog_and_the_registrations_are_read() -> None:
    assert topics_read(catalog(stock="s", bond="b"), TOPICS) == ["b", "s", "t.registrations"]
    assert topics_read(Catalog(), TOPICS) == ["t.registrations"]


@pytest.mark.spark
def test_hundreds_of_topics_are_numbered_by_one_flat_expression(spark: SparkSession) -> None:
    names = [f"topic-{i}" for i in range(300)]
    rows = [("topic-0", 0), ("topic-7", 7), ("topic-299", 299), ("another", None), (None, None)]
    records = spark.createDataFrame(rows, "topic string, wanted int").withColumn("source", numbered(names))
    assert [row.source for row in records.collect()] == [number for _, number in rows]
    plan = records._jdf.queryExecution().analyzed().toString()
    assert plan.count("CASE") == 1 and plan.count("WHEN") == 300
