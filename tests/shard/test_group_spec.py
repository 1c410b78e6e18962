"""What a group holds, by the catalog of its batch."""

from __future__ import annotations

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.topics import Topics
from shard.group_spec import GroupSpec, bucket_of

TEXT = """
CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER) WITH ('buckets'='2', 'bucket.by'='id');
CREATE TABLE b (id INTEGER PRIMARY KEY, y INTEGER);
CREATE VIEW v AS SELECT id, COUNT(*) AS n FROM a GROUP BY id;
CREATE VIEW w AS SELECT b.id, b.y FROM b JOIN a ON a.id = b.id
"""
CATALOG = apply_ddl(Catalog(), TEXT, 0)


def spec(group: str, *members: str, catalog: Catalog = CATALOG) -> GroupSpec:
    return GroupSpec(0, group, catalog, Topics(), 1, members=members)


def test_a_shard_has_its_table_and_its_views() -> None:
    one = spec("a/1", "a/1", "v/1")
    assert [*one.tables] == ["a/1"] and one.cell is None
    assert [(stage.member, stage.inputs) for stage in one.stages] == [("v/1", ("a/1",))]
    assert spec("a/1").stages == one.stages, "where no member is named, it is the shard of its name"
    assert spec("b/0").stages == () and bucket_of("a/1") == 1


def test_a_cell_has_the_views_of_its_tables() -> None:
    one = spec("cell/a+b/0")
    assert one.cell is not None and one.cell.tables == ("a", "b")
    assert [stage.member for stage in one.stages if stage.served] == ["w/0"]


def test_a_view_is_no_group() -> None:
    assert spec("v/0").tables == {} and spec("v/0").stages == ()


def test_what_the_catalog_has_no_more_is_not_held() -> None:
    assert spec("a/2").tables == {} and spec("a/1", catalog=Catalog()).tables == {}
