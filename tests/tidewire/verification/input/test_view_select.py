"""One SELECT: which columns names mean, which key its rows have, what each step says; and what none may say."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.input.parsed import query
from tidewire.verification.input.column import Column
from tidewire.verification.input.view_plan import Aggregate, Call, Field, Group, Join, Literal, Named, Order, Ranking
from tidewire.verification.input.view_select import SelectReader
from tidewire.verification.input.view_source import NoView, Source


def source(key: str, **types: str) -> Source:
    return Source(tuple(Column(name, type, True) for name, type in types.items()), tuple(key.split()))


SOURCES = {
    "p": source("id", id="INTEGER", g="VARCHAR", x="BIGINT"),
    "q": source("id g", id="INTEGER", g="VARCHAR", z="DOUBLE"),
    "v": source("", g="VARCHAR", n="HUGEINT"),
}
ID, G, X = Field(0, "INTEGER"), Field(1, "VARCHAR"), Field(2, "BIGINT")


def read(text: str) -> tuple[SelectReader, dict[str, None]]:
    reads: dict[str, None] = {}
    return SelectReader(query(text), SOURCES, reads), reads


def keyed(text: str) -> tuple[str, ...]:
    reader, _ = read(text)
    select = reader.select()
    return reader.key(select, reader.columns(select))


def test_names_are_columns_and_else_items() -> None:
    made = read("SELECT P.ID, x + 1 AS id2, id2 * 2 AS m FROM p WHERE id2 > 3")[0].select()
    more = Call("+", (X, Literal(1, "HUGEINT")), "HUGEINT")
    assert made.items == (ID, more, Call("*", (more, Literal(2, "HUGEINT")), "HUGEINT"))
    assert made.where == Call(">", (more, Literal(3, "HUGEINT")), "BOOLEAN")
    assert read("SELECT x AS g, g AS h FROM p WHERE g = 'u'")[0].select().where == Call(
        "=", (G, Literal("u", "VARCHAR")), "BOOLEAN"
    )


def test_a_star_is_all_columns_or_those_of_one_source() -> None:
    assert read("SELECT * FROM p")[0].select().items == (ID, G, X)
    made = read("SELECT b.*, a.x FROM p a JOIN v b ON a.g = b.g")[0].select()
    assert [item.place for item in made.items if isinstance(item, Field)] == [3, 4, 2]


def test_columns_are_named_and_typed_as_the_items() -> None:
    reader, reads = read('SELECT id, "g" AS "G g", COUNT(*) AS n, AVG(x) AS a FROM p GROUP BY id, g')
    found = [(column.name, column.type) for column in reader.columns(reader.select())]
    assert found == [("id", "INTEGER"), ("G g", "VARCHAR"), ("n", "BIGINT"), ("a", "DOUBLE")]
    assert list(reads) == ["p"]


def test_what_is_read_in_the_order_of_the_text_and_once() -> None:
    reader, reads = read("SELECT b.g FROM v b JOIN p ON p.g = b.g JOIN v c ON c.g = p.g")
    reader.select()
    assert list(reads) == ["v", "p"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("SELECT x, id FROM p", ("id",)),
        ("SELECT x FROM p", ()),
        ("SELECT id + 0 AS id FROM p", ()),
        ("SELECT id AS one, id AS other FROM p", ("one",)),
        ("SELECT g, id FROM q", ("id", "g")),
        ("SELECT g FROM v", ()),
        ("SELECT MAX(x) AS m, g FROM p GROUP BY g", ("g",)),
        ("SELECT x, g FROM p GROUP BY g, x", ("x", "g")),
        ("SELECT MAX(x) AS m FROM p GROUP BY g", ()),
        ("SELECT MAX(x) AS m FROM p", ()),
        ("SELECT a.id FROM q a JOIN p b ON a.z = b.id", ()),
        ("SELECT a.id, a.g FROM q a JOIN p b ON a.id = b.id", ("id", "g")),
        ("SELECT a.id, b.id AS other FROM p a JOIN p b ON a.g = b.g", ("id", "other")),
        ("SELECT a.id FROM p a JOIN p b ON a.g = b.g", ()),
        ("SELECT a.id FROM p a LEFT JOIN q b ON a.id = b.id AND a.g = b.g", ("id",)),
        ("SELECT a.id FROM p a JOIN q b ON a.id = b.id", ()),
        ("SELECT a.id FROM p a JOIN v b ON a.g = b.g", ()),
    ],
)
def test_the_key_is_what_tells_rows_apart_where_all_of_it_is_shown(text: str, key: tuple[str, ...]) -> None:
    assert keyed(text) == key


def test_a_join_by_the_key_of_its_right_side_looks_up() -> None:
    made = read("SELECT a.id FROM p a LEFT JOIN q b ON b.g = a.g AND a.id = b.id AND a.x > b.z")[0].select().source
    also = Call(">", (X, Field(5, "DOUBLE")), "BOOLEAN")
    assert made == Join(Named("p", 3), Named("q", 3), ((1, 1), (0, 0)), also, True, True)
    made = read("SELECT a.id FROM p a JOIN q b ON a.id = b.id AND a.g > 'u' AND b.g > 'v'")[0].select().source
    assert isinstance(made, Join) and (made.equal, made.outer, made.lookup) == (((0, 0),), False, False)
    assert isinstance(made.also, Call) and made.also.operator == "and"


def test_equal_columns_of_one_side_or_of_no_column_are_no_pair() -> None:
    made = read("SELECT a.id FROM p a JOIN q b ON a.id = a.x AND b.id = 1 AND a.id + 1 = b.id")[0].select().source
    assert isinstance(made, Join) and made.equal == () and isinstance(made.also, Call)


def test_groups_and_what_is_over_them() -> None:
    text = "SELECT g AS h, MIN(x) - 1 AS low, COUNT(*) AS n FROM p WHERE x > 0 GROUP BY h HAVING COUNT(*) > SUM(x)"
    made = read(text)[0].select()
    count, low, sum = (
        Aggregate("count", None, (), "BIGINT"),
        Aggregate("min", X, (), "BIGINT"),
        Aggregate("sum", X, (), "HUGEINT"),
    )
    assert made.group == Group((G,), (count, sum, low))
    assert made.having == Call(">", (Field(1, "BIGINT"), Field(2, "HUGEINT")), "BOOLEAN")
    assert made.items[0] == Field(0, "VARCHAR") and made.items[2] == Field(1, "BIGINT")


def test_aggregates_and_their_types() -> None:
    group = (
        read("SELECT COUNT(id) AS a, SUM(id) AS b, AVG(id) AS c, MIN(g) AS d, MAX(z) AS e, SUM(z) AS f FROM q")[0]
        .select()
        .group
    )
    assert group is not None and group.by == ()
    found = [(one.kind, one.type) for one in group.aggregates]
    assert found == [
        ("count", "BIGINT"),
        ("sum", "HUGEINT"),
        ("avg", "DOUBLE"),
        ("min", "VARCHAR"),
        ("max", "DOUBLE"),
        ("sum", "DOUBLE"),
    ]


def test_the_latest_is_decided_by_the_key_and_else_by_the_value() -> None:
    def latest(text: str) -> Aggregate:
        group = read(text)[0].select().group
        assert group is not None
        return group.aggregates[0]

    assert latest("SELECT LATEST(x, id) AS n FROM p") == Aggregate("latest", X, (ID, ID), "BIGINT")
    assert latest("SELECT MAX_BY(z, g) AS n FROM q").by == (G, ID, G)
    n = Field(1, "HUGEINT")
    assert latest("SELECT LATEST(n, g) AS n FROM v") == Aggregate("latest", n, (Field(0, "VARCHAR"), n), "HUGEINT")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("x", Order(X, False, False)), ("x DESC", Order(X, True, True)), ("x NULLS FIRST", Order(X, False, True)),
        ("x DESC NULLS LAST", Order(X, True, False)), ("x ASC", Order(X, False, False)),
    ],
)  # fmt: skip
def test_null_is_the_greatest_where_nothing_is_said_of_it(order: str, expected: Order) -> None:
    made = read(f"SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY {order}) AS place FROM p")[0].select()
    assert made.ranking == Ranking((G,), (expected,), None) and made.items == (ID, Field(3, "BIGINT"))


@pytest.mark.parametrize(
    ("qualify", "most"),
    [("place <= 2", 2), ("place = 2", 2), ("place < 2", 1), ("place <= 2 AND x > 0", 2), ("place > 2", None),
     ("place <= 2 OR x > 0", None), ("place <= 0", 0), ("place < 0", 0), ("place <> 2", None)],
)  # fmt: skip
def test_how_many_can_pass(qualify: str, most: int | None) -> None:
    window = "ROW_NUMBER() OVER (ORDER BY id)"
    made = read(f"SELECT id FROM p QUALIFY {qualify.replace('place', window)}")[0].select()
    assert made.ranking is not None and made.ranking.most == most


def test_a_place_stands_behind_the_row_of_its_group() -> None:
    text = "SELECT g, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*), g) + 1 AS place FROM p GROUP BY g"
    made = read(text)[0].select()
    assert made.items[2] == Call("+", (Field(2, "BIGINT"), Literal(1, "HUGEINT")), "HUGEINT")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM p ORDER BY id", "SELECT DISTINCT id FROM p", "SELECT id FROM p LIMIT 1", "SELECT id FROM none",
        "WITH r AS (SELECT 1 AS n) SELECT n FROM r", "SELECT id FROM p USING SAMPLE 1", "SELECT id FROM other.p",
        "SELECT a.id FROM p a JOIN p a ON a.id = a.id", "SELECT id FROM p a JOIN q b ON a.id = b.id",
        "SELECT p.id FROM p JOIN q USING (id)", "SELECT p.id FROM p RIGHT JOIN q ON p.id = q.id",
        "SELECT p.id FROM p CROSS JOIN q", "SELECT p.id FROM p JOIN (q JOIN v ON q.g = v.g) ON p.id = q.id",
        "SELECT * EXCLUDE (g) FROM p", "SELECT r.* FROM p", "SELECT nothing FROM p", "SELECT x, COUNT(*) AS n FROM p",
        "SELECT g, x FROM p GROUP BY g", "SELECT g, COUNT(*) AS n FROM p GROUP BY ROLLUP (g)",
        "SELECT COUNT(DISTINCT x) AS n FROM p",
        "SELECT COUNT(*) FILTER (x > 0) AS n FROM p", "SELECT id FROM p WHERE COUNT(*) > 1",
        "SELECT id + 1 FROM p WHERE n > 1",
        "SELECT RANK() OVER (ORDER BY id) AS n FROM p",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM p QUALIFY ROW_NUMBER() OVER (ORDER BY x) < 2",
        "SELECT a.* FROM p a(u, w)", "SELECT n AS n FROM p", "SELECT MAX(x ORDER BY id) AS n FROM p",
    ],
)  # fmt: skip
def test_what_no_view_says_is_refused(text: str) -> None:
    with pytest.raises(NoView):
        reader, _ = read(text)
        reader.columns(reader.select())
