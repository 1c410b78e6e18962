"""Questions over joins: their shapes, that all spellings have one, and when they wait for a cell."""

import random

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.join_plan import JOINED_CHANGES
from catalog.query.shape import NO_GROUP
from catalog.schema.join import Join, join_of_name
from catalog.sql.errors import CellMissing, SubscriptionError
from tests.catalog.joined import BARE, CATALOG, asked, compiler, region
from tests.effort import deep_examples, drawn_from

ON = "FROM quote q JOIN filing f ON q.symbol = f.symbol"
PAIR = Join(("filing", "quote"), (((0, "symbol"), (1, "symbol")),))


def test_a_join_is_a_filter_of_its_relation() -> None:
    compiled = compiler().compile(f"SELECT q.price, kind, q.id {ON} WHERE price BETWEEN 1 AND 2 AND f.kind = 'x'")
    shape = FilterShape(PAIR.name, ("1.price", "0.kind", "1.id"), (), ("0.kind", "1.price"), (), ())
    assert compiled.region.shape == shape and compiled.region.group == NO_GROUP and not compiled.region.empty
    assert [
        (place, len(values.intervals)) for box in decode_terms(compiled.region.terms) for place, values in box.items()
    ] == [
        (0, 1),
        (1, 1),
    ]
    assert compiled.cost == JOINED_CHANGES == "joined changes"
    assert [str(type_) for type_ in compiled.columns] == ["DECIMAL(12,2)", "VARCHAR", "BIGINT"]


def test_all_of_the_key_in_the_select_list_is_no_key() -> None:
    assert region(f"SELECT * {ON}").shape.keys == ()


@pytest.mark.parametrize(
    ("sql", "classes"),
    [
        ("quote q JOIN filing f ON q.symbol = f.symbol AND q.id = f.id", [["0.id", "1.id"], ["0.symbol", "1.symbol"]]),
        ("quote q JOIN filing f ON q.symbol = f.symbol AND f.kind = q.symbol", [["0.kind", "0.symbol", "1.symbol"]]),
        ("quote q JOIN filing f ON q.price = f.weight", [["0.weight", "1.price"]]),
        ("quote q JOIN quote r ON q.id = r.volume", [["0.id", "1.volume"]]),
        ("quote q JOIN sector s ON q.symbol = s.symbol JOIN filing f ON f.symbol = q.symbol",
         [["0.symbol", "1.symbol", "2.symbol"]]),
    ],
)  # fmt: skip
def test_classes(sql: str, classes: list[list[str]]) -> None:
    join = region(f"SELECT q.id FROM {sql}").shape.relation
    found = join_of_name(join)
    assert found is not None
    assert [[f"{at}.{column}" for at, column in each] for each in found.classes] == classes


@pytest.mark.deep
def test_all_spellings_have_one_region() -> None:
    warm = compiler()
    source = drawn_from()
    seed = source.getrandbits(32)
    source.seed(seed)
    for _ in range(deep_examples(400)):
        question = asked(source)
        first = question.spelled(source)
        expected = warm.compile(first).region
        for _ in range(4):
            other = question.spelled(source)
            assert warm.compile(other).region == expected, (seed, first, other)


def test_a_table_joined_with_itself_has_one_shape_whatever_comes_first() -> None:
    both = [
        f"SELECT {a}.price, {b}.volume FROM quote x JOIN quote y ON x.id = y.id WHERE {a}.price = 1"
        for a, b in ("xy", "yx")
    ]
    assert region(both[0]) == region(both[1])
    other = region("SELECT x.price, y.volume FROM quote x JOIN quote y ON x.id = y.id WHERE y.price = 1")
    assert other.shape.tested != region(both[0]).shape.tested


def test_one_that_no_cell_serves_is_told_so_with_its_tables() -> None:
    with pytest.raises(CellMissing) as caught:
        Compiler(BARE).compile(f"SELECT q.id {ON} NOTIFY LATEST")
    error = caught.value
    assert isinstance(error, SubscriptionError)
    assert (error.code, error.tables, error.reason) == ("no_cell", ("filing", "quote"), "")
    assert error.hint is not None and "CREATE JOIN filing, quote" in error.hint
    with pytest.raises(CellMissing) as caught:
        Compiler(BARE).compile("SELECT q.id FROM quote q JOIN quote r ON q.id = r.id")
    assert caught.value.tables == ("quote",)


def test_one_that_the_engine_does_not_serve_is_told_why() -> None:
    catalog = apply_ddl(BARE, "REFUSE JOIN quote, filing BECAUSE 'they have 90 MB'", 1)
    with pytest.raises(CellMissing, match="they have 90 MB") as caught:
        Compiler(catalog).compile(f"SELECT q.id {ON}")
    assert caught.value.reason == "they have 90 MB"


