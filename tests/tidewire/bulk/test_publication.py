"""Publishing JSON lines: order, the first bad line, leaving bad lines out, deletes, a rate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.failure import BrokerUnavailable, KafkaFailure
from connectors.record import OutRecord
from tests.connectors import json_texts
from tests.effort import examples
from tidewire.bulk.publication import (
    BadLine,
    NotAcknowledged,
    PublicationInterrupted,
    publish_records,
    raw_records_of,
    records_of,
)
from tidewire.text_input import MAX_LINE_BYTES

RELATION = apply_ddl(Catalog(), "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))", 0).relations[
    "stock"
]
GOOD = [b'{"symbol":"A","price":1.10}\n', b"\n", b'{"symbol":"B","price":"2"}\n', b'{"symbol":"A","price":null}']
BAD = [GOOD[0], b'{"symbol":"B","price":1.234}\n', GOOD[2]]


class Kept:
    """A producer that keeps what it gets, and acknowledges the first `most` of it when it is served."""

    def __init__(self, most: int = 10**9, refusal: KafkaFailure | None = None) -> None:
        self.records: list[OutRecord] = []
        self.left = most
        self.refusal = refusal
        self.eager = False
        self.abandoned = False
        self._waiting: list[Any] = []

    def send(self, record: OutRecord, on_offset: Any) -> None:
        self.records.append(record)
        self._waiting.append(on_offset)
        if self.eager:
            self.serve(0.0)

    def serve(self, seconds: float) -> None:
        heard = self._waiting[: self.left]
        del self._waiting[: len(heard)]
        self.left -= len(heard)
        for on_offset in heard:
            on_offset(0, 0)
        if seconds and self._waiting:
            raise self.refusal or BrokerUnavailable("nobody answers.")

    def abandon(self) -> None:
        self.abandoned = True


def publish(lines: list[bytes], delete: bool = False, **options: Any) -> tuple[Kept, Any]:
    kept = Kept()
    return kept, publish_records(records_of(RELATION, lines, delete), kept, **options)  # type: ignore[arg-type]


def test_rows_go_out_in_order_with_exact_numbers() -> None:
    kept, done = publish(GOOD)
    assert (done.rows, done.sent, done.skipped) == (3, 3, 0)
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
    assert (stopped.value.line, stopped.value.published, kept.left) == (2, 1, 10**9 - 1)


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


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize("line", [b'{"SYMBOL":"A"}', b'{"price":1,"SYMBOL":"A"}', b'{"SYMBOL":"A","symbol":null}'])
def test_a_name_that_no_column_has_is_named(delete: bool, line: bytes) -> None:
    with pytest.raises(BadLine, match="`SYMBOL`; correct the name"):
        publish([line], delete)


@pytest.mark.parametrize("line", [b'{"symbol":"A"', b'{"symbol":"A",}', b'{"symbol" "A"}', b"x", b'{"symbol":"\n"}'])
def test_broken_json_has_one_line_number(line: bytes) -> None:
    with pytest.raises(BadLine) as error:
        publish([b'{"symbol":"A"}', line])
    first = str(error.value).splitlines()[0]
    assert first.startswith("line 2: ") and first.count("line") == 1


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


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("first", [1, 5])
def test_only_what_is_acknowledged_is_called_written(most: int, first: int) -> None:
    kept, lines = Kept(most), [b"\n"] * (first - 1) + GOOD
    with pytest.raises(NotAcknowledged, match=r"nobody answers\.\n.*surely written; of the next \d nobody") as stopped:
        publish_records(records_of(RELATION, lines, False, first), kept, from_line=first)  # type: ignore[arg-type]
    line_of_record = [first, first + 2, first + 3]
    said = stopped.value
    assert (said.written, said.unsure, said.line) == (most, 3 - most, line_of_record[most])
    assert kept.abandoned
    kept = Kept()
    publish_records(records_of(RELATION, lines, False, said.line), kept, from_line=said.line)  # type: ignore[arg-type]
    assert len(kept.records) == 3 - most


def test_what_is_told_meanwhile_is_what_is_acknowledged() -> None:
    told: list[tuple[int, int]] = []
    with pytest.raises(NotAcknowledged):
        publish_records(
            records_of(RELATION, GOOD * 20, False), Kept(7), tick=lambda done: told.append((done.rows, done.sent))
        )  # type: ignore[call-overload]
    assert max(told) <= (7, 60) and {rows for rows, _ in told} <= set(range(8)) and max(told)[0] > 0


def test_what_is_acknowledged_while_it_is_sent_counts() -> None:
    kept = Kept()
    kept.eager = True
    assert publish_records(records_of(RELATION, GOOD, False), kept).rows == 3  # type: ignore[arg-type]
    with pytest.raises(BadLine) as stopped:
        publish_records(records_of(RELATION, BAD, False), kept)  # type: ignore[arg-type]
    assert stopped.value.published == 1


def test_ctrl_c_says_what_is_written_and_how_to_go_on() -> None:
    def lines() -> Iterator[bytes]:
        yield from GOOD
        raise KeyboardInterrupt

    kept = Kept()
    with pytest.raises(PublicationInterrupted, match=r"Ctrl-C.\n3 row\(s\), all up to line 4, .* again 5") as stopped:
        publish_records(records_of(RELATION, lines(), False), kept, how="again {}".format)  # type: ignore[arg-type]
    assert (stopped.value.written, stopped.value.unsure, stopped.value.exit_code) == (3, 0, 130)
    assert kept.abandoned
