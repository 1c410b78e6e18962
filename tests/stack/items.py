"""A table of a database, the statements that change it, and what it holds in the end as ours shows it."""

from __future__ import annotations

import json
import random
import struct

from catalog.types.column_type import JsonValue
from tests.stack.postgres import Postgres

LAST = "the last row"
COLUMNS = """id bigint PRIMARY KEY, name text NOT NULL, doc text, price numeric(8,2), ratio double precision, f real,
  at timestamp, tz timestamptz, day date, flag boolean, ages int4range, codes int8range, paid numrange, days daterange,
  valid tsrange"""
MADE = f"CREATE TABLE {{0}} ({COLUMNS}); ALTER TABLE {{0}} ALTER doc SET STORAGE EXTERNAL"
OURS = """CREATE TABLE {table} (id BIGINT PRIMARY KEY, name VARCHAR, doc VARCHAR, price DECIMAL(8,2), ratio DOUBLE,
  f REAL, at TIMESTAMP, tz TIMESTAMP, day DATE, flag BOOLEAN, ages INT4RANGE, codes INT8RANGE, paid NUMRANGE(8,2),
  days DATERANGE, valid TSRANGE)
  WITH ('topic'='{topic}', 'format'='debezium-json', {options})"""
INLINE = "'schema'='inline'"
UNITS = "'timestamp'='micros', 'column.tz'='zoned', 'date'='days', 'decimal'='base64'"
TRUTH = """SELECT json_build_array(id, name, doc, price::text, ratio, f, to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US'),
  to_char(tz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), day, flag,
  ages::text, codes::text, paid::text, days::text, valid::text) FROM {} ORDER BY id"""
_REST = (
    "-0.01, 0.1, 0.1, '2026-03-01 23:59:59.99999', '2026-03-01 23:59:59.5+01', '2026-03-01', true",
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    "999999.99, -1e300, 16777217, '0001-01-01', '0001-01-02 00:00:00+00', '9999-12-31', false",
)
_RANGES = (
    "'[1,5]', '(,)', '(1.00,1.01)', '(2026-02-28,2026-03-05]', '(2026-03-01,2026-03-02 12:30:00.5]'",
    "NULL, NULL, NULL, NULL, NULL",
    "'empty', '[7,7]', '[2,2)', '[9999-12-30,)', 'empty'",
    "'(,5)', '(-9223372036854775800,9223372036854775800)', '[0.50,)', '(,0001-12-31]', '[0001-01-01,)'",
)
_SET = ["name", "doc", "price", "ratio", "f", "at", "tz", "day", "flag", "ages", "codes", "paid", "days", "valid"]
_TAKEN = ", ".join(f"{column} = excluded.{column}" for column in _SET)


class Items:
    """Statements of every kind that a connector tells apart; the same for the same seed.

    ids: those that may be there.  truncates: how often all rows go.  letters: the length of a large text, which the
    database keeps aside where it is above 2 kB.
    A statement does no harm where another writer has emptied the table meanwhile.
    """

    def __init__(self, seed: int, table: str, ids: range, truncates: float = 0.03, letters: int = 12_000) -> None:
        self._choose = random.Random(seed)
        self._table = table
        self._ids = ids
        self._truncates = truncates
        self._letters = letters
        self._there: set[int] = set()
        self.made = 0

    def next(self) -> str:
        """Return one more statement."""
        self.made += 1
        choose, there, table = self._choose, self._there, self._table
        chance, id = choose.random(), choose.choice(self._ids)
        if chance < self._truncates:
            there.clear()
            return f"TRUNCATE {table}"
        if chance < 0.15 and there:
            id = choose.choice(sorted(there))
            there.discard(id)
            return f"DELETE FROM {table} WHERE id = {id}"
        if chance < 0.35 and there and id not in there:
            old = choose.choice(sorted(there))
            there.symmetric_difference_update({old, id})
            return f"UPDATE {table} SET id = {id} WHERE id = {old}"
        if id in there:
            return f"UPDATE {table} SET {self._change()} WHERE id = {id}"
        there.add(id)
        return self._insert(id)

    def _change(self) -> str:
        number = self.made
        return self._choose.choice(
            [
                "name = left(name || 'x', 60)",
                f"price = {number}.25",
                f"ratio = {number} / 7.0, f = {number}.1",
                "flag = NOT flag, day = day - 1",
                f"ages = ages * '[2,{number})', valid = NULL",
                f"paid = '[{number}.25,{number}.50]', days = 'empty', codes = int8range({number}, NULL, '()')",
                f"doc = repeat('{number},', {self._letters // 6})",
            ]
        )

    def _insert(self, id: int) -> str:
        number = self.made
        doc = self._choose.choice(["NULL", "''", "'short'", f"repeat('é{number}', {self._letters // 8})"])
        row = f"{id}, 'n{number}', {doc}, {self._choose.choice(_REST)}, {self._choose.choice(_RANGES)}"
        return f"INSERT INTO {self._table} VALUES ({row}) ON CONFLICT (id) DO UPDATE SET {_TAKEN}"


def truth(database: Postgres, table: str) -> list[list[JsonValue]]:
    """Return what the database holds, as deliveries show it."""
    rows = [json.loads(row[0]) for row in database.sql(TRUTH.format(table))]
    for row in rows:
        for place in (6, 7):
            row[place] = row[place] and row[place].removesuffix(".000000")
        row[5] = None if row[5] is None else nearest_float(row[5])
    return sorted(rows)


def nearest_float(value: float) -> float:
    """Return the 32-bit float next to a number."""
    found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return found
