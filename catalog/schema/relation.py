"""Relations: what `CREATE TABLE` and `CREATE STREAM` declare, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.schema.stream import Closing, Stream
from catalog.types.column_type import ColumnType


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column. Primary-key columns are never nullable."""

    name: str
    type: ColumnType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as declared: columns in DDL order, the primary key, the topic that feeds it, its options.

    `born` is the catalog version whose `CREATE TABLE` made it: a table that was dropped and created again is
    another relation, and its shard begins empty. `absent` says what an absent member of a row means:
    `null`, `error` or `keep` (the stored value). `options` are those of its format, as sorted (name, value).

    `home` is the cell that serves it, where it is a join (`join.py`): no topic feeds it, and nobody stores its rows.
    Its rows are kept in `buckets` shards, parted by the columns `bucket_by` of the primary key, in DDL order; without
    these there is one shard.

    `stream` says that it is a stream (`stream.py`), which has no key; `closing`, of a view of streams, which of its
    columns says when a row becomes final.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    topic: str
    format: str = "json"
    absent: str = "null"
    born: int = 0
    options: tuple[tuple[str, str], ...] = ()
    buckets: int = 1
    bucket_by: tuple[str, ...] = ()
    home: str = ""
    stream: Stream | None = None
    closing: Closing | None = None

    @property
    def noun(self) -> str:
        """What a user calls it, if it is no view."""
        return "table" if self.stream is None else "stream"

    def column(self, name: str) -> Column:
        """Return the column called `name`. Raises KeyError."""
        return self.columns[self.index(name)]

    def index(self, name: str) -> int:
        """Return the position of column `name` in DDL order. Raises KeyError."""
        for i, column in enumerate(self.columns):
            if column.name == name:
                return i
        raise KeyError(name)

    @property
    def shards(self) -> tuple[str, ...]:
        """Names of the shards, by bucket: group keys in Spark, and Kafka keys of what shards read and write."""
        return (self.home,) if self.home else tuple(f"{self.name}/{bucket}" for bucket in range(self.buckets))

    @property
    def shard(self) -> str:
        """Name of the first shard, the only one where there are no buckets."""
        return self.home or f"{self.name}/0"
