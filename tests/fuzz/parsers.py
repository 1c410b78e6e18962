"""What is fuzzed: by name, what is drawn and what must hold of it."""

from __future__ import annotations

import base64
import contextlib
import json
import random
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.query.compiler import Compiler
from catalog.schema.avro_references import inlined
from catalog.schema.catalog import Catalog
from catalog.schema.proto_schema import ProtoSchema, ProtoSchemaError
from catalog.sql.errors import CatalogError, SubscriptionError
from connectors.formats.record_format import format_of
from overlay.intake.subscription_request import read_request
from state.errors import UserError
from tests.catalog import odd_texts, refusals, viewed
from tests.catalog.query.test_compiler import statements
from tests.catalog.sample import CATALOG
from tests.connectors import json_texts, proto_files
from tests.connectors.debezium_source import COLUMNS, INLINE, UNITS, Source
from tests.connectors.documents import Publisher, relation_of
from tests.connectors.formats import test_avro_format, test_debezium_record, test_protobuf_format, test_row_decoding
from tests.connectors.http import test_gateway as test_http_desk
from tests.connectors.json import test_reader as test_json_reader
from tests.connectors.json.test_format import check_against_the_twin
from tests.connectors.relations import records
from tests.fuzz.mutation import mutated
from tests.fuzz.numbers import NUMBERS, is_one_number
from tests.fuzz.strict_decoders import STRICT
from tests.overlay import odd_records, test_odd_records
from tests.tidewire.bulk import test_publication, test_subscription_file
from tests.tidewire.verification.input import test_declared
from tests.tidewire.verification.records import test_lifetimes
from tidewire.bulk.raw_record import read_raw_line
from tidewire.client.client import subscription_value
from tidewire.commands.subscribe import read_params
from tidewire.history.backtest import compile_record


