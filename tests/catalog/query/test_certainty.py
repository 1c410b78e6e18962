"""The certainty of questions against what random histories do to their answers, and by example."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.certainty import Certainties, Certainty, set_moves
from catalog.query.channel import Order
from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.output import Output
from catalog.query.shape import Region, Shape
from catalog.query.value_set import ValueSet, everything
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES, Moves
from state.order_code import INT64_MAX, INT64_MIN
from tests.catalog.view.growing_world import GrowingWorld
from tests.catalog.viewed import after
from tests.effort import deep_examples, examples
from tests.operators.views.view_draws import VALUES
from tests.oracle.naive_growth import answer, grew, shrank

SMALLINT = ColumnType(Kind.SMALLINT)
BOUNDS = (-1, 0, 1, 2, 3)


@pytest.mark.deep
@settings(max_examples=deep_examples(1200), deadline=None)
@given(st.integers(0, 2**40))
def test_nothing_is_claimed_that_is_not_so(seed: int) -> None:
    rng = Random(seed)
    world = GrowingWorld.drawn(rng)
    certainties = world.certainties()
    asked = [drawn_question(rng, rng.choice(list(world.relations.values()))) for _ in range(12)]
    certain = [(each, certainties.of(each)) for each in asked]
    for before, now in pairwise(world.states(rng, 8)):
        for region, certainty in certain:
            relation = world.relations[region.shape.relation]
            one, other = (answer(region, relation, rows[relation.name]) for rows in (before, now))
            if certainty is Certainty.AT_LEAST:
                assert grew(one, other), f"{region}: {one} {other}; {world.stages}"
            elif certainty is Certainty.AT_MOST:
                assert shrank(one, other), f"{region}: {one} {other}; {world.stages}"


def drawn_question(rng: Random, relation: Relation) -> Region:
    """Return a question of any kind."""
    coded = [column for column in relation.columns if column.type.coded]
    ranged = rng.choice(coded).name if coded and rng.random() < 0.7 else None
    lo = rng.choice((INT64_MIN, *BOUNDS)) if ranged else INT64_MIN
    hi = rng.choice((INT64_MAX, INT64_MAX, *BOUNDS)) if ranged else INT64_MAX
    roll = rng.random()
    if roll < 0.1 and relation.key:
        order = tuple([Order(name, rng.random() < 0.5, rng.random() < 0.5) for name in relation.key])
        shown = tuple([column.name for column in relation.columns[:2]])
        return Region(BestShape(relation.name, shown, (), ranged, order, 2, ()), b"[]", lo, hi, lo > hi)
    outputs = tuple([drawn_output(rng, relation) for _ in range(rng.choice((1, 1, 2)))])
    if roll < 0.5:
        return Region(Shape(relation.name, outputs, (), ranged), b"[]", lo, hi, lo > hi)
    columns = rng.sample(relation.columns, min(len(relation.columns), rng.randint(0, 2)))
    boxes = [
        {place: drawn_set(rng, column) for place, column in enumerate(columns) if rng.random() < 0.8}
        for _ in range(rng.choice((1, 1, 2)))
    ]
    shown = tuple([column.name for column in rng.sample(relation.columns, 1)]) if rng.random() < 0.4 else ()
    totals = () if shown else tuple([each for each in outputs if each.function in ("count", "sum", "avg")])
    tested = tuple([column.name for column in columns])
    shape = FilterShape(relation.name, shown, totals or (() if shown else (Output("count", None),)), tested, (), ())
    return Region(shape, b"[]", terms=encode_terms(boxes))


def drawn_output(rng: Random, relation: Relation) -> Output:
    column = rng.choice(relation.columns)
    functions = ["min", "max", "distinct", "count", "count_distinct"]
    if column.type.kind not in (Kind.VARCHAR, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP):
        functions += ["sum", "sum", "avg"]
    return Output("count", None) if rng.random() < 0.15 else Output(rng.choice(functions), column.name)


def drawn_set(rng: Random, column: Column) -> ValueSet:
    every, null = everything(column.type), rng.random() < 0.3
    if not column.type.coded:
        return ValueSet(every.intervals if rng.random() < 0.6 else (), null) or every
    ((least, greatest),) = every.intervals
    known = [value for value in VALUES.get(column.type, [0, 1, 2, -1, 5]) if isinstance(value, int)]
    one, other = sorted(rng.choices(known, k=2))
    intervals = rng.choice([[(one, other)], [(least, one)], [(one, greatest)], [(least, one), (other, greatest)], []])
    return ValueSet.of(intervals, null) or every  # type: ignore[arg-type]


DDL = """
CREATE TABLE quote (id BIGINT PRIMARY KEY, issue VARCHAR NOT NULL, price DECIMAL(8,2), volume INTEGER NOT NULL);
CREATE TABLE firm (issue VARCHAR PRIMARY KEY, name VARCHAR);
CREATE VIEW traded AS SELECT id, issue, price, volume FROM quote WHERE volume > 0;
CREATE VIEW hourly AS
  SELECT issue, MAX(price) AS high, MIN(price) AS low, COUNT(*) AS n, SUM(volume) AS volume, AVG(price) AS mean,
    LATEST(price BY id) AS last FROM traded GROUP BY issue;
