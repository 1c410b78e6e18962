"""The least that Spark and Kafka ask of a query like ours, written by hand: nothing of tidewire is imported here.

    Kafka -> one group -> decode each value with msgspec, sum two columns, write back a state -> one row to Kafka

and, as an even lower bound, a plain copy of the topic. What a query costs above the floor is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name everyone knows)
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.state import GroupStateTimeout


class Quote(msgspec.Struct):
    symbol: str
    exchange: str
    risk: float
    price: float


@dataclass(frozen=True, slots=True)
class Pipe:
    """From where to where; `checkpoint` is a new folder, `consumer` options of the Kafka source as ours has them."""

    bootstrap: str
    source: str
    sink: str
    checkpoint: str
    max_offsets: int
    consumer: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sum:
    """The stateful function: its state is `state_bytes` that do not compress, the sums in the first sixteen."""

    state_bytes: bytes

    def __call__(self, key: tuple[int], chunks: Iterable[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        before = state.get[0] if state.exists else self.state_bytes
        decode = msgspec.json.Decoder(Quote).decode
        risk, price = 0.0, 0.0
        for chunk in chunks:
            for value in chunk["value"]:
                quote = decode(value)
                risk += quote.risk
                price += quote.price
        sums = msgspec.json.encode([risk, price])
        state.update((sums.ljust(64)[:64] + before[64:],))
        yield pd.DataFrame({"value": [sums]})


def start_floor(spark: SparkSession, pipe: Pipe, state_bytes: bytes) -> StreamingQuery:
    """Start the floor."""
    grouped = _read(spark, pipe).select(F.lit(0).alias("group"), "value").groupBy("group")
    sums = grouped.applyInPandasWithState(
        Sum(state_bytes), "value binary", "state binary", "append", GroupStateTimeout.NoTimeout
    )
    return _write(sums, pipe)


def start_copy(spark: SparkSession, pipe: Pipe) -> StreamingQuery:
    """Start the copy."""
    return _write(_read(spark, pipe).select("key", "value"), pipe)


def _read(spark: SparkSession, pipe: Pipe) -> DataFrame:
    options = {
        "kafka.bootstrap.servers": pipe.bootstrap,
        "subscribe": pipe.source,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(pipe.max_offsets),
        **pipe.consumer,
    }
    return spark.readStream.format("kafka").options(**options).load()


def _write(rows: DataFrame, pipe: Pipe) -> StreamingQuery:
    writer = rows.writeStream.format("kafka").outputMode("append")
    options = {
        "kafka.bootstrap.servers": pipe.bootstrap,
        "topic": pipe.sink,
        "checkpointLocation": pipe.checkpoint,
    }
    return writer.options(**options).start()
