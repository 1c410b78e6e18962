from __future__ import annotations

from collections import defaultdict

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join
from operators.join_closure import Closure
from operators.seen_changes import SeenChanges
from operators.wanted_versions import WantedVersions
from tests.operators.cell_world import BIGINT, PARTITIONS, TABLES, CellWorld, catalog_of
from tests.oracle.join_twin import relation_of

CATALOG = catalog_of((BIGINT, BIGINT, BIGINT))
CHAIN, _ = Join.of(["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j"))])


def row(key: int, k: int | None = None, j: int | None = None, x: int = 0) -> dict:
    return {"id": key, "k": k, "j": j, "x": x, "y": None, "v": None}


def filled(*rows: tuple[str, dict]) -> CellWorld:
    """Copies of rows, of whose chains edge 0 wants those with r.x up to 5, and edge 69 all."""
    world = CellWorld(CATALOG)
    for ve, tested, box in ((0, ("0.x",), {0: ValueSet.of([(0, 5)])}), (69, (), {})):
        shape = FilterShape(CHAIN.name, ("0.id",), (), tested, (), ())
        region = Region(shape, b"[]", terms=encode_terms([box]))
        world.interests.widen(ve, [region], relation_of(CATALOG, CHAIN))
    world.commit(world.view([[(table, each["id"], each)] for table, each in rows]))
    return world


def closed(world: CellWorld, *changes: tuple[str, int, dict | None]) -> dict[str, dict[tuple[int, int], list[int]]]:
    """Return of each table the ids and x of the rows that a batch makes somebody need, with who does."""
    view = world.view([[change] for change in changes])
    seen = []
    for table, of in enumerate(view.views):
        needed = [of.relation.index(name) for name in world.interests.needed(view.tables[table])]
        seen.append(SeenChanges.of(of.replay, needed, view.number[table]))
    wanted = WantedVersions(view, CHAIN, world.interests, PARTITIONS)
    said: dict[str, dict[tuple[int, int], list[int]]] = defaultdict(dict)
    for table, found in Closure(view, CHAIN, wanted, seen).find():
        codes = view.views[table].replay.codes
        for version, words in zip(found.versions.tolist(), found.edges.tolist(), strict=True):
            who = [ve for ve in (0, 69) if words[ve // 64] >> ve % 64 & 1]
            said[TABLES[table]][int(codes[0, version]), int(codes[3, version])] = who
    return dict(said)


def test_from_a_row_that_changed_the_walk_goes_both_ways():
    world = filled(("r", row(1, k=7)), ("s", row(2, 7, 8)), ("s", row(3, 9, 8)), ("t", row(4, j=8)), ("t", row(5, j=1)))
    assert closed(world, ("s", 2, None)) == {
        "r": {(1, 0): [0, 69]}, "s": {(2, 0): [0, 69]}, "t": {(4, 0): [0, 69]},
    }  # fmt: skip


def test_what_has_no_partner_at_one_end_falls_out_at_the_other():
    world = filled(("s", row(2, 7, 8)), ("s", row(3, 7, 1)), ("t", row(4, j=8)), ("t", row(5, j=2)))
    assert closed(world, ("r", 1, row(1, k=7))) == {
        "r": {(1, 0): [0, 69]}, "s": {(2, 0): [0, 69]}, "t": {(4, 0): [0, 69]},
    }  # fmt: skip
    assert closed(world, ("t", 5, row(5, j=8))) == {}, "no row of r"


def test_who_wants_no_row_of_a_chain_gets_none_of_its_partners():
    world = filled(("s", row(2, 7, 8)), ("t", row(4, j=8)))
    assert closed(world, ("r", 1, row(1, k=7, x=6))) == {
        "r": {(1, 6): [69]}, "s": {(2, 0): [69]}, "t": {(4, 0): [69]},
    }  # fmt: skip


def test_null_joins_nothing():
    world = filled(("s", row(2, None, 8)), ("t", row(4, j=8)))
    assert closed(world, ("r", 1, row(1, k=None))) == {}


def test_rows_that_come_together_are_partners():
    assert closed(filled(), ("r", 1, row(1, k=7)), ("s", 2, row(2, 7, 8)), ("t", 3, row(3, j=8))) == {
        "r": {(1, 0): [0, 69]}, "s": {(2, 0): [0, 69]}, "t": {(3, 0): [0, 69]},
    }  # fmt: skip
