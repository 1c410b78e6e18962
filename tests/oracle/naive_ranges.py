"""Texts of ranges of every type with all kinds of ends, over tiny domains, good and bad; and questions of them."""

from __future__ import annotations

import random

ELEMENTS: dict[str, list[str]] = {
    "INT4RANGE": ["-1", "0", "1", "2", "3"],
    "INT8RANGE": ["-9007199254740993", "0", "1", "2"],
    "NUMRANGE(6,2)": ["-0.5", "0", "1.00", "1.01", "1.02", "2e0"],
    "DATERANGE": ["2026-02-28", "2026-03-01", "2026-03-02"],
    "TSRANGE": ["2026-03-01 00:00:00", "2026-03-01", "2026-03-01T00:00:00.000001", "2026-03-01 12:30"],
    "FLOAT8RANGE": ["-1.5", "0.1", "0.1000000000000000001", "5e-324", "1e300", "2"],
    "TEXTRANGE": ["a", "ab", "b", '"a,b"', '"x""y"', "a b", '""'],
    "NUMRANGE(38,2)": ["-0.01", "0", "1.00", "123456789012345678901.5"],
}
"""Values of the bounds of each type, as they are written within a range."""


def literal(type_: str, value: str) -> str:
    """Return a value that stands alone, as SQL."""
    if type_ == "DATERANGE":
        return f"DATE '{value}'"
    if type_ == "TSRANGE":
        return f"TIMESTAMP '{value}'"
    return "'" + value.strip('"').replace('""', '"') + "'" if type_ == "TEXTRANGE" else value


def random_range(choose: random.Random, type_: str) -> str:
    """Return a range with ends of any kind; now and then its lower bound is beyond the upper one."""
    chance = choose.random()
    if chance < 0.08:
        return choose.choice(["empty", " EMPTY "])
    low, high = (choose.choice(["", *ELEMENTS[type_] * 2]) for _ in range(2))
    if chance < 0.25:
        high = low
    if type_ in ("INT4RANGE", "INT8RANGE") and low and high and int(low) > int(high):
        low, high = high, low
    return f"{choose.choice('[(')}{low},{high}{choose.choice('])')}"


def random_condition(choose: random.Random, columns: dict[str, str], depth: int = 0) -> str:
    """Return a condition of range columns, whose types are given by name."""
    if depth < 2 and choose.random() < 0.4:
        sides = [random_condition(choose, columns, depth + 1) for _ in range(choose.randrange(1, 3))]
        joined = f"({choose.choice([' AND ', ' OR ']).join(sides)})"
        return f"NOT {joined}" if choose.random() < 0.3 else joined
    name = choose.choice(list(columns))
    type_ = columns[name]
    one = "'" + random_range(choose, type_).replace("'", "''") + "'"
    value = literal(type_, choose.choice(ELEMENTS[type_]))
    return choose.choice([
        f"{name} && {one}", f"{one} && {name}", f"{name} @> {one}", f"{one} @> {name}", f"{name} <@ {one}",
        f"{name} @> {value}", f"{value} <@ {name}", f"{name} = {one}", f"{name} <> {one}", f"isempty({name})",
        f"NOT isempty({name})", f"{name} IS NULL", f"{name} IN ({one}, 'empty', NULL)", f"lower({name}) <= {value}",
        f"upper({name}) > {value}", f"lower({name}) IS NULL", f"upper({name}) = {value}", f"{name} && NULL",
        f"NOT {name} && {one}", f"NOT {name} @> {value}", f"NOT {name} <@ {one}",
    ])  # fmt: skip
