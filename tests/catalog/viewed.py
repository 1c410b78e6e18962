"""Tables and views that queries of views are read over, random queries, and what holds for every plan."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.schema.view import (
    Among,
    Arithmetic,
    Coalesce,
    ColumnOf,
    Comparison,
    Condition,
    Constant,
    Expression,
    Fold,
    GroupBy,
    IsNull,
    Joined,
    Map,
    TopK,
    Truncated,
    Union,
    View,
)
from catalog.types.column_type import Kind

DDL = """
CREATE TABLE seat (flight VARCHAR PRIMARY KEY, dest VARCHAR, fare DECIMAL(8,2), tax DECIMAL(6,2) NOT NULL, n INTEGER,
  small SMALLINT, big BIGINT, risk DOUBLE, ratio REAL, open BOOLEAN, day DATE, at TIMESTAMP, wide DECIMAL(38,10));
CREATE TABLE booked (booking BIGINT PRIMARY KEY, flight VARCHAR, n INTEGER NOT NULL, paid BIGINT, "Odd Name" SMALLINT);
CREATE TABLE trade (symbol VARCHAR, id BIGINT, price DECIMAL(12,2), kind VARCHAR, PRIMARY KEY (symbol, id))
  WITH ('buckets'='4', 'bucket.by'='symbol');
