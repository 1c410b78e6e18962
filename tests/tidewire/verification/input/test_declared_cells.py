"""Which joins are declared, and that it is the same as the product's reading."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from tests.effort import examples
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.records.journal import Record

TABLES = "; ".join(
    f"CREATE TABLE {name} (id INTEGER PRIMARY KEY) WITH ('topic'='topic{i}')"
    for i, name in enumerate(["a", "b", '"c d"', "e", "f"])
)


def declared(*texts: str) -> Declared:
    return Declared([Record(0, i, 0, None, t.encode()) for i, t in enumerate([TABLES, *texts])], scratch=SCRATCH)


def test_one_cell_for_a_set_of_tables_however_it_is_named() -> None:
    found = declared("create join B, a -- both", 'CREATE JOIN a, b, A; CREATE JOIN "c d"')
    assert found.cells_at(1) == {("a", "b"): Cell(("a", "b"), 1)}
    assert found.cells_at(2) == {("a", "b"): Cell(("a", "b"), 1), ("c d",): Cell(("c d",), 2)}
    assert found.cells_at(0) == {} and found.newest_subjects() >= {("JOIN a, b", 1), ("JOIN c d", 2), ("a", 0)}


def test_what_is_dropped_and_made_again_is_another_one() -> None:
    found = declared("CREATE JOIN a, b; CREATE JOIN b, e", "DROP JOIN b, a", "CREATE JOIN a, b", "DROP TABLE b")
    assert [sorted(cell.born for cell in found.cells_at(v).values() if cell) for v in (1, 2, 3, 4)] == [
        [1, 1], [1], [1, 3], [],
    ]  # fmt: skip


def test_what_the_engine_refuses_is_none_until_it_is_asked_for_again() -> None:
    found = declared("CREATE JOIN a, b", "REFUSE JOIN a, b BECAUSE 'it''s too large'", "CREATE JOIN a, b")
    assert [found.cells_at(v).get(("a", "b")) for v in (1, 2, 3)] == [Cell(("a", "b"), 1), None, Cell(("a", "b"), 3)]
    assert ("JOIN a, b", 1) not in found.subjects_at(2)


@pytest.mark.parametrize(
    "text",
    ["CREATE JOIN a, nobody", "DROP JOIN a, b", "CREATE JOIN", "CREATE JOIN a b", "REFUSE JOIN a, b",
     "CREATE JOIN a, b BECAUSE 'x'", 'CREATE JOIN a, b, "c d", e, f', "CREATE JOIN a, b; DROP JOIN e",
     "CREATE JOIN a,"],
)  # fmt: skip
def test_what_does_not_apply_changes_nothing(text: str) -> None:
    assert declared(text).cells_at(1) == {}


def test_one_too_many_is_none_and_the_rest_of_its_text_holds() -> None:
    names = [f"t{i}" for i in range(33)]
    tables = "; ".join(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY)" for name in names)
    full = "; ".join(f"CREATE JOIN {name}" for name in names[:-1])
    texts = [tables, full, f"CREATE JOIN {names[-1]}; DROP TABLE t0", f"DROP JOIN {names[-1]}; DROP TABLE t1"]
    catalog, found = Catalog(), declared(*texts)
    for version, text in enumerate([TABLES, *texts]):
        catalog = fold_ddl(catalog, text, version)
        assert found.at(version).keys() == {name.lower() for name in catalog.relations}
        made = {cell.tables for cell in found.cells_at(version).values() if cell is not None}
        assert made == {cell.tables for cell in catalog.cells.values()}


def test_tables_that_nobody_reads_are_joined_by_nobody() -> None:
    old = "CREATE TABLE old (id INTEGER PRIMARY KEY) WITH ('topic'='tw.acks')"
    found = declared(old, "CREATE JOIN a; CREATE JOIN a, old", "CREATE JOIN a")
    catalog = fold_ddl(fold_ddl(Catalog(), TABLES, 0), old, 1)
    with pytest.raises(CatalogError, match="no table `old`"):
        fold_ddl(catalog, "CREATE JOIN a; CREATE JOIN a, old", 2)
    assert found.cells_at(2) == {} and found.cells_at(3) == {("a",): Cell(("a",), 3)}


TEXTS = st.builds(
    lambda verb, names, end: f"{verb} JOIN {', '.join(names)}{end}",
    st.sampled_from(["CREATE", "create", "DROP", "REFUSE"]),
    st.lists(st.sampled_from(["a", "b", "E", '"c d"', "nobody", "f"]), min_size=1, max_size=5),
    st.sampled_from(["", "", "", ";", " BECAUSE 'why'", "; DROP TABLE a", f"; {TABLES.split(';')[0]}"]),
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(TEXTS, max_size=8))
def test_the_product_reads_the_same(texts: list[str]) -> None:
    catalog, ours = fold_ddl(Catalog(), TABLES, 0), declared(*texts)
    for version, text in enumerate(texts, 1):
        with contextlib.suppress(CatalogError):
            catalog = fold_ddl(catalog, text, version)
        cells = {(cell.tables, cell.born) for cell in ours.cells_at(version).values() if cell is not None}
        assert cells == {(cell.tables, cell.born) for cell in catalog.cells.values()}, text
