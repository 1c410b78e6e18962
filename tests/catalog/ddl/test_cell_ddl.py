"""Statements about joins: which cells a catalog has after them, what is refused, and what is folded."""

import pytest

from catalog.ddl.cell_ddl import MAX_CELLS, is_kept_name
from catalog.ddl.statements import apply_ddl, fold_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell, cell_name
from catalog.sql.errors import CatalogError
from tests.catalog.joined import BARE

PAIR = "cell/filing+quote/0"


def after(*texts: str, catalog: Catalog = BARE) -> Catalog:
    for text in texts:
        catalog = apply_ddl(catalog, text, catalog.version + 1)
    return catalog


@pytest.mark.parametrize(
    "text",
    [
        "CREATE JOIN quote, filing",
        "create join Filing,QUOTE;",
        '-- both\nCREATE JOIN "quote", "filing", quote',
        "; CREATE JOIN quote, filing;;",
    ],
)
def test_a_cell_is_of_a_set_of_tables(text: str) -> None:
    assert after(text).cells == {PAIR: Cell(("filing", "quote"), 1)}


def test_one_table_and_four() -> None:
    found = after("CREATE JOIN quote; CREATE JOIN quote, filing, sector, office")
    assert set(found.cells) == {"cell/quote/0", "cell/filing+office+quote+sector/0"}


def test_it_is_made_once_and_made_anew_after_it_was_dropped() -> None:
    again = after("CREATE JOIN quote, filing", "CREATE JOIN filing, quote")
    assert again.cells[PAIR].born == 1
    assert after("DROP JOIN quote, filing", catalog=again).cells == {}
    assert after("DROP JOIN quote, filing; CREATE JOIN quote, filing", catalog=again).cells[PAIR].born == 3


def test_what_is_refused_has_no_cell_until_it_is_created_again() -> None:
    refused = after("CREATE JOIN quote, filing", "REFUSE JOIN filing, quote BECAUSE 'it''s too large'")
    assert (dict(refused.cells), refused.unserved) == ({}, {PAIR: "it's too large"})
    created = after("CREATE JOIN quote, filing", catalog=refused)
    assert (created.cells[PAIR].born, dict(created.unserved)) == (3, {})
    dropped = after("DROP JOIN quote, filing", catalog=refused)
    assert (dict(dropped.cells), dict(dropped.unserved)) == ({}, {})


def test_a_cell_goes_with_each_of_its_tables() -> None:
    both = after("CREATE JOIN quote, filing; CREATE JOIN quote; REFUSE JOIN filing, sector BECAUSE 'large'")
    dropped = after("DROP TABLE filing", catalog=both)
    assert (set(dropped.cells), dict(dropped.unserved)) == ({"cell/quote/0"}, {})
    again = after("DROP TABLE quote; CREATE TABLE quote (id BIGINT PRIMARY KEY)", catalog=both)
    assert (set(again.cells), set(again.unserved)) == (set(), {"cell/filing+sector/0"})
    tables = [f"CREATE TABLE t (k INT PRIMARY KEY{more})" for more in ("", ", x INT")]
    grown = after(tables[0], "CREATE JOIN t", tables[1])
    assert grown.cells["cell/t/0"].born == 2


def test_tables_may_be_declared_beside() -> None:
    found = after("CREATE TABLE t (k INT PRIMARY KEY); CREATE JOIN t, quote; DROP TABLE sector; CREATE JOIN t")
    assert set(found.cells) == {"cell/quote+t/0", "cell/t/0"} and "sector" not in found.relations
    with pytest.raises(CatalogError, match="there is no table `t`"):
        after("CREATE JOIN t, quote; CREATE TABLE t (k INT PRIMARY KEY)")


