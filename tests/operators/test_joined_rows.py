from __future__ import annotations

import numpy as np

from catalog.schema.join import Join
from operators.coded_terms import CodedRows
from operators.joined_rows import JoinedRows
from operators.projection import Projection
from operators.reply import decode_row
from tests.operators.cell_world import TEXT, CellWorld, catalog_of
from tests.oracle.join_twin import relation_of

CATALOG = catalog_of((TEXT, TEXT, TEXT))
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "j"))])
RELATION = relation_of(CATALOG, JOIN)


def view() -> JoinedRows:
    """Rows 1 0 1 of r beside rows 0 0 1 of s."""
    world, none = CellWorld(CATALOG), {"y": None, "v": None}
    rows = [("r", 0, "c", None, 5), ("r", 1, "a", "x", None), ("s", 0, "b", "c", 7), ("s", 1, None, "a", 8)]
    world.commit(world.view([[(t, i, {"id": i, "k": k, "j": j, "x": x, **none})] for t, i, k, j, x in rows]))
    tables = {name: CodedRows(relation, world.rows[name]) for name, relation in CATALOG.relations.items()}
    return JoinedRows(RELATION, JOIN, tables, [np.array([1, 0, 1]), np.array([0, 0, 1])])


def test_columns_are_those_of_the_tables_at_the_rows_of_each():
    rows = view()
    codes, valid = rows.codes(RELATION.index("0.x"))
    assert len(rows) == 3 and valid.tolist() == [False, True, False] and codes[1] == 5
    assert rows.codes(RELATION.index("1.x"))[0].tolist() == [7, 7, 8]
    ranks, valid = rows.codes(RELATION.index("1.j"))
    assert ranks.tolist() == [1, 1, 0] and valid.all(), "of the texts of s.j alone"
    assert rows.side(RELATION.index("1.j")).position == 1


def test_they_are_projected_as_rows_of_one_relation():
    rows = view()
    shown = ["1.k", "0.k", "0.id", "1.x"]
    encoded = Projection(RELATION, rows.rows, rows.still, shown).encoded(np.array([0, 2]))
    assert [decode_row(row) for row in encoded] == [["b", "a", 1, 7], [None, "a", 1, 8]]