CREATE VIEW low AS SELECT dest, MIN(fare) AS low, COUNT(*) AS n FROM seat GROUP BY dest;
CREATE VIEW taken AS SELECT flight, SUM(n) AS n, SUM(paid) AS paid FROM booked GROUP BY flight;
CREATE VIEW dear AS SELECT symbol, MAX(price) AS high FROM trade GROUP BY symbol;
"""
CATALOG = apply_ddl(Catalog(), DDL, 0)


def declared(query: str, catalog: Catalog = CATALOG, name: str = "v") -> View:
    """Return the view of a query."""
    return after(f"CREATE VIEW {name} AS {query}", catalog=catalog).views[name]


def after(*texts: str, catalog: Catalog = CATALOG) -> Catalog:
    """Return the catalog after texts."""
    for text in texts:
        catalog = apply_ddl(catalog, text, catalog.version + 1)
    return catalog


_SOURCES = {
    "seat": {
        "flight": "text", "dest": "text", "fare": "number", "tax": "number", "n": "number", "small": "number",
        "big": "number", "risk": "number", "ratio": "number", "open": "truth", "day": "day", "at": "moment",
        "wide": "number",
    },
    "booked": {"booking": "number", "flight": "text", "n": "number", "paid": "number", '"Odd Name"': "number"},
    "trade": {"symbol": "text", "id": "number", "price": "number", "kind": "text"},
    "low": {"dest": "text", "low": "number", "n": "number"},
    "taken": {"flight": "text", "n": "number", "paid": "number"},
    "dear": {"symbol": "text", "high": "number"},
}  # fmt: skip
_KEYS = {"seat": ["flight"], "booked": ["booking"], "trade": ["symbol", "id"], "low": ["dest"], "taken": ["flight"],
         "dear": ["symbol"]}  # fmt: skip
_LITERALS = {
    "number": ["0", "1", "-3", "2.50", "0.1", "1e3", "99999999999999999999"],
    "text": ["'a'", "'it''s'"],
    "day": ["DATE '2026-03-01'", "'2026-03-01'"],
    "moment": ["TIMESTAMP '2026-03-01 12:00:00'", "DATE '2026-03-01'"],
    "truth": ["TRUE"],
}
_KINDS = list(_LITERALS)


class _Columns:
    """Draws expressions and conditions of columns, by their kinds; now and then of a kind that does not fit."""

    def __init__(self, columns: dict[str, str]) -> None:
        self.columns = columns

    def leaf(self, kind: str) -> st.SearchStrategy[str]:
        mine = [name for name, of in self.columns.items() if of == kind]
        literals = st.sampled_from(_LITERALS[kind])
        return st.one_of(st.sampled_from(mine), st.sampled_from(mine), literals) if mine else literals

    def expression(self, kind: str) -> st.SearchStrategy[str]:
        leaf = self.leaf(kind)
        if kind == "moment":
            at = [name for name, of in self.columns.items() if of == kind]
            cut = st.builds(
                "DATE_TRUNC('{}', {})".format, st.sampled_from(["hour", "day"]), st.sampled_from(at or ["x"])
            )
            return st.one_of(leaf, cut)
        one = st.one_of(leaf, st.builds("COALESCE({}, {})".format, leaf, leaf))
        if kind != "number":
            return one
        sum_ = st.builds("{} {} {}".format, one, st.sampled_from("++--*"), one)
        product = st.builds("({}) {} {}".format, sum_, st.sampled_from("+-*"), leaf)
        return st.one_of(one, one, sum_, st.builds("-{}".format, leaf), product, st.builds("-({})".format, sum_))

    def column(self) -> st.SearchStrategy[str]:
        return st.sampled_from(list(self.columns))

    def any(self) -> st.SearchStrategy[str]:
        kinds = sorted({*self.columns.values()})
        return st.sampled_from(kinds).flatmap(self.expression)

    def conditions(self) -> st.SearchStrategy[str]:
        def one(kind: str) -> st.SearchStrategy[str]:
            side, other = self.expression(kind), self.leaf(kind)
            return st.one_of(
                st.builds("{} {} {}".format, side, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), other),
                st.builds("NOT {} < {}".format, other, side),
                st.builds("{} BETWEEN {} AND {}".format, side, other, other),
                st.builds("{} {}IN ({})".format, side, st.sampled_from(["", "NOT "]), st.sampled_from(_LITERALS[kind])),
                st.builds("{} IS {}NULL".format, side, st.sampled_from(["", "NOT "])),
            )

        kinds = st.sampled_from(sorted({*self.columns.values()}))
        return st.lists(kinds.flatmap(one), min_size=1, max_size=2).map(" AND ".join)

    def aggregate(self) -> st.SearchStrategy[str]:
        return st.one_of(
            st.just("COUNT(*)"),
            st.builds("{}({})".format, st.sampled_from(["COUNT", "SUM", "AVG", "MIN"]), self.expression("number")),
            st.builds("{}({})".format, st.sampled_from(["COUNT", "MIN", "MAX"]), self.column()),
            st.builds("LATEST({} BY {})".format, self.column(), self.column()),
        )


def _from(draw: Any) -> tuple[str, list[tuple[str, str]]]:
    """A FROM, and what its sources are called and are."""
    names = [draw(st.sampled_from(list(_SOURCES)))]
    if draw(st.sampled_from([False, False, True])):
        names += draw(st.lists(st.sampled_from(list(_SOURCES)), min_size=1, max_size=2))
    if len(names) == 1:
        return names[0], [("", names[0])]
    sources = [(f"s{i}", name) for i, name in enumerate(names)]
    text = f"{names[0]} s0"
    for i in range(1, len(names)):
        kind = draw(st.sampled_from(["text", "text", "number"]))
        mine = draw(st.sampled_from([c for c, of in _SOURCES[names[i]].items() if of == kind] or ["n"]))
        others = [f"{c}.{e}" for c, n in sources[:i] for e, of in _SOURCES[n].items() if of == kind]
        word = draw(st.sampled_from(["", "LEFT "]))
        text += f" {word}JOIN {names[i]} s{i} ON s{i}.{mine} = {draw(st.sampled_from(others or ['s0.n']))}"
    return text, sources


@st.composite
def selects(draw: Any) -> str:
    """One SELECT, mostly one that can be planned."""
    source, sources = _from(draw)
    dotted = {called: f"{called}." if called else "" for called, _ in sources}
    columns = {f"{dotted[called]}{name}": of for called, rel in sources for name, of in _SOURCES[rel].items()}
    rows, grouped = _Columns(columns), draw(st.booleans())
    groups = draw(st.lists(st.one_of(rows.column(), rows.column(), rows.any()), max_size=2)) if grouped else []
    shown = rows.aggregate() if grouped else rows.any()
    items = [f"{group} AS g{i}" for i, group in enumerate(groups) if draw(st.booleans())]
    items += [f"{draw(shown)} AS i{i}" for i in range(draw(st.integers(1, 2)))]
    text = f"SELECT {', '.join(items)} FROM {source}"
    text += f" WHERE {draw(rows.conditions())}" if draw(st.booleans()) else ""
    text += f" GROUP BY {', '.join(groups)}" if groups else ""
    if grouped and draw(st.booleans()):
        text += f" HAVING {draw(rows.aggregate())} IS NOT NULL AND SUM({draw(rows.leaf('number'))} * 1) > 1"
    if draw(st.sampled_from([False, True])):
        keys = groups if grouped else [f"{dotted[called]}{key}" for called, rel in sources for key in _KEYS[rel]]
        ordered = st.builds(
            "{}{}{}".format, shown, st.sampled_from(["", " DESC"]), st.sampled_from(["", " NULLS FIRST"])
        )
        order = [*draw(st.lists(ordered, max_size=1)), *keys]
        by = f"PARTITION BY {draw(st.sampled_from(groups or list(columns)))} " if draw(st.booleans()) else ""
        text += f" QUALIFY ROW_NUMBER() OVER ({by}ORDER BY {', '.join(order or ['1'])}) <= {draw(st.integers(1, 3))}"
    return text


def queries() -> st.SearchStrategy[str]:
    """Queries of one SELECT, seldom of two."""
    return st.one_of(selects(), selects(), selects(), st.builds("{} UNION ALL {}".format, selects(), selects()))


def check_plan(view: View, catalog: Catalog) -> None:
    """Check that the stages of a view fit each other and what they read."""
    known: dict[str, Relation] = {}
    for number, stage in enumerate(view.stages):
        inputs = [known.get(name) or catalog.named(name) for name in stage.operator.inputs]
        assert all(each is not None for each in inputs), stage
        last = number == len(view.stages) - 1
        relation = known[stage.relation.name] = stage.relation
        assert (relation.name == view.name) is last
        assert (relation.topic, relation.born) == ("", view.born)
        assert len({column.name for column in relation.columns}) == len(relation.columns) > 0
        assert set(relation.key) <= {column.name for column in relation.columns}
        assert set(relation.bucket_by) <= {column.name for column in relation.columns}
        _check_columns(stage.operator, relation, [each for each in inputs if each is not None])
    assert set(view.reads) <= {name for stage in view.stages for name in stage.operator.inputs}


def _check_columns(operator: object, made: Relation, inputs: list[Relation]) -> None:
    types = [column.type for column in made.columns]
    first = {column.name: column for column in inputs[0].columns}
    match operator:
        case Map():
            assert types == [item.type for item in operator.items]
            for item, column in zip(operator.items, made.columns, strict=True):
                check_expression(item, first)
                assert column.nullable or not _may_be_null(item, first)
            for condition in operator.where:
                _check_condition(condition, first)
        case GroupBy() | Fold():
            taken = [first[name].type for name in operator.by]
            assert types == [*taken, *(each.type for each in operator.aggregates)]
            for each in operator.aggregates:
                assert (each.column is None) <= (each.kind == "COUNT")
                assert (each.by is not None) is (each.kind == "LATEST")
                assert {each.column, each.by} - {None} <= first.keys()
            assert made.key == tuple(column.name for column in made.columns[: len(operator.by)])
            if isinstance(operator, Fold):
                _check_fold(operator)
        case TopK():
            assert types[: len(first)] == [column.type for column in inputs[0].columns]
            assert len(types) == len(first) + operator.ranked
            named = {*operator.by, *(by.column for by in operator.order)}
            assert inputs[0].key and set(inputs[0].key) <= named <= first.keys()
            assert operator.order and operator.k > 0
        case Joined():
            assert types == [column.type for relation in inputs for column in relation.columns]
            for left, right in operator.equal:
                assert left in first
                assert inputs[1].column(right)
            assert operator.lookup is (bool(inputs[1].key) and set(inputs[1].key) <= {r for _, r in operator.equal})
        case Union():
            assert all([column.type for column in relation.columns] == types for relation in inputs)


def _check_fold(operator: Fold) -> None:
    """Check that each group has what it is told on by."""
    kept = {(each.kind, each.column) for each in operator.aggregates}
    assert operator.by and len(set(operator.aggregates)) == len(operator.aggregates)
    for each in operator.aggregates:
        if each.kind == "AVG":
            assert {("SUM", each.column), ("COUNT", each.column)} <= kept
        if each.kind == "LATEST":
            assert ("MAX", each.by) in kept
        if each.kind in ("SUM", "AVG"):
            sums = [one.type.kind for one in operator.aggregates if (one.kind, one.column) == ("SUM", each.column)]
            assert sums and Kind.DOUBLE not in sums


def check_expression(one: Expression, columns: dict[str, Column]) -> None:
    """Check that an expression reads columns that there are, as what they are."""
    match one:
        case ColumnOf():
            assert columns[one.name].type == one.type
        case Constant():
            assert isinstance(one.value, int if one.type.coded else str)
        case Arithmetic():
            check_expression(one.left, columns)
            check_expression(one.right, columns)
        case Coalesce():
            for operand in one.operands:
                check_expression(operand, columns)
        case Truncated():
            check_expression(one.operand, columns)


def _check_condition(condition: Condition, columns: dict[str, Column]) -> None:
    match condition:
        case Comparison():
            check_expression(condition.left, columns)
            check_expression(condition.right, columns)
        case Among():
            check_expression(condition.operand, columns)
            assert condition.values
        case IsNull():
            check_expression(condition.operand, columns)


def _may_be_null(one: Expression, columns: dict[str, Column]) -> bool:
    match one:
        case ColumnOf():
            return columns[one.name].nullable
        case Arithmetic():
            return _may_be_null(one.left, columns) or _may_be_null(one.right, columns)
        case Coalesce():
            return all(_may_be_null(each, columns) for each in one.operands)
        case Truncated():
            return _may_be_null(one.operand, columns)
    return False
