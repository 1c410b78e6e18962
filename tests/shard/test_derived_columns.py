from __future__ import annotations

import json

import numpy as np
import pytest

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import as_declared
from catalog.sql.errors import CatalogError
from connectors.decoded import Decoded
from connectors.formats.record_format import format_of
from connectors.record import RawRecords
from shard.derived_columns import with_derived

DDL = "CREATE TABLE t (k BIGINT PRIMARY KEY, i INT4RANGE, v VARCHAR, f FLOAT8RANGE)"


def decoded(options: str, *rows: dict[str, object] | None) -> tuple[list[str], Decoded]:
    relation = apply_ddl(Catalog(), f"{DDL} {options}", 1).relations["t"]
    keys = [b"%d" % i for i in range(len(rows))]
    values = [None if row is None else json.dumps({"k": i} | row).encode() for i, row in enumerate(rows)]
    places = np.arange(len(rows))
    records = RawRecords("t", keys, values, places.astype(np.int32) * 0, places, places)
    made = with_derived(relation, format_of(as_declared(relation)).decode(records))
    return [column.name for column in relation.columns], made


def column(names: list[str], made: Decoded, name: str) -> list[object]:
    at, changes = names.index(name), made.changes
    values = changes.texts[at] if at in changes.texts else changes.codes[at].tolist()
    return [value if known else None for value, known in zip(values, changes.valid[at].tolist(), strict=True)]


def test_what_is_derived_stands_behind_its_range() -> None:
    names, made = decoded("", {"i": "(1,5]", "f": "[0.5,)"}, {"i": None, "f": "empty"}, None, {"i": "[3,1)"})
    assert names[1:6] == ["i", "i.lower", "i.upper", "lower(i)", "upper(i)"]
    assert [letter.code for letter in made.dead] == ["malformed_value"]
    assert column(names, made, "i") == ["[2,6)", None, None]
    assert column(names, made, "i.lower") == [2, None, None]
    assert column(names, made, "i.upper") == [5, None, None]
    assert column(names, made, "upper(i)") == [6, None, None]
    assert column(names, made, "f") == ["[0.5,)", "empty", None]
    assert column(names, made, "upper(f)") == [None, None, None]
    assert [type(value) for value in column(names, made, "f.lower")] == [str, str, type(None)]


def test_null_means_everything_where_the_table_says_so() -> None:
    names, made = decoded("WITH ('null.range'='everything', 'absent'='keep')", {"i": None}, {}, None)
    assert column(names, made, "i") == ["(,)", "(,)", None]
    assert made.changes.kept is not None
    kept = {name: made.changes.kept[names.index(name)].tolist() for name in ("i", "i.upper", "lower(i)")}
    assert list(kept.values()) == [[False, True, False]] * 3


def test_a_declaration_comes_back_and_grows_by_ranges() -> None:
    catalog = apply_ddl(Catalog(), f"{DDL} WITH ('null.range'='everything')", 1)
    assert apply_ddl(Catalog(), to_ddl(catalog.relations["t"]), 1).relations == catalog.relations
    with pytest.raises(CatalogError, match="is appended where a row without one"):
        apply_ddl(catalog, f"{DDL[:-1]}, d DATERANGE) WITH ('null.range'='everything')", 2)
    plain = apply_ddl(Catalog(), DDL, 1)
    grown = apply_ddl(plain, f"{DDL[:-1]}, d DATERANGE)", 2).relations["t"]
    assert grown.columns[: len(plain.relations["t"].columns)] == plain.relations["t"].columns
    with pytest.raises(CatalogError, match=r"option null.range of `t` is nothing and cannot become everything"):
        apply_ddl(plain, f"{DDL} WITH ('null.range'='everything')", 2)
