"""What it costs to decode one record of format `json`, against msgspec making a struct of each and nothing more.

    python -m benchmarks.decode_cost

The table is stock(symbol VARCHAR, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2)), rows of 65 bytes, batches of
100,000, synthetic from a fixed seed. Each figure is the least of several runs in CPU time, in microseconds a record:

`decode_us`    batches that are all alike: rows under the canonical key, under other spellings of it, without one;
               deletes; risks of 17 digits (their rounding is left to Arrow); text with escapes; one bad record
               among the others; nothing but bad ones
`part_us`      the parts of the first: bytes laid out end to end, JSON into columns, keys written, keys compared,
               texts made
`floor_us`     `msgspec.json.Decoder(Struct).decode` of each value: no keys, no checks beyond JSON types, no columns
`encode_us`    key and value of one row by `RowEncoder`
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from decimal import Decimal

import msgspec
import numpy as np

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.json.byte_layout import ByteLayout, equal_strings
from connectors.json.columns import read_columns
from connectors.json.format import JsonFormat, warm
from connectors.json.key_writer import KeyWriter
from connectors.json.plan import Plan
from connectors.json.writer import RowEncoder
from connectors.record import RawRecords

DDL = "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2))"
RELATION = apply_ddl(Catalog(), DDL, 0).relations["stock"]
RECORDS = 100_000
RUNS = 7


class Stock(msgspec.Struct):
    symbol: str
    exchange: str
    risk: float
    price: str


def rows() -> list[dict[str, object]]:
    rng = random.Random(1)
    return [
        {
            "symbol": f"S{rng.randrange(50_000):05d}",
            "exchange": rng.choice(("NYSE", "NASDAQ")),
            "risk": rng.randrange(1_000) / 100,
            "price": Decimal(rng.randrange(10**6)) / 100,
        }
        for _ in range(RECORDS)
    ]


def raw(keys: list[bytes | None], values: list[bytes | None]) -> RawRecords:
    partition = np.zeros(RECORDS, np.int32)
    return RawRecords("stock", keys, values, partition, np.arange(RECORDS), np.arange(RECORDS))


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the least CPU time of several runs, in microseconds a record."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return round(min(times) / RECORDS * 1e6, 3)


def decode_us(table: list[dict[str, object]]) -> dict[str, float]:
    encoder, decoder = RowEncoder(RELATION), JsonFormat(RELATION)
    pairs = [encoder.record(row) for row in table]
    keys: list[bytes | None] = [key for key, _ in pairs]
    values: list[bytes | None] = [value for _, value in pairs]
    long = [encoder.record(row | {"risk": i / 7})[1] for i, row in enumerate(table)]
    escaped = [json.dumps(row | {"exchange": "Z\u00fcrich", "price": str(row["price"])}).encode() for row in table]
    batches = {
        "canonical_key": raw(keys, values),
        "bare_key": raw([json.dumps(row["symbol"]).encode() for row in table], values),
        "spaced_key": raw([json.dumps({"symbol": row["symbol"]}).encode() for row in table], values),
        "delete": raw(keys, [None] * RECORDS),
        "long_floats": raw(keys, [*long]),
        "blanks_and_escapes": raw(keys, [*escaped]),
        "one_bad": raw(keys, [b"{", *values[1:]]),
    }
    costs = {name: least(lambda batch=batch: decoder.decode(batch)) for name, batch in batches.items()}  # type: ignore[misc]
    costs["without_key"] = least(lambda: JsonFormat(RELATION, keyless=True).decode(raw([None] * RECORDS, values)))
    costs["all_bad"] = least(lambda: decoder.decode(raw(keys, [b'{"symbol":"A"'] * RECORDS)), runs=1)
    return costs


def part_us(table: list[dict[str, object]]) -> dict[str, float]:
    pairs = [RowEncoder(RELATION).record(row) for row in table]
    keys, values = ([pair[side] for pair in pairs] for side in (0, 1))
    plan, which, columns = Plan.of_rows(RELATION), np.arange(RECORDS), RELATION.columns
    laid_keys, laid_values = ByteLayout.of(keys), ByteLayout.of(values)
    read = read_columns(laid_values, which, plan, columns, as_keys=False)
    writer = KeyWriter(columns[:1])
    written = writer.write([read.codes[0]], [read.texts[0]])
    return {
        "layout": least(lambda: (ByteLayout.of_nullable(keys), ByteLayout.of_nullable(values))),
        "columns": least(lambda: read_columns(laid_values, which, plan, columns, as_keys=False)),
        "write_keys": least(lambda: writer.write([read.codes[0]], [read.texts[0]])),
        "compare_keys": least(lambda: equal_strings(written, which, laid_keys, which)),
        "texts": least(lambda: [layout.texts(read.valid[c]) for c, layout in read.texts.items()]),
    }


def measure() -> dict[str, object]:
    """Return all costs, and how long it took to load the kernels or to compile them."""
    begin = time.process_time()
    warm()
    warm_s = round(time.process_time() - begin, 2)
    table = rows()
    encoder, floor = RowEncoder(RELATION), msgspec.json.Decoder(Stock)
    values = [encoder.record(row)[1] for row in table]
    return {
        "warm_s": warm_s,
        "floor_us": least(lambda: [floor.decode(value) for value in values]),
        "decode_us": decode_us(table),
        "part_us": part_us(table),
        "encode_us": least(lambda: [encoder.record(row) for row in table], runs=3),
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
