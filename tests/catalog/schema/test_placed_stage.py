"""Where stages of views are computed, and who reads whom there."""

from __future__ import annotations

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import folds_in, home_of, member_in, stages_beside, stages_in

CATALOG = apply_ddl(
    Catalog(),
    """
    CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER);
    CREATE TABLE b (id INTEGER PRIMARY KEY, y INTEGER);
    CREATE VIEW sums AS SELECT x, COUNT(*) AS n FROM a WHERE id > 0 GROUP BY x;
    CREATE VIEW more AS SELECT n, COUNT(*) AS m FROM sums GROUP BY n;
    CREATE VIEW pairs AS SELECT s.x, s.n, b.y FROM sums s JOIN b ON s.x = b.id;
    CREATE VIEW last AS SELECT y, SUM(n) AS n FROM pairs GROUP BY y
    """,
    3,
)
CELL = "cell/a+b/0"


def test_views_of_one_table_are_beside_it_each_behind_what_it_reads() -> None:
    placed = stages_beside(CATALOG, "a")
    assert [(one.member, one.inputs, one.served) for one in placed] == [
        ("stage/sums/0/0", ("a/0",), False),
        ("sums/0", ("stage/sums/0/0",), True),
        ("more/0", ("sums/0",), True),
    ]
    assert [one.relation.name for one in placed] == ["stage/sums/0", "sums", "more"]
    assert stages_beside(CATALOG, "b") == ()


def test_each_bucket_of_a_table_has_its_views() -> None:
    assert [one.member for one in stages_beside(CATALOG, "a", 2)] == ["stage/sums/0/2", "sums/2", "more/2"]


def test_in_a_cell_what_is_at_home_elsewhere_is_computed_again_and_not_asked() -> None:
    placed = stages_in(CATALOG, CATALOG.cells[CELL])
    names = [one.member for one in placed]
    assert names[:2] == [f"{CELL}/stage%2Fsums%2F0", f"{CELL}/sums"] and "more" not in "".join(names)
    assert [one.member for one in placed if one.served] == ["pairs/0", "last/0"]
    joined = next(one for one in placed if f"{CELL}/b" in one.inputs)
    assert [relation.name for relation in joined.relations] == ["sums", "b"] and joined.inputs[0] == f"{CELL}/sums"
    behind = {f"{CELL}/a", f"{CELL}/b"}
    for one in placed:
        assert behind.issuperset(one.inputs), one
        behind.add(one.member)


def test_home_is_the_shard_of_the_one_table_or_the_cell_of_several() -> None:
    homes = {name: home_of(view) for name, view in CATALOG.views.items()}
    assert homes == {"sums": "a/0", "more": "a/0", "pairs": CELL, "last": CELL}


def test_a_view_that_is_joined_in_a_cell_is_computed_there_whatever_its_home_is() -> None:
    cell = CATALOG.cells[CELL]
    placed = stages_in(CATALOG, cell, ["more", "last"])
    assert [one.member for one in placed if one.served] == ["pairs/0", "last/0"]
    assert placed[-1].member in ("last/0", f"{CELL}/more") and f"{CELL}/more" in [one.member for one in placed]
    assert [member_in(CATALOG, cell, name) for name in ("a", "more", "last")] == [f"{CELL}/a", f"{CELL}/more", "last/0"]


STREAMS = apply_ddl(
    Catalog(),
    """
    CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s');
    CREATE TABLE t (g VARCHAR PRIMARY KEY);
    CREATE VIEW read AS SELECT g, COUNT(*) AS n FROM s WHERE g <> 'x' GROUP BY g;
    CREATE VIEW other AS SELECT ts, COUNT(*) + 1 AS n FROM s GROUP BY ts;
    CREATE VIEW behind AS SELECT n, COUNT(*) AS m FROM other GROUP BY n;
    CREATE VIEW named AS SELECT r.g, r.n FROM read r JOIN t ON t.g = r.g
    """,
    3,
)


def test_a_cell_folds_the_rows_of_its_streams_for_all_views_that_there_are() -> None:
    cell = STREAMS.cells["cell/s+t/0"]
    folds = folds_in(STREAMS, cell)
    assert {*folds.values()} == {"s"} and len(folds) == 2
    placed = stages_in(STREAMS, cell)
    members = [one.member for one in placed]
    assert all(cell.member(fold) in members for fold in folds) and f"{cell.name}/behind" not in members
    assert [one.member for one in placed if one.served] == ["named/0"]
    assert folds_in(CATALOG, CATALOG.cells[CELL]) == {}