def as_text(samples: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return mutated(samples.map(str.encode)).map(lambda data: data.decode(errors="replace"))


def loses_nothing(ddl: str) -> Callable[[Any], None]:
    """A check of (keyless, pairs) against the format of the table that `ddl` declares."""
    relation = apply_ddl(Catalog(), ddl, 0).relations["t"]

    def check(drawn: tuple[bool, list[tuple[bytes | None, bytes | None]]]) -> None:
        keyless, pairs = drawn
        decoded = format_of(relation, keyless).decode(records(pairs))
        assert len(decoded.changes) + len(decoded.dead) + decoded.ignored == len(pairs)
        assert all(letter.code and letter.message.encode() for letter in decoded.dead)
        one_by_one = [format_of(relation, keyless).decode(records([pair])) for pair in pairs]
        assert [x.code for x in decoded.dead] == [x.code for one in one_by_one for x in one.dead]
        assert list(decoded.changes.keys) == [key for one in one_by_one for key in one.changes.keys]

    return check


def debezium_samples(schema: bool) -> list[bytes]:
    source = Source(schema=schema)
    row = {"id": 1, "kind": "é", "weight": 0.5, "price": "1.28", "doc": "long", "at": 5}
    pairs = [*source.put(row), *source.put(row | {"id": 2}), *source.move(1, 3), *source.truncate(), *source.beside()]
    return [value for _, value in pairs if value is not None]


def pairs_of(values: st.SearchStrategy[bytes], keys: list[bytes]) -> st.SearchStrategy[Any]:
    key = st.one_of(st.none(), st.sampled_from(keys), mutated(st.sampled_from(keys)))
    return st.tuples(st.booleans(), st.lists(st.tuples(key, st.one_of(st.none(), values)), max_size=4))


def against_the_json_twin(seed: int) -> None:
    rng = random.Random(seed)
    relation = relation_of(rng)
    publisher = Publisher(relation, rng, rng.choice([0.3, 0.7, 0.95]))
    check_against_the_twin(relation, rng.random() < 0.3, [publisher.record() for _ in range(20)])


def against_the_debezium_twin(drawn: tuple[str, bytes | None, bytes | None, bool]) -> None:
    text, key, value, keyless = drawn
    test_debezium_record.check_against_the_twin(text, key, value, keyless)


def compiles_or_refuses(sql: str) -> None:
    try:
        Compiler(CATALOG).compile(sql)
    except SubscriptionError as error:
        assert error.code and str(error)


def declares_or_refuses(text: str) -> None:
    try:
        apply_ddl(CATALOG, text, 1)
    except CatalogError as error:
        assert error.code and str(error)


def reads_or_refuses_descriptors(data: bytes) -> None:
    try:
        schema = ProtoSchema(base64.b64encode(data).decode(), "it")
        schema.message_at((1, 0, 0))
        schema.message("").read(b"\x08\x05")
    except (ProtoSchemaError, DecodeError) as error:
        assert str(error)


def inlines_any_schema(schema: Any) -> None:
    inlined(schema, {"a": schema, "s.E": ["a", {"type": "enum", "name": "E"}]})


def reads_or_refuses_line(line: bytes) -> None:
    try:
        read_raw_line(line)
    except ValueError as error:
        assert str(error)


def reads_alike(data: bytes) -> None:
    assert test_json_reader.outcome(data) == test_json_reader.the_long_way(data)


def takes_or_refuses_parameters(text: str) -> None:
    try:
        template = "SELECT MIN(price) FROM stock WHERE price > ?"
        compile_record(CATALOG, subscription_value(template=template, params=read_params(text)))
    except UserError as error:
        assert len(str(error)) < 2_000 and str(error).encode()


def plans_or_refuses(text: str) -> None:
    with contextlib.suppress(CatalogError):
        for view in apply_ddl(viewed.CATALOG, text, 1).views.values():
            assert apply_ddl(viewed.CATALOG, to_ddl(view), 1).views[view.name].sql == view.sql


def drops_or_refuses(text: str) -> None:
    declares_or_refuses(text)
    test_declared.check(text)


JSON_TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR, d DOUBLE, p DECIMAL(6,2), at TIMESTAMP)"
ROW = b'{"id":1,"v":"\\u00e9","d":1.5e3,"p":"1.25","at":"2026-03-01T00:00:00"}'
KEYS = [b'{"id":1}', b"1", b'{"schema":{"type":"struct","fields":[]},"payload":{"id":1}}']
TWINS = st.one_of(test_debezium_record.VALUES.map(lambda value: json.dumps(value, separators=(",", ":")).encode()))
REQUESTS = [b'{"sql":"SELECT 1"}', b'{"template":"x ?","params":[1,"a",null],"notify":"LATEST","ttl":5,"as_of":3}']
VIEWS = [sql for sql, _, _ in refusals.read("refusals_view.txt")]
DDL = [sql for sql, _, _ in refusals.read("refusals_catalog.txt")]
LINES = [
    b'{"topic":"t","key":"k","value":{"base64":"AP8="}}',
    b'{"topic":"t","partition":1,"value":{"json":{"a":[1]}}}',
]
ODD_LINES = st.builds(
    '{{"topic":"t","value":{},"key":{{"json":{}}},"partition":{}}}'.format,
    json_texts.scalars,
    json_texts.texts,
    st.one_of(st.just("0"), json_texts.numbers),
).map(lambda text: text.encode(errors="surrogatepass"))
SCHEMA = dict(test_avro_format.FUZZED.options)["schema.1"]
AVRO_DDL = f"CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR) WITH ('format'='avro', 'schema.1'='{SCHEMA}')"
DATUM = test_avro_format.datum(test_avro_format.PLAIN, {"id": 5, "v": "x", "more": ["a", "b"]}, 1)
PROTO_DDL = to_ddl(test_protobuf_format.FUZZED)
PROTO_KEY = proto_files.frame(2, b"\0", test_protobuf_format.KEY)
MESSAGE = proto_files.message(proto_files.OLD, "shop.Trade", id=5, v="\u00e9", n=-3)
MESSAGES = [proto_files.frame(1, b"\0", MESSAGE), proto_files.frame(2, b"\2\2", test_protobuf_format.ROW)]
DESCRIPTORS = [base64.b64decode(proto_files.text_of(proto)) for proto in (proto_files.TRADE, proto_files.OLD)]
WORDS = st.sampled_from(["type", "name", "namespace", "fields", "items", "values", "record", "array", "a", "s.E", "E"])
SCHEMAS = st.recursive(
    st.one_of(WORDS, st.none(), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)

PARSERS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    **STRICT,
    "json": (st.integers(0, 2**60), against_the_json_twin),
    "json-bytes": (pairs_of(mutated(st.just(ROW)), KEYS), loses_nothing(JSON_TABLE)),
    "debezium": (
        st.tuples(
            st.sampled_from(test_debezium_record.TABLES),
            test_debezium_record.KEYS,
            st.one_of(st.none(), TWINS, mutated(TWINS), mutated(st.sampled_from(debezium_samples(True)))),
            st.booleans(),
        ),
        against_the_debezium_twin,
    ),
    "debezium-bytes": (
        pairs_of(mutated(st.sampled_from(debezium_samples(False))), KEYS),
        loses_nothing(f"CREATE TABLE t ({COLUMNS}) WITH ({UNITS})"),
    ),
    "debezium-schema": (
        pairs_of(mutated(st.sampled_from(debezium_samples(True))), KEYS),
        loses_nothing(f"CREATE TABLE t ({COLUMNS}) WITH ({INLINE})"),
    ),
    "avro": (pairs_of(mutated(st.just(DATUM)), [*KEYS, b"\0\0\0\0\1\x0a"]), loses_nothing(AVRO_DDL)),
    "protobuf": (pairs_of(mutated(st.sampled_from(MESSAGES)), [*KEYS, PROTO_KEY]), loses_nothing(PROTO_DDL)),
    "proto-schema": (mutated(st.sampled_from(DESCRIPTORS)), reads_or_refuses_descriptors),
    "avro-references": (SCHEMAS, inlines_any_schema),
    "csv": (
        pairs_of(mutated(st.one_of(st.just(b'1;"a;""b";5\r\n'), test_row_decoding.TEXT.map(str.encode))), [b'"1"']),
        loses_nothing(
            "CREATE TABLE t (k VARCHAR PRIMARY KEY, v VARCHAR, n BIGINT) WITH ('format'='csv', 'delimiter'=';')"
        ),
    ),
    "sql": (
        as_text(st.one_of(st.sampled_from([s for s, _, _ in refusals.read("refusals_subscription.txt")]), statements)),
        compiles_or_refuses,
    ),
    "numbers": (NUMBERS, is_one_number),
    "ddl": (as_text(st.sampled_from(DDL)), declares_or_refuses),
    "views": (
        as_text(st.one_of(st.sampled_from(VIEWS), viewed.queries().map("CREATE VIEW v AS {}".format))),
        plans_or_refuses,
    ),
    "json-reader": (st.one_of(json_texts.documents, mutated(json_texts.documents)), reads_alike),
    "records": (test_odd_records.odd, test_odd_records.check),
    "http-bodies": (
        st.one_of(odd_records.bodies, odd_records.records, mutated(odd_records.bodies)),
        test_http_desk.check,
    ),
    "publish": (st.tuples(st.booleans(), test_publication.odd_lines), lambda drawn: test_publication.check(*drawn)),
    "files": (test_subscription_file.files, lambda drawn: test_subscription_file.check(*drawn)),
    "params": (st.one_of(odd_records.params, json_texts.texts, st.text(max_size=20)), takes_or_refuses_parameters),
    "verify-records": (st.one_of(odd_records.records, mutated(odd_records.records)), test_lifetimes.check),
    "catalog": (odd_texts.texts, drops_or_refuses),
    "subscriptions": (mutated(st.sampled_from(REQUESTS)), lambda data: read_request(data) and None),
    "raw": (st.one_of(mutated(st.sampled_from(LINES)), ODD_LINES), reads_or_refuses_line),
}
