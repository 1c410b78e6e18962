"""A log of publications made without Spark: what the engine writes, by delta-rs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from connectors.log.mark import LogMark, Offsets, encode_mark

SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.timestamp("us", "UTC")),
        pa.field("topic_id", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Published:
    """A publication; `micros` is its timestamp."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    micros: int
    topic_id: str = "id"


@dataclass(slots=True)
class SmallLog:
    """Appends to the log at `uri`, one commit a call."""

    uri: str
    mark: LogMark = field(default_factory=lambda: LogMark(home="home", writer="w", number=-1, time=""))

    def commit(self, rows: Sequence[Published]) -> None:
        """Write `rows` as one commit; their topics' newest ids count from now on."""
        ids = self.mark.ids | {row.topic: row.topic_id for row in rows}
        kept = {topic: dict(ends) for topic, ends in self.mark.end.items() if ids[topic] == self.mark.ids[topic]}
        end: Offsets = {topic: {} for topic in ids} | kept
        for row in rows:
            place = str(row.partition)
            end[row.topic][place] = max(end[row.topic].get(place, 0), row.offset + 1)
        self.mark = msgspec.structs.replace(self.mark, number=self.mark.number + 1, ids=ids, end=end)
        columns = [[getattr(row, name) for row in rows] for name in Published.__slots__]
        table = pa.Table.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
        )
        properties = CommitProperties(custom_metadata={"userMetadata": encode_mark(self.mark)})
        write_deltalake(self.uri, table, mode="append", commit_properties=properties)


def small_log(folder: Path) -> SmallLog:
    """Return an empty one."""
    return SmallLog(str(folder / "publications"))
