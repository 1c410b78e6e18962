"""A table of which no record can ever be a row is refused where it is declared, and taken where it is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, fold_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from connectors.formats.record_format import format_of
from connectors.kafka.catalog_versions import CatalogFold
from tests.connectors.proto_files import text_of
from tests.connectors.relations import records


def avro(*names: str, record: str = "R") -> str:
    return json.dumps({"type": "record", "name": record, "fields": [{"name": n, "type": "int"} for n in names]})


def proto(*names: str, message: str = "R") -> str:
    fields = "".join(f" optional int32 {name} = {i};" for i, name in enumerate(names, 1))
    return text_of(f'syntax = "proto3"; message {message} {{{fields} }}')


TEXTS = {"avro": avro, "protobuf": proto}


def ddl(format: str, columns: str, **options: str) -> str:
    shown = "".join(f", '{name.replace('_', '.')}'='{value}'" for name, value in options.items())
    return f"CREATE TABLE t ({columns}) WITH ('format'='{format}'{shown})"


def refused(text: str) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(Catalog(), text, 0)
    assert "t" in fold_ddl(Catalog(), text, 0).relations
    return caught.value


@pytest.mark.parametrize("format", ["avro", "protobuf"])
@pytest.mark.parametrize("option", ["schema", "schema_7"])
@pytest.mark.parametrize(
    ("columns", "absent", "names", "missing"),
    [
        ("id INT PRIMARY KEY", "null", ("idd",), "id"),
        ("id INT PRIMARY KEY", "keep", ("idd",), "id"),
        ("a INT, b INT, PRIMARY KEY (a, b)", "null", ("a",), "b"),
        ("id INT PRIMARY KEY, v INT NOT NULL", "null", ("id", "w"), "v"),
        ("id INT PRIMARY KEY, v INT", "error", ("id",), "v"),
        ('"Id" INT PRIMARY KEY', "null", ("id",), "Id"),
        ("id INT PRIMARY KEY", "null", (), "id"),
    ],
)
def test_a_schema_without_a_column_that_rows_need(
    format: str, option: str, columns: str, absent: str, names: tuple[str, ...], missing: str
) -> None:
    text = ddl(format, columns, absent=absent, **{option: TEXTS[format](*names)})
    error = refused(text)
    assert error.code == "unknown_column"
    assert f"no field for column `{missing}`" in error.what
    assert text[error.start : error.end].strip('"') == missing
    decoded = format_of(fold_ddl(Catalog(), text, 0).relations["t"], True).decode(records([]))
    assert not decoded.dead


def test_what_may_be_meant_is_told() -> None:
    assert "Did you mean `price`" in str(refused(ddl("avro", "prize INT PRIMARY KEY", schema=avro("price", "id"))))
    assert 'write "ID" in double quotes' in str(refused(ddl("avro", "ID INT PRIMARY KEY", schema=avro("ID"))))
    assert "R`" in refused(ddl("protobuf", "id INT PRIMARY KEY", schema=proto("no"))).what


TAKEN = [
    ("id INT PRIMARY KEY, v INT", "null", ("id",)),
    ("id INT PRIMARY KEY, v INT NOT NULL", "keep", ("id",)),
    ("id INT PRIMARY KEY, v INT NOT NULL", "null", ("id", "v", "w")),
    ("id INT PRIMARY KEY, v INT", "error", ("v", "id")),
]


@pytest.mark.parametrize("format", ["avro", "protobuf"])
@pytest.mark.parametrize(("columns", "absent", "names"), TAKEN)
def test_what_can_be_read_is_taken(format: str, columns: str, absent: str, names: tuple[str, ...]) -> None:
    for option in ("schema", "schema_7"):
        assert apply_ddl(Catalog(), ddl(format, columns, absent=absent, **{option: TEXTS[format](*names)}), 0)


@pytest.mark.parametrize("format", ["avro", "protobuf"])
def test_one_of_the_listed_schemas_has_to_do(format: str) -> None:
    make = TEXTS[format]
    columns = "id INT PRIMARY KEY, v INT NOT NULL"
    apply_ddl(Catalog(), ddl(format, columns, schema_1=make("id"), schema_2=make("id", "v")), 0)
    apply_ddl(Catalog(), ddl(format, columns, schema_1=make("id"), schema="registry"), 0)
    apply_ddl(Catalog(), ddl(format, columns, schema="registry"), 0)
    assert "`v`" in refused(ddl(format, columns, schema_1=make("id"), schema_2=make("id", "w"))).what


def test_datums_that_are_no_records() -> None:
    columns = "id INT PRIMARY KEY"
    apply_ddl(Catalog(), ddl("avro", columns, schema_1='"long"'), 0)
    for text in ('"long"', '["null","int"]', '{"type":"array","items":"int"}'):
        assert refused(ddl("avro", columns, schema=text)).code == "malformed"


def test_the_message_that_rows_are() -> None:
    both = text_of(
        'syntax="proto3"; message A { int32 no = 1; message In { int32 id = 1; } } message B { int32 id = 1; }'
    )
    columns = "id INT PRIMARY KEY"
    for message in ("B", "A.In"):
        apply_ddl(Catalog(), ddl("protobuf", columns, schema=both, message=message), 0)
        apply_ddl(Catalog(), ddl("protobuf", columns, schema_1=both, message=message), 0)
    apply_ddl(Catalog(), ddl("protobuf", columns, schema_1=both), 0)
    assert "`A`" in refused(ddl("protobuf", columns, schema=both, message="A")).what
    assert "`A`" in refused(ddl("protobuf", columns, schema_1=both, message="A")).what


def test_a_recorded_text_keeps_its_other_tables() -> None:
    text = "CREATE TABLE u (id INT PRIMARY KEY); " + ddl("avro", "id INT PRIMARY KEY", schema=avro("idd"))
    fold = CatalogFold("tw.")
    assert fold.add(0, text.encode())
    assert set(fold.newest.relations) == {"t", "u"}
    with pytest.raises(CatalogError):
        apply_ddl(fold.newest, "CREATE TABLE w (id INT PRIMARY KEY); " + text, 1)


NAMES = st.sampled_from(["a", "b", "c"])


@given(st.data(), st.sampled_from(["null", "error", "keep"]))
def test_what_is_refused_is_what_no_record_can_be(data: st.DataObject, absent: str) -> None:
    declared = data.draw(st.dictionaries(NAMES, st.booleans(), min_size=1))
    key = data.draw(st.sampled_from(sorted(declared)))
    columns = ", ".join(f"{name} INT{' NOT NULL' * declared[name]}" for name in sorted(declared))
    fields = sorted(data.draw(st.sets(NAMES)))
    text = ddl("avro", f"{columns}, PRIMARY KEY ({key})", absent=absent, schema=avro(*fields))
    relation = fold_ddl(Catalog(), text, 0).relations["t"]
    dead: list[Any] = format_of(relation, True).decode(records([(None, b"\2" * len(fields))])).dead
    if dead:
        assert dead[0].code == "missing_column"
        refused(text)
    else:
        apply_ddl(Catalog(), text, 0)
