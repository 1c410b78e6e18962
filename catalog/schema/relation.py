"""Relations: what `CREATE TABLE` and `CREATE STREAM` declare, as immutable values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from catalog.schema.stream import Closing, Stream
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType
from catalog.types.range_value import ends_type

Audience = tuple[tuple[str, str], ...]
"""Pairs of an attribute that subscribers have and the column that says for which of them a row is."""

LOWER_END, UPPER_END, LOWER, UPPER = "lower end", "upper end", "lower", "upper"
"""What a derived column is to its range: its ends as codes that compare (`range_value.py`), or SQL's lower(), upper().
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Primary-key columns are never nullable.

    It is declared, or derived from the range column `of`, to which it is `role`.
    """

    name: str
    type: ColumnType
    nullable: bool = True
    of: str = ""
    role: str = ""

    @property
    def is_end(self) -> bool:
        """Whether its values are codes that nobody is shown."""
        return self.role in (LOWER_END, UPPER_END)


def with_ranges(declared: Iterable[Column]) -> tuple[Column, ...]:
    """Return columns with those that are derived from ranges, each behind its own."""
    return tuple([each for column in declared for each in (column, *derived(column))])


def derived(column: Column) -> tuple[Column, ...]:
    """Return the columns that are kept for a range: its ends, and what lower() and upper() of it are."""
    if not column.type.is_range:
        return ()
    ends, element = ends_type(column.type), column.type.element
    return (
        Column(f"{column.name}.lower", ends, True, column.name, LOWER_END),
        Column(f"{column.name}.upper", ends, True, column.name, UPPER_END),
        Column(bound_name(LOWER, column.name), element, True, column.name, LOWER),
        Column(bound_name(UPPER, column.name), element, True, column.name, UPPER),
    )


def bound_name(function: str, column: str) -> str:
    """Return the name of the column that lower() or upper() of a range is."""
    return f"{function}({column})"


def bound_of(name: str) -> tuple[str, str] | None:
    """Return the function and the column of which a name is the bound, None where it is none."""
    function, _, column = name.removesuffix(")").partition("(")
    return (function, column) if function in (LOWER, UPPER) and name.endswith(")") else None


def audience_text(audience: Audience) -> str:
    """Return an audience as the option says it.

    >>> audience_text((("age", "for_age"), ("region", "For Region")))
    'age:for_age, region:"For Region"'
    """
    return ", ".join([f"{attribute}:{quoted(column)}" for attribute, column in audience])


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as declared: columns in DDL order, the primary key, the topic that feeds it, its options.

    `columns` are those that are stored: behind each range column stand those that are derived from it, which no record
    has and no `*` shows.

    `born` is the catalog version whose `CREATE TABLE` made it: a table that was dropped and created again is
    another relation, and its shard begins empty. `absent` says what an absent member of a row means:
    `null`, `error` or `keep` (the stored value). `options` are those of its format, as sorted (name, value).

    `home` is the cell that serves it, where it is a join (`join.py`): no topic feeds it, and nobody stores its rows.
    null_range: what NULL in a range column means: `nothing`, or `everything`, and then it is read as `(,)`; of an
    audience what NULL in any of its columns means.  audience: who is told of its rows; () is everybody.
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
    null_range: str = "nothing"
    audience: Audience = ()

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
    def declared(self) -> tuple[Column, ...]:
        """The columns that were declared, in DDL order."""
        return tuple([column for column in self.columns if not column.of])

    @property
    def has_ranges(self) -> bool:
        """Whether some column is a range."""
        return any(column.of for column in self.columns)

    def derived(self, name: str, role: str) -> Column:
        """Return the column that is `role` to the range column `name`."""
        return next(column for column in self.columns if column.of == name and column.role == role)

    @property
    def shards(self) -> tuple[str, ...]:
        """Names of the shards, by bucket: group keys in Spark, and Kafka keys of what shards read and write."""
        return (self.home,) if self.home else tuple(f"{self.name}/{bucket}" for bucket in range(self.buckets))

    @property
    def shard(self) -> str:
        """Name of the first shard, the only one where there are no buckets."""
        return self.home or f"{self.name}/0"


@lru_cache(256)
def as_declared(relation: Relation) -> Relation:
    """Return a table without what is derived: what its records say."""
    return replace(relation, columns=relation.declared) if relation.has_ranges else relation
