"""Random envelopes, good and bad: the decoder says what an independent one says, and raises nothing else."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.dead_letter import RecordFault
from connectors.formats.debezium_record import DebeziumChange, DebeziumRecordDecoder
from connectors.json.scalar import scalar_text
from tests.connectors.debezium_source import COLUMNS, INLINE, UNITS, VALUE_SCHEMA
from tests.effort import examples
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input import debezium
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.decoding import Bad
from tidewire.verification.records.journal import Record

TABLES = [f"CREATE TABLE t ({COLUMNS}) WITH ({options})" for options in (UNITS, INLINE, UNITS + ", 'absent'='keep'")]
KEYLESS = "CREATE TABLE t (id BIGINT PRIMARY KEY, doc VARCHAR) WITH ('format'='debezium-json')"
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3),
    st.sampled_from(["", "a", "BNI=", "gA==", debezium.PLACEHOLDER, "1.5"]),
    st.sampled_from([0.5, 1772409599000000, -62135596800000001, 10**30, [1], {"id": 1}]),
)  # fmt: skip
IMAGES = st.one_of(
    SCALARS,
    st.fixed_dictionaries(
        {"id": st.integers(-1, 2), "kind": SCALARS, "weight": st.sampled_from([None, 1, 0.25])},
        optional={"price": SCALARS, "doc": SCALARS, "at": SCALARS, "more": SCALARS},
    ),
)
PAYLOADS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["c", "u", "d", "r", "t", "m", "x", 1, None]),
        "before": IMAGES, "after": IMAGES, "source": st.sampled_from([{"lsn": 1}, None, 5]), "ts_ms": SCALARS,
        "status": SCALARS, "id": SCALARS, "ddl": SCALARS,
    },
)  # fmt: skip
FIELDS = st.sampled_from(["int64", "float", "bytes", "string", "struct", 5])
SCHEMAS = st.one_of(st.just(VALUE_SCHEMA), st.none(), st.builds(lambda t: {"type": t, "fields": []}, FIELDS))
VALUES = st.one_of(PAYLOADS, st.builds(lambda s, p: {"schema": s, "payload": p}, SCHEMAS, PAYLOADS), SCALARS)
KEYS = st.one_of(
    st.none(),
    st.builds(lambda id: json.dumps({"id": id}).encode(), st.integers(-1, 2)),
    st.sampled_from([b"1", b"{", b'{"id":null}', b'{"schema":null,"payload":{"id":1}}', b"\xff"]),
)


@cache
def declared(text: str) -> Table:
    return Declared([Record(0, 0, 0, None, text.encode())], scratch=SCRATCH).at(0)["t"]


@cache
def product(table: str, keyless: bool) -> DebeziumRecordDecoder:
    return DebeziumRecordDecoder(apply_ddl(Catalog(), table, 0).relations["t"], keyless)


def said(decoder: DebeziumRecordDecoder, change: DebeziumChange | None) -> tuple:
    """A change in the words of the independent decoder."""
    if change is None:
        return ("nothing",)
    if change.kind != "upsert":
        return change.kind, change.key.decode()
    columns = decoder.relation.columns
    texts = [None if v is None else scalar_text(c.type, v) for c, v in zip(columns, change.values, strict=True)]
    return "upsert", change.key.decode(), texts, change.unchanged, change.origin and change.origin.decode()


def twin(table, relation, key, value, keyless) -> tuple | None:
    try:
        event = debezium.decode(table, key, value, keyless)
    except Bad:
        return None
    if event.kind in ("nothing", "truncate"):
        return (event.kind, "") if event.kind == "truncate" else (event.kind,)
    canonical = product_key(event.pk)
    if event.kind == "delete":
        return "delete", canonical
    texts = []
    for column, text in zip(relation.columns, event.values, strict=True):
        if text is None:
            texts.append(None)
        elif column.name == "price":
            texts.append(json.dumps(f"{float(text):.2f}"))
        elif column.name == "at":
            texts.append(json.dumps(text.replace(" ", "T")))
        else:
            texts.append(text if column.name in ("id", "weight") else json.dumps(text, ensure_ascii=False))
    origin = event.origin and product_key(event.origin)
    return "upsert", canonical, texts, list(event.unknown), origin


def product_key(pk: str) -> str:
    (id,) = json.loads(pk)
    return f'{{"id":{id}}}'


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(TABLES), KEYS, st.one_of(st.none(), VALUES), st.booleans())
def test_it_agrees_with_an_independent_decoder(text, key, value, keyless):
    data = None if value is None else json.dumps(value, separators=(",", ":")).encode()
    check_against_the_twin(text, key, data, keyless)


def check_against_the_twin(text, key, data, keyless):
    decoder, table = product(text, keyless), declared(text)
    expected = twin(table, decoder.relation, key, data, keyless)
    for _ in range(2):  # the second time, schemas are known
        try:
            found = said(decoder, decoder.decode(key, data))
        except RecordFault as fault:
            assert fault.code and fault.message
            found = None
        assert found == expected


def test_a_refusal_says_which_schema_wrote_the_record():
    value = {"schema": VALUE_SCHEMA, "payload": {"op": "c", "after": {"id": "one"}}}
    with pytest.raises(RecordFault, match=r"column `id`: .*\(schema `pg.public.item.Envelope`\)"):
        product(TABLES[1], True).decode(None, json.dumps(value).encode())


def test_a_value_without_schema_and_unit_is_refused():
    value = b'{"op":"c","after":{"id":1,"kind":null,"weight":null,"price":null,"doc":null,"at":1772409599000000}}'
    with pytest.raises(RecordFault) as caught:
        product(TABLES[1], True).decode(None, value)
    assert caught.value.code == "missing_schema"


def test_the_size_of_records_and_rows():
    decoder = product(TABLES[0], True)
    row = {"id": 1, "kind": None, "weight": None, "price": None, "doc": "x" * 65_536, "at": None}
    large = json.dumps({"op": "c", "after": row, "before": row}).encode()
    assert decoder.decode(None, large) is not None
    for row["doc"] in ("x" * 65_537, "é" * 32_769):
        with pytest.raises(RecordFault, match="the row's texts have"):
            decoder.decode(None, json.dumps({"op": "c", "after": row}).encode())
    with pytest.raises(RecordFault, match="at most 1048576"):
        decoder.decode(None, b" " * 1_048_577)


def test_the_placeholder_is_an_option_and_never_a_key():
    text = "CREATE TABLE t (k VARCHAR PRIMARY KEY, v VARCHAR) WITH ('format'='debezium-json', 'placeholder'='?')"
    change = product(text, True).decode(b'{"k":"?"}', b'{"op":"u","after":{"k":"?","v":"?"}}')
    assert change is not None and change.unchanged == [False, True] and change.key == b'{"k":"?"}'
    own = product(text, True).decode(None, b'{"op":"u","after":{"k":"a","v":"__debezium_unavailable_value"}}')
    assert own is not None and own.unchanged == [False, False]


ROW = b'{"op":"%s","before":%s,"after":%s}'


@pytest.mark.parametrize(
    ("value", "kind", "key", "origin"),
    [
        (ROW % (b"c", b"null", b'{"id":1,"doc":"x"}'), "upsert", b'{"id":1}', None),
        (ROW % (b"r", b"null", b'{"id":1,"doc":"x"}'), "upsert", b'{"id":1}', None),
        (ROW % (b"u", b"null", b'{"id":1,"doc":"x"}'), "upsert", b'{"id":1}', None),
        (ROW % (b"u", b'{"id":1,"doc":""}', b'{"id":1,"doc":"x"}'), "upsert", b'{"id":1}', None),
        (ROW % (b"u", b'{"id":2,"doc":""}', b'{"id":1,"doc":"x"}'), "upsert", b'{"id":1}', b'{"id":2}'),
        (ROW % (b"d", b'{"id":2,"doc":""}', b"null"), "delete", b'{"id":2}', None),
    ],
)
def test_without_a_key_the_row_says_it(value: bytes, kind: str, key: bytes, origin: bytes | None):
    change = product(KEYLESS, True).decode(None, value)
    assert (change.kind, change.key, change.origin) == (kind, key, origin)


@pytest.mark.parametrize(
    ("value", "keyless", "code", "said"),
    [
        (ROW % (b"c", b"null", b'{"id":1,"doc":"x"}'), False, "missing_key", "may have several partitions"),
        (ROW % (b"u", b'{"id":1}', b'{"id":1,"doc":"x"}'), False, "missing_key", "may have several partitions"),
        (ROW % (b"d", b'{"id":1}', b"null"), False, "missing_key", "may have several partitions"),
        (ROW % (b"d", b"null", b"null"), True, "missing_key", "does not say what to delete"),
        (ROW % (b"c", b"null", b'{"doc":"x"}'), True, "missing_column", "column `id`"),
        (ROW % (b"c", b"null", b'{"id":null,"doc":"x"}'), True, "null_not_allowed", "column `id`"),
    ],
)
def test_without_a_key_and_a_row_that_says_it_the_record_is_refused(value, keyless, code, said):
    with pytest.raises(RecordFault, match=said) as caught:
        product(KEYLESS, keyless).decode(None, value)
    assert caught.value.code == code
