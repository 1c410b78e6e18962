"""An engine for scenarios that asks a database again after each publication, and tells the differences of rows."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import msgspec

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.types.value import from_json
from overlay.delivery.bag_delivery import BAG_ENDED, bag_change, bag_snapshot
from overlay.delivery.delivery import delivery, json_text, moved
from overlay.delivery.list_delivery import list_change, list_difference, list_ended, list_snapshot
from overlay.delivery.long_delivery import cut
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.scenario.engine import Refusal
from tidewire.scenario.script import Json

_LONG = 200
"""Deliveries of more bytes come in parts."""


class _Asked:
    def __init__(self, sql: str, version: int) -> None:
        self.sql, self.version, self.n = sql, version, 1
        self.form = "list" if " LIMIT " in sql.upper() else "bag"
        self.rows: list[str] = []


class NaiveRows:
    """`ScenarioEngine` for questions of rows, and of one row of aggregates."""

    def __init__(self) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
        self._catalog = Catalog()
        self._asked: dict[str, _Asked] = {}
        self._told: dict[str, list[bytes]] = {}
        self._reader = DeliveryReader()
        self._version = 0

    def declare(self, ddl: str) -> None:
        before = self._catalog.relations
        self._catalog = apply_ddl(self._catalog, ddl, self._catalog.version + 1)
        for relation in self._catalog.relations.values():
            if relation.name not in before:
                columns = ", ".join(f"{column.name} {column.type}" for column in relation.columns)
                self._database.execute(f"CREATE TABLE {relation.name} ({columns})")

    def publish(self, table: str, rows: list[dict[str, Json]]) -> None:
        relation = self._catalog.relations[table]
        for row in rows:
            self._remove(relation, row)
            values = [from_json(column.type, row[column.name]) for column in relation.columns]
            self._database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
            self._tell()

    def delete(self, table: str, keys: list[dict[str, Json]]) -> None:
        for key in keys:
            self._remove(self._catalog.relations[table], key)
            self._tell()

    def publish_raw(self, table: str, records: list[tuple[bytes | None, bytes | None]]) -> None:
        raise NotImplementedError

    def subscribe(self, subscription: str, sql: str) -> Refusal | None:
        self._version += 1
        asked = _Asked(sql, self._version)
        try:
            asked.rows = self._rows(sql)
        except duckdb.Error as error:
            return Refusal("syntax", str(error))
        self._asked[subscription] = asked
        body = list_snapshot(asked.rows) if asked.form == "list" else bag_snapshot(asked.rows)
        self._write(subscription, asked, "snapshot", _valued(sql, body, [], asked.rows))
        return None

    def unsubscribe(self, subscription: str) -> None:
        asked = self._asked.pop(subscription)
        asked.n += 1
        body = list_ended(asked.rows) if asked.form == "list" else BAG_ENDED
        self._write(subscription, asked, "ended", _valued(asked.sql, body, asked.rows, []))

    def restart(self) -> None:
        """Nothing is lost."""

    def deliveries(self, subscription: str) -> list[dict[str, Json]]:
        told = self._told.pop(subscription, [])
        return [one for value in told for one in self._reader.objects(subscription.encode(), value)]

    def _remove(self, relation: Relation, row: Mapping[str, Json]) -> None:
        types = {column.name: column.type for column in relation.columns}
        where = " AND ".join(f"{name} = ?" for name in relation.key)
        values = [from_json(types[name], row[name]) for name in relation.key]
        self._database.execute(f"DELETE FROM {relation.name} WHERE {where}", values)

    def _rows(self, sql: str) -> list[str]:
        return [json_text([_json(value) for value in row]) for row in self._database.execute(sql).fetchall()]

    def _tell(self) -> None:
        for name, asked in self._asked.items():
            old, new = asked.rows, self._rows(asked.sql)
            if old == new or (asked.form == "bag" and Counter(old) == Counter(new)):
                continue
            if asked.form == "list":
                body = list_change(*list_difference(old, new))
            else:
                before, after = Counter(old), Counter(new)
                body = bag_change(list((before - after).elements()), list((after - before).elements()))
            asked.rows, asked.n = new, asked.n + 1
            self._write(name, asked, "change", _valued(asked.sql, body, old, new))

    def _write(self, name: str, asked: _Asked, kind: str, body: str) -> None:
        value = delivery(json_text(name), kind, asked.version, asked.n, body, '{"epoch":0,"batch":0}')
        self._told.setdefault(name, []).extend(cut(value, _LONG))


def _valued(sql: str, body: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Return `body`, or for aggregates what is said of a value."""
    if not any(word in sql.upper() for word in ("COUNT(", "SUM(", "AVG(", "MIN(", "MAX(")):
        return body
    return moved(_value(old), _value(new))


def _value(rows: Sequence[str]) -> str:
    if not rows:
        return "null"
    values = msgspec.json.decode(rows[0], type=list[msgspec.Raw])
    return bytes(values[0]).decode() if len(values) == 1 else rows[0]


def _json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, dt.date) else value