def test_names_as_they_are_quoted() -> None:
    declared = after("""CREATE TABLE "A, b/+" ("Order" INT PRIMARY KEY) WITH ('topic'='t')""")
    found = after('CREATE JOIN "A, b/+", quote', catalog=declared)
    (cell,) = found.cells.values()
    assert cell.tables == ("A, b/+", "quote")
    assert after(to_ddl(cell), catalog=declared).cells == found.cells


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE JOIN", "syntax"),
        ("CREATE JOIN quote,", "syntax"),
        ("CREATE JOIN quote filing", "syntax"),
        ("CREATE JOIN (quote, filing)", "syntax"),
        ("CREATE JOIN 'quote'", "syntax"),
        ("CREATE JOIN quote, filing ON quote.id = filing.id", "syntax"),
        ("REFUSE JOIN quote", "syntax"),
        ("REFUSE JOIN quote BECAUSE", "syntax"),
        ("REFUSE JOIN quote BECAUSE large", "syntax"),
        ("REFUSE JOIN quote BECAUSE 'large' 'x'", "syntax"),
        ("CREATE JOIN a, b, c, d, e", "unsupported"),
        ("CREATE JOIN quote, filling", "unknown_table"),
        ("REFUSE JOIN quote, filling BECAUSE 'x'", "unknown_table"),
        ("DROP JOIN quote, filing", "conflict"),
    ],
)
def test_refused(text: str, code: str) -> None:
    for apply in (apply_ddl, fold_ddl):
        with pytest.raises(CatalogError) as caught:
            apply(BARE, f"CREATE TABLE t (k INT PRIMARY KEY);\n{text}", 1)
        assert caught.value.code == code and caught.value.line == 2 and caught.value.hint


def test_only_so_many() -> None:
    tables = [f"t{i}" for i in range(MAX_CELLS + 1)]
    catalog = after(*(f"CREATE TABLE {t} (k INT PRIMARY KEY)" for t in tables), catalog=Catalog())
    full = after(*(f"CREATE JOIN {t}" for t in tables[:-1]), catalog=catalog)
    with pytest.raises(CatalogError, match="no more are taken") as caught:
        after(f"CREATE JOIN {tables[-1]}", catalog=full)
    assert caught.value.hint is not None and "DROP JOIN" in caught.value.hint
    assert len(after("CREATE JOIN t0", catalog=full).cells) == MAX_CELLS
    assert len(after(f"DROP JOIN t0; CREATE JOIN {tables[-1]}", catalog=full).cells) == MAX_CELLS


def test_one_too_many_that_stands_in_the_catalog_is_refused_there() -> None:
    tables = [f"t{i}" for i in range(MAX_CELLS + 1)]
    catalog = after(*(f"CREATE TABLE {t} (k INT PRIMARY KEY)" for t in tables), catalog=Catalog())
    full = after(*(f"CREATE JOIN {t}" for t in tables[:-1]), catalog=catalog)
    more = fold_ddl(full, f"CREATE JOIN {tables[-1]}; DROP TABLE t0", full.version + 1)
    assert len(more.cells) == MAX_CELLS - 1 and "no more are taken" in more.unserved[cell_name([tables[-1]])]
    room = fold_ddl(more, f"CREATE JOIN {tables[-1]}", more.version + 1)
    assert len(room.cells) == MAX_CELLS and not room.unserved


def test_tables_that_stand_aside_are_joined_by_nobody() -> None:
    old = fold_ddl(Catalog(), "CREATE TABLE bad (k INT PRIMARY KEY) WITH ('topic'='tw.acks')", 0)
    with pytest.raises(CatalogError, match="there is no table `bad`"):
        apply_ddl(old, "CREATE JOIN bad", 1)


@pytest.mark.parametrize("name", ["cell/a+b/0", "cell/", '[["a"'])
def test_names_of_cells_and_joins_are_kept(name: str) -> None:
    assert is_kept_name(name)
    quoted = '"' + name.replace('"', '""') + '"'
    text = f"CREATE TABLE {quoted} (k INT PRIMARY KEY) WITH ('topic'='t')"
    with pytest.raises(CatalogError, match="kept"):
        apply_ddl(BARE, text, 1)
    old = fold_ddl(BARE, text, 1)
    assert name in old.relations
    assert apply_ddl(old, text, 2).relations.keys() == old.relations.keys()


def test_a_cell_has_no_name_of_a_shard() -> None:
    old = fold_ddl(BARE, """CREATE TABLE "cell/filing+quote" (k INT PRIMARY KEY) WITH ('topic'='t')""", 1)
    with pytest.raises(CatalogError, match="a table is called `cell/filing"):
        apply_ddl(old, "CREATE JOIN quote, filing", 2)
    folded = fold_ddl(old, "CREATE JOIN quote, filing", 2)
    assert PAIR not in folded.cells and "a table is called" in folded.unserved[PAIR]
    assert PAIR in apply_ddl(folded, 'DROP TABLE "cell/filing+quote"; CREATE JOIN quote, filing', 3).cells