@pytest.mark.parametrize(
    "rest",
    [
        "WHERE q.price = 'x'",
        "WHERE q.nope = 1",
        "WHERE q.price = 1 OR f.kind = 'a'",
        "NOTIFY MIN CHANGE 5",
        "NOTIFY TRANSITIONS",
        "NOTIFY ENTER",
        "WHERE q.symbol LIKE '_a'",
        "TTL 0",
    ],
)
def test_a_mistake_is_told_before_the_cell(rest: str) -> None:
    cold = Compiler(BARE)
    for _ in range(2):
        with pytest.raises(SubscriptionError) as caught:
            cold.compile(f"SELECT q.id {ON} {rest}")
        assert not isinstance(caught.value, CellMissing), rest
        with pytest.raises(CellMissing):
            cold.compile(f"SELECT q.id {ON} WHERE q.price = 1")


def test_the_shortcut_asks_for_the_cell_too() -> None:
    cold = Compiler(BARE)
    for price in range(3):
        with pytest.raises(CellMissing):
            cold.compile(f"SELECT q.id {ON} WHERE q.price = {price} AND kind = 'x'")
        with pytest.raises(CellMissing):
            cold.compile_template(f"SELECT q.id {ON} WHERE q.price = ?", [price])


@pytest.mark.parametrize("parameters", [[1, "a"], ["1.50", None], [2.5, "b"]])
def test_parameters(parameters: list[object]) -> None:
    template = f"SELECT q.id {ON} WHERE q.price >= ? AND f.kind = ?"
    compiled = compiler().compile_template(template, parameters)
    assert compiled.region == region(compiled.sql)


def test_cells_of_other_tables_serve_nothing() -> None:
    catalog = apply_ddl(BARE, "CREATE JOIN quote, filing, sector; CREATE JOIN quote", 1)
    with pytest.raises(CellMissing):
        Compiler(catalog).compile(f"SELECT q.id {ON}")
    assert Compiler(CATALOG).compile(f"SELECT q.id {ON}").region.shape.relation == PAIR.name


def test_an_unserved_join_has_the_region_that_it_will_have() -> None:
    source = random.Random(3)
    for _ in range(30):
        sql = asked(source).spelled(source)
        with pytest.raises(CellMissing) as caught:
            Compiler(BARE).compile(sql)
        served = apply_ddl(BARE, f"CREATE JOIN {', '.join(caught.value.tables)}", 5)
        assert Compiler(served).compile(sql).region == region(sql)


def test_a_view_is_joined_in_the_cell_of_all_tables_and_the_name_says_which() -> None:
    viewed = apply_ddl(CATALOG, "CREATE VIEW low AS SELECT symbol, MIN(price) AS price FROM quote GROUP BY symbol", 60)
    compiled = Compiler(viewed).compile("SELECT l.price, f.kind FROM low l JOIN filing f ON l.symbol = f.symbol")
    join = join_of_name(compiled.region.shape.relation)
    assert join == Join(("filing", "low"), PAIR.classes, ("filing", "quote")) and join.cell == PAIR.cell
    relation = viewed.relation(join.name)
    assert relation is not None and relation.born == 60 and relation.home == PAIR.cell
    again = apply_ddl(apply_ddl(viewed, "DROP VIEW low", 61), "CREATE VIEW low AS SELECT symbol, price FROM quote", 62)
    assert (relation := again.relation(join.name)) is not None and relation.born == 62
    other = apply_ddl(apply_ddl(viewed, "DROP VIEW low", 61), "CREATE VIEW low AS SELECT symbol FROM sector", 62)
    assert other.relation(join.name) is None, "it would be of other tables"


def test_a_view_joined_with_its_own_table_waits_for_the_cell_of_that() -> None:
    viewed = apply_ddl(BARE, "CREATE VIEW low AS SELECT symbol, MIN(price) AS price FROM quote GROUP BY symbol", 60)
    with pytest.raises(CellMissing) as missing:
        Compiler(viewed).compile("SELECT q.id, l.price FROM quote q JOIN low l ON q.symbol = l.symbol")
    assert missing.value.tables == ("quote",)


def test_more_tables_than_a_cell_has_are_refused_also_through_views() -> None:
    made = "".join(f"CREATE TABLE t{i} (k INTEGER PRIMARY KEY);" for i in range(5))
    pairs = "CREATE VIEW v AS SELECT a.k FROM t0 a JOIN t1 b ON a.k = b.k JOIN t2 c ON a.k = c.k JOIN t3 d ON a.k = d.k"
    with pytest.raises(SubscriptionError, match="reads 5 tables through its views"):
        Compiler(apply_ddl(BARE, made + pairs, 60)).compile("SELECT v.k FROM v JOIN t4 ON v.k = t4.k")
