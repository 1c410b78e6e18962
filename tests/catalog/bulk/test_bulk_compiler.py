"""Statements compiled together are what each is alone, and all others are left to be compiled alone."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk import bulk_compiler
from catalog.bulk.bulk_compiler import compile_all
from catalog.bulk.cut_statements import CutStatements
from catalog.query.compiler import Compiled, Compiler
from catalog.query.shape import Region
from catalog.sql.errors import SubscriptionError
from state.order_code import code_of_double
from tests.catalog import viewed
from tests.catalog.joined import BARE
from tests.catalog.joined import CATALOG as JOINED
from tests.catalog.sample import CATALOG
from tests.effort import examples
from tests.oracle.naive_float import hard_texts, naive_real


def cut(statements: list[str]) -> CutStatements:
    raw = [text.encode() for text in statements]
    sizes = np.array([len(text) for text in raw], np.int64)
    ends = np.cumsum(sizes)
    return CutStatements.of(np.frombuffer(b"".join(raw), np.uint8), ends - sizes, ends)


def together(statements: list[str], compiler: Compiler | None = None) -> dict[int, Compiled]:
    """What is compiled together, statement by statement."""
    found: dict[int, Compiled] = {}
    for alike in compile_all(compiler or Compiler(CATALOG), cut(statements)):
        example = alike.example
        for i, row in enumerate(alike.rows.tolist()):
            group = alike.groups[int(alike.group[i])]
            bounds, terms = (int(alike.lo[i]), int(alike.hi[i])), alike.terms[int(alike.term[i])]
            region = Region(example.region.shape, group, *bounds, bool(alike.empty[i]), terms)
            assert row not in found
            texts = cut(statements).literals(row)[: alike.literals]
            pieces = [piece for pair in zip(alike.parts, [*texts, ""], strict=True) for piece in pair]
            assert "".join(pieces) == statements[row]
            found[row] = Compiled(
                region, example.columns, example.cost, statements[row], example.notify, int(alike.ttl[i]) or None,
                example.deliver, snapshot=example.snapshot,
            )  # fmt: skip
    return found


@lru_cache(512)
def alone(sql: str) -> Compiled | None:
    try:
        return Compiler(CATALOG).compile(sql)
    except SubscriptionError:
        return None


SHORT = ["1", "0", "-3", "2.50", "1.005", "00012.30", "123456789.125", "1e3", "0.1", "1.5", "40000", "3.4e39"]
LONG = ["9" * 17, "9" * 19, "1" + "0" * 18, str(2**63 - 1), str(2**62), "0." + "0" * 20 + "1", "0.30000000000000004"]
PICKED = examples(60, fewest=20)
"""How many of many are compiled alone as well."""

NUMBERS = SHORT + LONG
COLUMNS = ["risk", "price", "volume", "ratio", "small", "wide", '"Lot Size"']
numbers = st.sampled_from(NUMBERS) | st.integers(-(10**6), 10**6).map(str) | st.floats(0, 1e6).map(lambda x: f"{x:.4f}")
TEXTS = ["exchange = 'NYSE'", "exchange = 'O''Hare --x'", "exchange = NULL", "symbol = 'a' AND symbol > 'b'"]
ODD = ["exchange = 'Ω \\ \"\n'", "\"symbol\" = 'é1'", "\nvolume\t= 5", "exchange = '/* x'", "exchange = 'TTL 5'"]
OTHERS = ["open = TRUE", "volume = 5", "volume = 7", "day = '2026-03-01'", "day = '2026-13-01'"]
equalities = st.sampled_from(TEXTS + ODD + OTHERS)
tests = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(["<", "<=", ">", ">=", "= "]), numbers).map(" ".join)
between = st.tuples(st.sampled_from(COLUMNS), numbers, numbers).map(lambda t: f"{t[0]} BETWEEN {t[1]} AND {t[2]}")
dates = st.sampled_from(["at < '2026-03-01'", "at < '2026-03-01 12:00:00'", "at < 'x'", "sector >= 'm'"])
wide = st.sampled_from(
    [
        "volume <> 5",
        "volume IN (1, 5, NULL)",
        "exchange NOT IN ('a', 'NYSE')",
        "symbol LIKE 'ab%'",
        "symbol LIKE 'a_'",
        "symbol NOT LIKE 'a!%%' ESCAPE '!'",
        "(volume = 1 OR risk > 0.5)",
        "NOT (open AND day = '2026-03-01')",
        "price IS NOT NULL",
        "open",
        "starts_with(exchange, 'N')",
    ]
)
options = st.sampled_from(
    [
        "",
        "",
        " NOTIFY LATEST",
        " TTL 5",
        " TTL 7 MINUTES",
        " NOTIFY MIN CHANGE 0.5 TTL 5",
        " TTL 0",
        " TTL 5.5",
        " -- TTL 5",
        "\nTTL 5MINUTES -- x",
        " AS ttl TTL 5",
        " NOTIFY MIN CHANGE .5",
        " notify",
        " /* ' */ TTL 5",
        ";TTL 6;",
        " SNAPSHOT NONE",
        " NOTIFY ENTER",
    ]
)
statements = st.tuples(
    st.sampled_from(["MIN(price)", "COUNT(*)", "MAX(nothing)", "DISTINCT sector", "symbol, price", "*"]),
    st.lists(equalities | tests | between | dates | wide, max_size=3).map(" AND ".join),
    options,
).map(lambda t: f"SELECT {t[0]} FROM stock{' WHERE ' + t[1] if t[1] else ''}{t[2]}")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(statements, min_size=1, max_size=12), st.integers(0, 99))
def test_together_is_as_alone(chosen: list[str], seed: int) -> None:
    source = random.Random(seed)
    many = [source.choice(chosen) for _ in range(20)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_compiler, "FEW", 1)
        for row, compiled in together(many).items():
            assert compiled == alone(many[row]), many[row]


def test_numbers_are_placed_exactly() -> None:
    for column in COLUMNS[:-1]:
        many = [f"SELECT MIN(price) FROM stock WHERE {column} >= {a} AND {column} < {b}"
                for a in NUMBERS for b in NUMBERS if a[0] != "-" and b[0] != "-"]  # fmt: skip
        made = together(many)
        if column != "wide":
            assert len(made) == len(many)
        assert all(
            made[row] == alone(many[row]) for row in random.Random(1).sample(sorted(made), min(PICKED, len(made)))
        )


def test_numbers_of_filters_are_placed_exactly() -> None:
    for column in COLUMNS[:-1]:
        many = [f"SELECT symbol FROM stock WHERE {column} >= {a} AND {column} < {b} AND volume = {a} AND risk > -{b}"
                for a in NUMBERS for b in NUMBERS if a[0] != "-" and b[0] != "-"]  # fmt: skip
        made = together(many)
        assert len(made) == len(many)
        assert all(made[row] == alone(many[row]) for row in random.Random(2).sample(sorted(made), PICKED))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(hard_texts(small=True), min_size=20, max_size=20))
def test_a_real_is_rounded_once(chosen: list[str]) -> None:
    many = [f"SELECT COUNT(*) FROM stock WHERE ratio < {text}" for text in chosen]
    many += [f"SELECT COUNT(*) FROM stock WHERE ratio BETWEEN -{text} AND {text}" for text in chosen]
    made = together(many)
    assert len(made) == len(many)
    for i, text in enumerate(chosen):
        code = code_of_double(naive_real(text))
        assert made[i].region.hi == code - 1 and alone(many[i]) == made[i]
        assert (made[i + 20].region.lo, made[i + 20].region.hi) == (code_of_double(-naive_real(text)), code)


def test_all_of_a_known_template_are_taken_and_a_refused_one_is_left() -> None:
    many = [f"SELECT MAX(price) FROM stock WHERE day = '2026-03-{i:02d}' AND risk < {i}" for i in range(1, 40)]
    made = together(many)
    assert sorted(made) == list(range(31))
    assert all(made[i] == alone(many[i]) for i in made)


def test_few_and_odd_ones_are_left() -> None:
    few = [f"SELECT MAX(price) FROM stock WHERE risk < {i}" for i in range(bulk_compiler.FEW - 1)]
    odd = ["SELECT MAX(price) FROM stock WHERE exchange = 'a -- b'"] * 20 + [
        "SELECT MAX(price) FROM stock WHERE risk < 1 -- é"
    ] * 20
    assert together(few + odd) == {} and together([]) == {}
    long = ["SELECT MAX(price) FROM stock WHERE risk < 1" + " " * 17_000] * 20
    assert together(long) == {}


def test_options_are_read_for_those_that_have_the_same() -> None:
    many = [f"SELECT MIN(price) FROM stock WHERE risk < {i} TTL {i % 3 + 1} HOURS" for i in range(40)]
    made = together(many)
    assert [made[i].ttl for i in range(3)] == [3600, 7200, 10800] and len(made) == 40
    twice = [f"SELECT MIN(price) FROM stock WHERE risk < {i} TTL {i} TTL 5" for i in range(1, 40)]
    assert together(twice) == {}


JOIN = "FROM quote q JOIN filing f ON q.symbol = f.symbol"
joined = st.tuples(
    st.sampled_from([f"q.id {JOIN}", f"* {JOIN} AND q.day = f.day", "price FROM quote"]),
    st.lists(
        st.sampled_from(
            ["q.price BETWEEN {} AND {}", "volume < {}", "f.weight >= {}", "kind = 'a'", "f.open", "id = {}"]
        ),
        min_size=1,
        max_size=3,
    ).map(" AND ".join),
    st.lists(numbers, min_size=6, max_size=6),
    st.sampled_from(["", " NOTIFY LATEST", " NOTIFY ENTER", " TTL 5"]),
).map(lambda t: f"SELECT {t[0]} WHERE {t[1].format(*t[2])}{t[3]}")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(joined, min_size=1, max_size=4), st.integers(0, 99))
def test_joins_together_are_as_alone(chosen: list[str], seed: int) -> None:
    source = random.Random(seed)
    many = [source.choice(chosen) for _ in range(20)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_compiler, "FEW", 1)
        for row, compiled in together(many, Compiler(JOINED)).items():
            assert compiled == Compiler(JOINED).compile(many[row]), many[row]
        uncelled = together(many, Compiler(BARE)).values()
    assert all(compiled.region.shape.relation == "quote" for compiled in uncelled)


def test_joins_are_compiled_together() -> None:
    many = [f"SELECT q.id {JOIN} WHERE q.price BETWEEN {i} AND {i + 2} AND f.weight < {i}.5" for i in range(40)]
    assert len(together(many, Compiler(JOINED))) == 40
    assert together(many, Compiler(BARE)) == {}


def test_questions_about_a_view_are_compiled_together() -> None:
    compiler = Compiler(viewed.CATALOG)
    statements = [f"SELECT MAX(low) FROM low WHERE dest = 'D{i}' AND n BETWEEN {i} AND {i + 5}" for i in range(200)]
    found = together(statements, compiler)
    assert len(found) == len(statements)
    for i, made in found.items():
        assert made.region == compiler.compile(statements[i]).region
