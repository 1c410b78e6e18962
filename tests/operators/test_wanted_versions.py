from __future__ import annotations

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join
from catalog.types.order_key import after
from operators.wanted_versions import WantedVersions
from tests.operators.cell_world import BIGINT, CellWorld, catalog_of
from tests.oracle.join_twin import relation_of

CATALOG = catalog_of((BIGINT, BIGINT, BIGINT))
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
X, Y = ValueSet.of([(3, 5)]), ValueSet.of([(b"a", after(b"a"))])


def world_of(*rows: tuple[int | None, str | None]) -> CellWorld:
    """Rows of r, with their x and y; nobody wants any yet."""
    world = CellWorld(CATALOG)
    made = [{"id": i, "k": None, "j": None, "x": x, "y": y, "v": None} for i, (x, y) in enumerate(rows)]
    world.commit(world.view([[("r", row["id"], row)] for row in made]))
    return world


def want(world: CellWorld, ve: int, box: dict[str, ValueSet]) -> None:
    shape = FilterShape(JOIN.name, ("0.id",), (), tuple(sorted(box)), (), ())
    terms = encode_terms([{i: box[name] for i, name in enumerate(sorted(box))}])
    world.interests.widen(ve, [Region(shape, b"[]", terms=terms)], relation_of(CATALOG, JOIN))


def who(world: CellWorld, partitions: int, position: int = 0) -> list[list[int]]:
    """Return the virtual edges that want each row of r, or of s."""
    view = world.view([])
    rows = np.arange(view.views[position].replay.rows)
    bits = WantedVersions(view, JOIN, world.interests, partitions).at(position, rows)
    assert bits.shape == (len(rows), -(-partitions // 64))
    return [[ve for ve in range(partitions) if words[ve // 64] >> ve % 64 & 1] for words in bits.tolist()]


def test_a_range_alone_is_wanted_where_the_number_lies_in_it_and_never_where_it_is_null():
    world = world_of((2, "a"), (3, "a"), (5, None), (6, "a"), (None, "a"))
    want(world, 1, {"0.x": X})
    assert who(world, 2) == [[], [1], [1], [], []]


def test_equalities_are_wanted_of_their_values_and_ranges_with_them():
    world = world_of((3, "a"), (3, "b"), (9, "a"), (3, None), (None, "a"))
    want(world, 0, {"0.y": Y})
    want(world, 1, {"0.x": X, "0.y": Y})
    assert who(world, 2) == [[0, 1], [], [0], [], [0]]


def test_edges_stand_in_words_of_64_and_those_beyond_the_partitions_nowhere():
    world = world_of((3, "a"), (None, None))
    for ve, box in ((0, {}), (64, {"0.x": X}), (69, {"0.y": Y}), (70, {})):
        want(world, ve, box)
    assert who(world, 70) == [[0, 64, 69], [0]]
    assert who(world, 64) == [[0], [0]]


def test_what_nobody_asks_of_is_wanted_by_all_who_follow_the_join():
    world = world_of()
    row = {"id": 1, "k": None, "j": None, "x": 9, "y": None, "v": None}
    world.commit(world.view([[("s", 1, row)]]))
    want(world, 1, {"0.x": X})
    assert who(world, 2, position=1) == [[1]]
