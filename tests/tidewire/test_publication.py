"""Publishing JSON lines: order, the first bad line, leaving bad lines out, deletes, a rate."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl import apply_ddl
from catalog.relation import Catalog
from connectors.record import OutRecord
from tests.connectors import json_texts
from tests.effort import examples
from tidewire.publication import BadLine, publish_records, raw_records_of, records_of
from tidewire.text_input import MAX_LINE_BYTES

RELATION = apply_ddl(Catalog(), "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))", 0).relations[
    "stock"
]
GOOD = [b'{"symbol":"A","price":1.10}\n', b"\n", b'{"symbol":"B","price":"2"}\n', b'{"symbol":"A","price":null}']
BAD = [GOOD[0], b'{"symbol":"B","price":1.234}\n', GOOD[2]]


class Kept:
    """A producer that keeps what it gets."""

    def __init__(self) -> None:
        self.records: list[OutRecord] = []
        self.flushed = 0

    def send(self, record: OutRecord, on_offset: Any = None) -> None:
        self.records.append(record)

    def flush(self) -> None:
        self.flushed = len(self.records)


def publish(lines: list[bytes], delete: bool = False, **options: Any) -> tuple[Kept, Any]:
    kept = Kept()
    return kept, publish_records(records_of(RELATION, lines, delete), kept, **options)  # type: ignore[arg-type]


def test_rows_go_out_in_order_with_exact_numbers() -> None:
    kept, done = publish(GOOD)
    assert (done.rows, done.skipped, kept.flushed) == (3, 0, 3)
    assert [record.value for record in kept.records] == [
        b'{"symbol":"A","price":"1.10"}',
        b'{"symbol":"B","price":"2.00"}',
        b'{"symbol":"A","price":null}',
    ]
    assert {record.topic for record in kept.records} == {"stock"}


def test_the_first_bad_line_stops_it_and_what_was_before_is_written() -> None:
    kept = Kept()
    with pytest.raises(BadLine, match=r"line 2: .*`price`.*\n1 row\(s\) before it were published") as stopped:
        publish_records(records_of(RELATION, BAD, False), kept)  # type: ignore[arg-type]
    assert (stopped.value.line, stopped.value.published, kept.flushed) == (2, 1, 1)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"1",
        b"\xff",
        b'{"symbol":"A","price":NaN}',
        b'{"symbol":"A","cost":1}',
        b'{"symbol":"A","price":1e99999999999999999999}',
        b'{"symbol":"A","price":1e-99999999999999999999}',
        b'{"symbol":"A","price":' + b"9" * 5_000 + b"}",
        b'{"symbol":"A","price":"' + b"9" * 5_000 + b'"}',
        b'{"symbol":"A","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b'{"symbol":"\\ud800"}',
        b'{"symbol":"' + b"x" * MAX_LINE_BYTES + b'"}',
    ],
)
def test_every_kind_of_bad_line_is_one(line: bytes) -> None:
    with pytest.raises(BadLine):
        publish([line])


def test_bad_lines_can_be_left_out() -> None:
    told: list[tuple[int, str]] = []
    kept, done = publish(BAD, skip=lambda line, why: told.append((line, why)))
    assert (done.rows, done.skipped, len(kept.records)) == (2, 1, 2)
    assert told[0][0] == 2 and "`price`" in told[0][1]


def check(delete: bool, lines: list[bytes]) -> None:
    """Each line becomes a record or a bad line of its own, and the line behind them is published."""
    told: list[tuple[int, str]] = []
    kept, done = publish([*lines, b'{"symbol":"last"}'], delete, skip=lambda line, why: told.append((line, why)))
    assert done.rows == len(kept.records) and done.rows + len(told) == sum(bool(line.strip()) for line in lines) + 1
    assert kept.records[-1].key == b'{"symbol":"last"}'
    assert all(0 < len(why) < 1_000 and why.encode() for _, why in told)


odd_rows = st.builds(
    lambda symbol, price, rest: f'{{"symbol":{symbol},"price":{price}{rest}}}'.encode(errors="surrogatepass"),
    json_texts.scalars,
    st.one_of(json_texts.numbers, json_texts.scalars, json_texts.deep, json_texts.numbers.map('"{}"'.format)),
    st.one_of(st.just(""), json_texts.texts.map(',"x":{}'.format), json_texts.numbers.map(',"price":{}'.format)),
)
odd_lines = st.lists(st.one_of(odd_rows, json_texts.documents), max_size=4).map(
    lambda lines: [line.replace(b"\n", b" ") for line in lines]
)


@settings(max_examples=examples(400), deadline=None)
@given(st.booleans(), odd_lines)
def test_any_lines_are_published_or_left_out(delete: bool, lines: list[bytes]) -> None:
    check(delete, lines)


def test_keys_are_deleted() -> None:
    kept, done = publish([b'"A"', b'{"symbol":"B"}'], delete=True)
    assert done.rows == 2
    assert [(record.key, record.value) for record in kept.records] == [
        (b'{"symbol":"A"}', None),
        (b'{"symbol":"B"}', None),
    ]
    with pytest.raises(BadLine):
        publish([b"1"], delete=True)


def test_a_rate_is_kept() -> None:
    began = time.monotonic()
    publish([GOOD[0]] * 11, rate=50)
    assert time.monotonic() - began >= 0.2


def test_captured_records_go_out_as_they_were() -> None:
    kept = Kept()
    lines = [b'{"topic":"a","key":"k","value":{"base64":"AP8="}}\n', b'{"topic":"b","value":null}', b'{"topic":"a"}']
    with pytest.raises(BadLine, match=r"line 3: .*value"):
        publish_records(raw_records_of(lines), kept)  # type: ignore[arg-type]
    assert kept.records == [OutRecord("a", None, b"k", b"\x00\xff"), OutRecord("b", None, None, None)]


def test_rows_of_another_format_are_not_written() -> None:
    item = replace(RELATION, format="debezium-json")
    with pytest.raises(BadLine, match=r"'debezium-json'.*publish --raw"):
        publish_records(records_of(item, GOOD, False), Kept())  # type: ignore[arg-type]
