"""What the topic of a view must say, by the versions of its rows: what each publication did to each row.

    versions     [3, 7) A 5.00    [7, ...) A 4.00            key A    seq 3: A 5.00    seq 7: A 4.00
    versions     [4, 7) B 6.00                               key B    seq 4: B 6.00    seq 7: nothing, the row went

Rows are JSON objects, as the documentation says that they are written, and told apart by the values of their key.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from tidewire.verification.input.bucket import bucket_with
from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.input.declared_views import View
from tidewire.verification.input.view_plan import FLOATS, scale_of
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version

Row = dict[str, Any]
"""A row as the JSON object that its record has."""


class Change(NamedTuple):
    """What the record `seq` of the input did to the row of a key: made it `row`, None where it went."""

    seq: int
    key: str
    row: Row | None


class ViewRecords:
    """The rows of one view by shard. `table` is the one that it is made of, if that has buckets.

    Cost: 3 us a value of each version.
    """

    def __init__(self, view: View, table: Table | None, versions: Iterable[Version]) -> None:
        self._view = view
        self._table = table
        self._lives: dict[str, dict[str, list[tuple[int, int, Row]]]] = defaultdict(lambda: defaultdict(list))
        for version in versions:
            row = {c.name: written_value(c, value) for c, value in zip(view.columns, version.row, strict=True)}
            shard = f"{view.name}/{self._bucket(version.row)}"
            self._lives[shard][self.key_of(row)].append((version.start, version.end, row))

    @property
    def shards(self) -> list[str]:
        """Those that ever had a row."""
        return sorted(self._lives)

    def key_of(self, row: Row) -> str:
        """Return the key of a row as a text that is the same for equal ones."""
        return key_text({name: row[name] for name in self._view.key})

    def at(self, shard: str, seq: int) -> dict[str, Row]:
        """Return the rows of a shard after the record `seq`, by key. Cost: O(versions)."""
        its = self._lives.get(shard, {})
        return {key: row for key, lives in its.items() for start, end, row in lives if start <= seq < end}

    def changes(self, shard: str) -> list[Change]:
        """Return what is written of a shard once it is written, in the order of the input. Cost: O(n log n).

        A row that is there before any record, that of aggregates without GROUP BY, is no change.
        """
        made: list[Change] = []
        for key, lives in self._lives.get(shard, {}).items():
            at: dict[int, tuple[Row | None, Row | None]] = {}
            for start, end, row in sorted(lives, key=lambda life: life[:2]):
                at[start] = at.get(start, (None, None))[0], row
                if end < FOREVER:
                    at[end] = row, None
            made += [Change(seq, key, new) for seq, (old, new) in at.items() if seq > 0 and old != new]
        return sorted(made, key=lambda change: change[:2])

    def _bucket(self, row: tuple[Any, ...]) -> int:
        if self._table is None:
            return 0
        texts = {c.name: _text(value) for c, value in zip(self._view.columns, row, strict=True)}
        return bucket_with(self._table, texts)


def key_text(key: Row) -> str:
    """Return the key of a record as a text that is the same for equal ones."""
    return json.dumps(key, sort_keys=True)


def written_value(column: Column, value: Any) -> Any:
    """Return a value as its record has it.

    >>> written_value(Column("n", "DECIMAL(6,2)", True), Decimal("1.5"))
    '1.50'
    """
    if value is None or isinstance(value, bool):
        return value
    if column.type.startswith("DECIMAL"):
        return format(Decimal(value), f".{scale_of(column.type)}f")
    if column.type in FLOATS:
        return float(value) + 0.0
    return value.isoformat() if isinstance(value, dt.date) else value


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, dt.date) else str(value)