CREATE VIEW net AS SELECT issue, SUM(volume) AS volume FROM quote GROUP BY issue;
CREATE VIEW range AS SELECT issue, high - low AS width, COALESCE(volume, 0) AS volume FROM hourly;
CREATE VIEW busy AS SELECT issue, high FROM hourly WHERE volume > 500000;
CREATE VIEW quiet AS SELECT issue, high FROM hourly WHERE volume < 500000;
CREATE VIEW cheapest AS SELECT id, price FROM quote QUALIFY ROW_NUMBER() OVER (ORDER BY price, id) <= 3;
CREATE VIEW named AS SELECT h.issue, h.high, f.name FROM hourly h LEFT JOIN firm f ON h.issue = f.issue;
CREATE VIEW all_of AS SELECT COUNT(*) AS n, MAX(price) AS high FROM quote;
CREATE VIEW both AS SELECT q.id, q.price, h.high FROM quote q JOIN hourly h ON q.issue = h.issue;
"""
CATALOG = after(DDL)
COMPILER = Compiler(CATALOG)
EXPECTED = {
    "SELECT MAX(price) FROM quote": "at_least",
    "SELECT MIN(price) FROM quote": "at_most",
    "SELECT MIN(price), COUNT(*) FROM quote": "temporary",
    "SELECT MAX(price), COUNT(*) FROM quote": "at_least",
    "SELECT AVG(price) FROM quote": "temporary",
    "SELECT SUM(volume) FROM quote": "temporary",
    "SELECT SUM(volume) FROM quote WHERE volume > 0": "at_least",
    "SELECT SUM(volume) FROM quote WHERE volume <= 0": "at_most",
    "SELECT DISTINCT issue FROM quote WHERE price < 5": "at_least",
    "SELECT id, price FROM quote WHERE price < 5 OR issue = 'A'": "at_least",
    "SELECT id, price FROM quote ORDER BY price, id LIMIT 3": "temporary",
    "SELECT MAX(high) FROM hourly WHERE issue = 'A'": "at_least",
    "SELECT MIN(low) FROM hourly": "at_most",
    "SELECT MIN(n) FROM hourly": "temporary",
    "SELECT MAX(n) FROM hourly": "at_least",
    "SELECT SUM(volume) FROM hourly": "at_least",
    "SELECT SUM(volume) FROM net": "temporary",
    "SELECT MAX(last) FROM hourly": "temporary",
    "SELECT DISTINCT issue FROM hourly WHERE n > 1000": "at_least",
    "SELECT DISTINCT issue FROM hourly WHERE n < 1000": "temporary",
    "SELECT DISTINCT issue FROM hourly WHERE low < 5": "at_least",
    "SELECT issue, n FROM hourly": "temporary",
    "SELECT issue FROM hourly WHERE n >= 5 AND low <= 3": "at_least",
    "SELECT issue FROM hourly WHERE n >= 5 OR low <= 3": "at_least",
    "SELECT issue FROM hourly WHERE n >= 5 OR low > 3": "temporary",
    "SELECT issue FROM hourly WHERE NOT n < 5": "at_least",
    "SELECT issue FROM hourly WHERE n = 5": "temporary",
    "SELECT issue FROM hourly WHERE high IS NULL": "temporary",
    "SELECT issue FROM hourly WHERE high IS NOT NULL": "at_least",
    "SELECT MAX(width) FROM range": "at_least",
    "SELECT SUM(volume) FROM range": "at_least",
    "SELECT COUNT(*) FROM busy": "at_least",
    "SELECT COUNT(*) FROM quiet": "temporary",
    "SELECT MIN(price) FROM cheapest": "temporary",
    "SELECT COUNT(*) FROM named": "at_least",
    "SELECT DISTINCT name FROM named": "temporary",
    "SELECT MAX(high) FROM named WHERE name = 'x'": "temporary",
    "SELECT MAX(n) FROM all_of": "at_least",
    "SELECT MIN(n) FROM all_of": "at_least",
    "SELECT MAX(high) FROM both": "at_least",
    "SELECT MAX(name) FROM firm": "temporary",
}


def views_of_stream() -> Certainties:
    return Certainties(CATALOG.relations.get, CATALOG.views.get, {"quote"})


@pytest.mark.parametrize("sql", EXPECTED)
def test_examples(sql: str) -> None:
    assert views_of_stream().of(COMPILER.compile(sql).region) == EXPECTED[sql]


@pytest.mark.parametrize("sql", EXPECTED)
def test_of_tables_all_is_temporary(sql: str) -> None:
    tables = Certainties(CATALOG.relations.get, CATALOG.views.get, ())
    assert tables.of(COMPILER.compile(sql).region) == "temporary"


def test_views_below_are_known_whichever_is_asked_first() -> None:
    certainties = views_of_stream()
    assert certainties.of(COMPILER.compile("SELECT COUNT(*) FROM busy").region) == "at_least"
    assert certainties.of(COMPILER.compile("SELECT MIN(low) FROM hourly").region) == "at_most"
    assert certainties.growth("hourly") is certainties.growth("hourly")


def test_what_forgets_old_rows_takes_back() -> None:
    region = COMPILER.compile("SELECT MAX(high) FROM hourly").region
    assert Certainties(CATALOG.relations.get, CATALOG.views.get, {"quote"}, {"hourly"}).of(region) == "temporary"
    count = COMPILER.compile("SELECT COUNT(*) FROM busy").region
    assert Certainties(CATALOG.relations.get, CATALOG.views.get, {"quote"}, {"hourly"}).of(count) == "temporary"


def test_what_no_row_can_meet_stays_as_it_is() -> None:
    region = COMPILER.compile("SELECT MIN(price) FROM quote WHERE price > 5 AND price < 4").region
    assert views_of_stream().of(region) == "at_least"


def test_joins_in_questions_are_of_tables() -> None:
    catalog = after("CREATE JOIN quote, firm", catalog=CATALOG)
    sql = "SELECT q.id, f.name FROM quote q JOIN firm f ON q.issue = f.issue"
    region = Compiler(catalog).compile(sql).region
    assert Certainties(catalog.relations.get, catalog.views.get, ()).of(region) == "temporary"


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 2**40))
def test_sets_against_every_step(seed: int) -> None:
    """Exact over a small type: a move is told iff two values make it."""
    rng = Random(seed)
    low, high = SMALLINT.reach
    intervals = rng.choice(
        [[], [(low, 1)], [(1, high)], [(0, 2)], [(low, 0), (2, high)], [(low, high)], [(0, 0), (2, 2)]]
    )
    values = ValueSet.of(intervals, rng.random() < 0.5)  # type: ignore[arg-type]
    for moves in (FIXED, RISES, FALLS, FILLS, EMPTIES, MOVES, RISES | FILLS, ANY):
        seen = FIXED
        for one in (None, *range(-2, 5)):
            for other in (None, *range(-2, 5)):
                if step(one, other) & moves and values.holds(one) != values.holds(other):
                    seen |= RISES if values.holds(other) else FALLS
        assert set_moves(values, SMALLINT, moves) == seen


def step(one: int | None, other: int | None) -> Moves:
    if one is None or other is None:
        return FIXED if one is other else EMPTIES if other is None else FILLS
    return FIXED if one == other else RISES if one < other else FALLS
