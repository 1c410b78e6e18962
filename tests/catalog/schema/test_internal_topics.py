"""No table reads what tidewire writes: refused when it is declared, set aside where an earlier version took it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, fold_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.internal_topics import NAMES, owner_of
from catalog.sql.errors import CatalogError
from connectors.kafka.catalog_versions import CatalogFold
from connectors.topics import Topics
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.input.declared import Declared
from tidewire.verification.records.journal import Record

GOOD = "CREATE TABLE good (a INTEGER PRIMARY KEY)"
prefixes = st.sampled_from(["tw.", "", "shop.eu_1-", "__", "."])
names = st.sampled_from([*NAMES, "stock", "Catalog", "catalog2", "edge_state", "-", "_schemas"])
topics = st.one_of(
    st.builds(str.__add__, prefixes, names), st.sampled_from(["__consumer_offsets", "__", "_x", "__transaction_state"])
).filter(lambda topic: topic not in ("", ".", ".."))


def on(topic: str, table: str = "bad") -> str:
    return f"CREATE TABLE {table} (a INTEGER PRIMARY KEY) WITH ('topic'='{topic}')"


def test_the_names_are_those_of_the_topics() -> None:
    for prefix in ("tw.", "", "x."):
        assert {spec.name for spec in Topics(prefix).specs()} == {prefix + name for name in NAMES}


@given(prefixes, topics)
def test_a_table_is_declared_on_free_topics_alone(prefix, topic) -> None:
    free = owner_of(topic, prefix) is None
    assert free is (topic not in {spec.name for spec in Topics(prefix).specs()} and not topic.startswith("__"))
    catalog = Catalog(prefix=prefix)
    if free:
        assert apply_ddl(catalog, on(topic), 0).relations["bad"].topic == topic
    else:
        with pytest.raises(CatalogError, match="no table can be read from it") as caught:
            apply_ddl(catalog, f"{GOOD};\n{on(topic)}", 0)
        assert caught.value.code == "conflict" and caught.value.line == 2
        assert caught.value.start > len(GOOD) + len(on(topic)) - 10 - len(topic)


@given(prefixes, st.lists(st.tuples(topics, st.booleans()), max_size=4))
def test_a_folded_catalog_keeps_all_else_and_the_verification_agrees(prefix, steps) -> None:
    texts = []
    for number, (topic, dropped) in enumerate(steps):
        texts.append(f"CREATE TABLE t{number} (a INTEGER PRIMARY KEY); {on(topic, f'x{number}')}")
        texts += [f"DROP TABLE x{number}; CREATE TABLE u{number} (a INTEGER PRIMARY KEY)"] if dropped else []
    fold = CatalogFold(prefix).add_all((i, text.encode()) for i, text in enumerate(texts))
    declared = Declared([Record(0, i, 0, None, text.encode()) for i, text in enumerate(texts)], prefix, SCRATCH)
    for version in range(len(texts)):
        found = fold.at(version)
        assert {name: r.topic for name, r in found.relations.items()} == {
            name: table.topic for name, table in declared.at(version).items()
        }
        assert all(owner_of(r.topic, prefix) is None for r in found.relations.values())
    assert fold.newest.prefix == prefix


def test_a_default_topic_is_no_other() -> None:
    for name in NAMES:
        with pytest.raises(CatalogError, match="tidewire's own"):
            apply_ddl(Catalog(), f'CREATE TABLE "tw.{name}" (a INTEGER PRIMARY KEY)', 0)
        with pytest.raises(CatalogError, match="tidewire's own"):
            apply_ddl(Catalog(prefix=""), f'CREATE TABLE "{name}" (a INTEGER PRIMARY KEY)', 0)


def test_a_table_aside_can_be_dropped() -> None:
    old = fold_ddl(Catalog(), f"{GOOD}; {on('tw.acks')}", 0)
    assert (list(old.relations), list(old.aside)) == (["good"], ["bad"])
    again = apply_ddl(old, "CREATE TABLE more (a INTEGER PRIMARY KEY)", 1)
    assert (list(again.relations), list(again.aside)) == (["good", "more"], ["bad"])
    new = apply_ddl(old, f"DROP TABLE bad; {on('mine')}", 1)
    assert (list(new.relations), list(new.aside)) == (["good", "bad"], [])


def test_a_pipeline_refuses_its_own_topics() -> None:
    pipeline = PurePipeline(2)
    for spec in pipeline.topics.specs():
        with pytest.raises(CatalogError):
            pipeline.apply(on(spec.name))
    pipeline.apply(on("mine"))
    assert list(pipeline.catalog.relations) == ["bad"]
