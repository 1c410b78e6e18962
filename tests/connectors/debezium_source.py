"""A database and its connector, played: what Debezium publishes when rows of a table change.

The table is item(id, kind, weight, price, doc, at); `doc` is large: an update that leaves it alone says a placeholder.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

PLACEHOLDER = "__debezium_unavailable_value"
COLUMNS = "id BIGINT PRIMARY KEY, kind VARCHAR, weight DOUBLE, price DECIMAL(8,2), doc VARCHAR, at TIMESTAMP"
UNITS = "'format'='debezium-json', 'decimal'='base64', 'timestamp'='micros'"
INLINE = "'format'='debezium-json', 'schema'='inline'"
FIELDS = [
    {"field": "id", "type": "int64", "optional": False},
    {"field": "kind", "type": "string", "optional": True},
    {"field": "weight", "type": "double", "optional": True},
    {
        "field": "price", "type": "bytes", "optional": True, "name": "org.apache.kafka.connect.data.Decimal",
        "version": 1, "parameters": {"scale": "2", "connect.decimal.precision": "8"},
    },
    {"field": "doc", "type": "string", "optional": True},
    {"field": "at", "type": "int64", "optional": True, "name": "io.debezium.time.MicroTimestamp", "version": 1},
]  # fmt: skip
KEY_SCHEMA = {"type": "struct", "fields": FIELDS[:1], "optional": False, "name": "pg.public.item.Key"}
VALUE_SCHEMA = {
    "type": "struct",
    "name": "pg.public.item.Envelope",
    "fields": [
        {"field": name, "type": "struct", "fields": FIELDS, "optional": True, "name": "pg.public.item.Value"}
        for name in ("before", "after")
    ]
    + [{"field": "op", "type": "string", "optional": False}],
}
Pair = tuple[bytes | None, bytes | None]


def unscaled(price: str | None) -> str | None:
    """What Debezium writes of a NUMERIC(8,2)."""
    if price is None:
        return None
    number = int(Decimal(price).scaleb(2))
    return base64.b64encode(number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)).decode()


@dataclass
class Source:
    """`rows` are the table. `schema`: records carry theirs. `identity`: default, full. `keyed`: records have keys."""

    schema: bool = False
    identity: str = "default"
    keyed: bool = True
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    lsn: int = 0

    def put(self, row: dict[str, Any]) -> list[Pair]:
        """Insert a row, or update that of its id."""
        old = self.rows.get(row["id"])
        self.rows[row["id"]] = row
        if old is None:
            return [self._event("c", row["id"], None, row)]
        return [self._event("u", row["id"], old if self.identity == "full" else None, self._said(row, old))]

    def move(self, old_id: int, new_id: int) -> list[Pair]:
        """Change a primary key; the row is there, the new key is free."""
        old = self.rows.pop(old_id)
        new = self.rows[new_id] = old | {"id": new_id}
        if not self.keyed:
            return [self._event("u", None, self._before(old), self._said(new, old))]
        self.lsn += 1
        gone = self._event("d", old_id, self._before(old), None, self.lsn)
        return [gone, (gone[0], None), self._event("c", new_id, None, self._said(new, old), self.lsn)]

    def delete(self, id: int) -> list[Pair]:
        """Delete a row that is there."""
        gone = self._event("d", id, self._before(self.rows.pop(id)), None)
        return [gone, (gone[0], None)]

    def truncate(self) -> list[Pair]:
        """Empty the table."""
        self.rows.clear()
        return [(None, self._event("t", None, None, None)[1])]

    def beside(self) -> list[Pair]:
        """What a connector sends that is no change."""
        message = {"op": "m", "ts_ms": 1, "message": {"prefix": "x", "content": "aGk="}}
        begin = {"status": "BEGIN", "id": "571", "ts_ms": 1, "event_count": None, "data_collections": None}
        written = [({"serverName": "pg"}, {"ts_ms": 1}), ({"id": "571"}, begin), (None, message)]
        return [
            (None if key is None else json.dumps(key).encode(), json.dumps(value).encode()) for key, value in written
        ]

    def _before(self, old: dict[str, Any]) -> dict[str, Any]:
        return old if self.identity == "full" else dict.fromkeys(old) | {"id": old["id"]}

    def _said(self, row: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
        same = row["doc"] is not None and row["doc"] == old["doc"] and self.identity != "full"
        return row | {"doc": PLACEHOLDER} if same else row

    def _event(
        self,
        op: str,
        id: int | None,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
        lsn: int | None = None,
    ) -> Pair:
        if lsn is None:
            self.lsn += 1
        images = {"before": self._image(before), "after": self._image(after)}
        lsn = self.lsn if lsn is None else lsn
        source = {
            "connector": "postgresql",
            "name": "pg",
            "table": "item",
            "lsn": lsn,
            "ts_us": 1_772_409_599_000_000 + lsn // 4,
        }
        sequence = [None if lsn < 3 else str(10 * (lsn // 3)), str(10 * lsn + 1)]
        source["sequence"] = json.dumps(sequence, separators=(",", ":"))
        payload = images | {"source": source, "op": op, "ts_ms": 1_772_409_599_000}
        key = None if id is None or not self.keyed else self._wrapped({"id": id}, KEY_SCHEMA)
        return key, self._wrapped(payload, VALUE_SCHEMA)

    def _image(self, row: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if row is None else row | {"price": unscaled(row["price"])}

    def _wrapped(self, payload: dict[str, Any], schema: dict[str, Any]) -> bytes:
        whole = {"schema": schema, "payload": payload} if self.schema else payload
        return json.dumps(whole, separators=(",", ":")).encode()
