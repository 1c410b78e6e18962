"""What a scenario file should say, by DuckDB alone: every question is run anew over all rows behind every publication.

    python -m tests.scenarios.right_answers FILE…      what each file gets wrong; nothing where all is right

It knows streams in one partition, of which late rows are left out (when an answer is final is not looked at: `verify`
does), tables of plain rows, with columns appended one by one, views (of LATEST those in which no two rows of a group
have the same time), and every question that DuckDB runs as it is written, joins among them (whether something serves
these is all the same to it);
of one that goes by its key, or begins empty-handed, what is held follows from what was told, so it is not looked at.
What is told is counted from the answers: a publication notifies once if it changes the bag of rows (the list of a
best-k; of an AVG the quotient), and the snapshot counts too. ORDER BY puts NULLs where PostgreSQL does, if nothing is
said of them.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

_OPTIONS = re.compile(
    r"\s+(?:NOTIFY\s+(?:LATEST|FINAL|EVERY\s+CHANGE|TRANSITIONS|ENTER|MIN\s+CHANGE\s+\d+)|SNAPSHOT\s+NONE|DELIVER\s+\w+)\s*$",
    re.IGNORECASE,
)
_LATEST = re.compile(r"\bLATEST\(([\w.]+) BY ([\w.\"]+)\)", re.IGNORECASE)
_STREAM = re.compile(r"CREATE STREAM (\w+) .*'event_time'='(\w+)', 'lateness'='([^']*)'", re.IGNORECASE | re.DOTALL)
_WITH = re.compile(r"\)\s*WITH\s*\(.*?\)\s*$", re.IGNORECASE | re.DOTALL)


@dataclass
class _Subscription:
    sql: str
    counts: bool
    holds: bool
    ordered: bool
    answer: Any
    notified: int = 1


@dataclass
class _Stream:
    time: str
    lateness: dt.timedelta
    reached: dt.datetime = dt.datetime.min


@dataclass
class _World:
    database: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    keys: dict[str, list[str]] = field(default_factory=dict)
    streams: dict[str, _Stream] = field(default_factory=dict)
    subscriptions: dict[str, _Subscription] = field(default_factory=dict)


def mistakes(path: Path) -> Iterator[str]:
    """Yield what a scenario file expects and DuckDB does not answer."""
    world = _World()
    world.database.execute("PRAGMA disable_optimizer")
    world.database.execute("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'")
    for number, line in enumerate(path.read_text().splitlines()[1:], 2):
        step = json.loads(line, parse_float=Decimal)
        wrong = _take(world, step)
        if wrong is not None:
            yield f"{path} line {number}: {wrong}"


def _take(world: _World, step: dict[str, Any]) -> str | None:
    if "catalog" in step:
        for statement in step["catalog"].split(";"):
            _declare(world, statement.strip())
    elif "publish" in step:
        for row in step.get("rows", ()):
            _publish(world, step["publish"], row, live=True)
        for key in step.get("delete", ()):
            _publish(world, step["publish"], key, live=False)
    elif "subscribe" in step:
        return _subscribe(world, step)
    elif "unsubscribe" in step:
        world.subscriptions.pop(step["unsubscribe"])
    elif "silence" in step:
        stream = world.streams[step["silence"]]
        stream.reached = max(stream.reached, dt.datetime.fromisoformat(step["upto"]))
    elif "expect" in step:
        return _expect(world.subscriptions[step["expect"]], step)
    return None


def _declare(world: _World, statement: str) -> None:
    if not statement or re.match(r"(CREATE|DROP)\s+JOIN\s", statement, re.IGNORECASE):
        return
    of_stream = _STREAM.match(statement)
    if of_stream is not None:
        [(lateness,)] = world.database.execute("SELECT CAST(? AS INTERVAL)", [of_stream[3]]).fetchall()
        world.streams[of_stream[1]] = _Stream(of_stream[2], lateness)
        statement = re.sub("STREAM", "TABLE", statement, count=1, flags=re.IGNORECASE)
    for stream in world.streams.values():  # DuckDB takes some of these names for keywords
        statement = re.sub(rf"(?<!')\b{stream.time}\b(?!')", f'"{stream.time}"', statement)
    created = re.match(r"CREATE TABLE (\w+) \((.*)\)", _WITH.sub(")", statement), re.IGNORECASE | re.DOTALL)
    if created is not None and created[1] in world.keys:
        world.database.execute(f"ALTER TABLE {created[1]} ADD COLUMN {created[2].rpartition(',')[2]}")
        return
    latest = r"(list(\1 ORDER BY \2 DESC) FILTER (\2 IS NOT NULL))[1]"
    world.database.execute(_LATEST.sub(latest, _WITH.sub(")", statement)))
    for table, names in world.database.execute(
        "SELECT table_name, constraint_column_names FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'"
    ).fetchall():
        world.keys[table] = names


def _publish(world: _World, table: str, row: dict[str, Any], live: bool) -> None:
    keys = world.keys.get(table, [])
    if table in world.streams:
        live = _in_time(world.streams[table], row)
    else:
        same_key = " AND ".join(f'"{name}" = ?' for name in keys)
        world.database.execute(f'DELETE FROM "{table}" WHERE {same_key}', [row[name] for name in keys])
    if live:
        names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        world.database.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', [_double(v) for v in row.values()])
    for one in world.subscriptions.values():
        answer = _answer(world, one.sql, one.ordered)
        one.notified += answer != one.answer
        one.answer = answer


def _in_time(stream: _Stream, row: dict[str, Any]) -> bool:
    """Whether a row of a stream is not late; the next ones are judged by it, too."""
    time, reached = dt.datetime.fromisoformat(row[stream.time]), stream.reached
    stream.reached = max(reached, time)
    return reached == dt.datetime.min or time >= reached - stream.lateness


def _without_star(world: _World, sql: str) -> str:
    """Return the statement with the columns that there are now in place of a `*`."""
    found = re.search(r"SELECT\s+\*\s+FROM\s+(\w+)", sql, re.IGNORECASE)
    if found is None or re.search(r"\sJOIN\s", sql, re.IGNORECASE):
        return sql
    names = world.database.execute(f"SELECT column_name FROM (DESCRIBE {found[1]})").fetchall()
    return sql.replace("*", ", ".join(f'"{name}"' for (name,) in names), 1)


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _subscribe(world: _World, step: dict[str, Any]) -> str | None:
    if step.get("refused"):
        return None
    sql, policy = step["sql"], ""
    while (option := _OPTIONS.search(sql)) is not None:
        sql, policy = sql[: option.start()], policy + option[0]
    ordered = " ORDER BY " in sql.upper().replace("\n", " ")
    sql = _without_star(world, sql)
    ends = any(word in sql for word in ("hour", "day")) and bool(world.streams)
    counts = (not policy and not ends) or "EVERY" in policy.upper()
    world.subscriptions[step["subscribe"]] = _Subscription(
        sql, counts, "LATEST" in policy.upper() or ends or counts, ordered, _answer(world, sql, ordered)
    )
    return None


def _answer(world: _World, sql: str, ordered: bool) -> list[tuple[Any, ...]]:
    found = world.database.execute(_exact(sql)).fetchall()
    rows = [tuple(_quotient(*v.values()) if isinstance(v, dict) else v for v in row) for row in found]
    return rows if ordered else sorted(rows, key=repr)


def _exact(sql: str) -> str:
    """Return the statement with the sum and the count in place of each average."""
    return re.sub(r"\bAVG\((\w+)\)", r"{'total': SUM(\1), 'count': COUNT(\1)}", sql, flags=re.IGNORECASE)


def _quotient(total: Any, count: int) -> Fraction | None:
    return Fraction(total) / count if count else None


def _expect(one: _Subscription, step: dict[str, Any]) -> str | None:
    notified, one.notified = one.notified, 0
    if not one.holds:
        return None
    rows = list(one.answer)
    places = [_place(rows, row, one.ordered) for row in step["rows"]]
    if rows or None in places:
        return f"{step['expect']}: expected {step['rows']}, is {one.answer}"
    if bool(step.get("ordered")) is not one.ordered:
        return f"{step['expect']}: `ordered` belongs to best-k"
    if one.counts and step.get("notified", notified) != notified:
        return f"{step['expect']}: expected {step['notified']} notifications, is {notified}"
    return None


def _place(rows: list[Any], expected: list[Any], ordered: bool) -> int | None:
    """Take a row out of `rows`, the first one where they are in order; return its place, None if it is not there."""
    among = rows[:1] if ordered else rows
    place = next((i for i, row in enumerate(among) if _same_row(row, expected)), None)
    if place is not None:
        del rows[place]
    return place


def _same_row(got: Any, expected: list[Any]) -> bool:
    return len(got) == len(expected) and all(map(_same, got, expected))


def _same(got: Any, expected: Any) -> bool:
    """Compare a value of DuckDB with one of a file: DECIMALs are texts there."""
    if got is None or expected is None or isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if isinstance(got, Decimal):
        return isinstance(expected, str) and Decimal(expected) == got
    if isinstance(got, float | Fraction):
        return not isinstance(expected, str) and math.isclose(got, float(expected), rel_tol=1e-12)
    if isinstance(got, int):
        return not isinstance(expected, str) and got == expected
    return bool((got if isinstance(got, str) else got.isoformat()) == expected)


def main(paths: Iterable[str]) -> int:
    """Print all mistakes of the files; return how many there are."""
    found = [wrong for path in paths for wrong in mistakes(Path(path))]
    print(*found, sep="\n")
    return len(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
