"""The running answer of a join: the bag of what pairs (or more) of rows make, each as long as all of its rows hold.

    quote      A 10 [3, 7)   A 12 [7, ...)        filing    A 10-K [5, 9)
    joined     A 10 10-K [5, 7)        A 12 10-K [7, 9)

Versions with their intervals are joined by DuckDB: intervals that overlap each other pairwise have a part in common.
What ends and begins at one seq is what one record did, to whatever rows of whatever tables, and is netted there as for
a filter (`bag_answers`). Nothing is followed from one change to the next.

    WITH source_0 AS (SELECT price AS "0.price", ... FROM quote), rows_0 AS (SELECT * FROM source_0 WHERE ...),
    joined AS (SELECT *, greatest(...) AS __from, least(...) AS __to FROM rows_0 JOIN rows_1 ON "0.symbol" = "1.symbol"
    AND "0.__from" < "1.__to" AND "1.__from" < "0.__to") SELECT __from, __to, "0.__rank_3" FROM joined ORDER BY __from

Columns of different number types are equal where they are the same number, which DuckDB would round before it compares:
their exact values are then compared, as texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import duckdb
import pyarrow as pa

from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.input.declared_views import View
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.recompute.history import History
from tidewire.verification.recompute.range_bounds import beside_ranges
from tidewire.verification.records.join_question import JoinQuestion, Named, Node, Place, columns_in, flat
from tidewire.verification.records.lexer import quoted
from tidewire.verification.records.literals import all_of, make_exact
from tidewire.verification.records.question import Unreadable
from tidewire.verification.records.range_conditions import RangeConditions, derived_name
from tidewire.verification.records.wide_decimals import key_column, wide_digits

_FROM, _TO = "__from", "__to"


def joined_answers(
    question: JoinQuestion, named: Named, tables: Sequence[Table | View], histories: Mapping[str, History]
) -> BagAnswers:
    """Return the running answer; `tables`, or views, are those of the sources, `histories` by the lower-case name.

    *Cost*: a hash join of the versions that meet the conditions of their tables, as many pairs as have equal columns,
    overlap or not; then as a filter of those that overlap. Raises Unreadable if DuckDB cannot run a condition.
    """
    statement = _Statement(question, named, tables, histories)
    database = next(iter(histories.values())).database
    ranks = [statement.rank(place) for place in named.shown]
    chosen = ", ".join([_FROM, _TO, *(f"coalesce({rank}, 0) AS r{i}" for i, rank in enumerate(ranks))])
    try:
        text = f"{statement.head(database)} SELECT {chosen} FROM ({statement.across(database)}) ORDER BY {_FROM}"
        found = database.execute(text).fetchnumpy()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    measures = [statement.history(place).measures[place[1]] for place in named.shown]
    rows = list(zip(*(found[f"r{i}"].tolist() for i in range(len(ranks))), strict=True))
    return BagAnswers(measures, found[_FROM].tolist(), found[_TO].tolist(), rows, (), question.policy)


class _Statement:
    """The parts of the SELECT of one question."""

    def __init__(
        self, question: JoinQuestion, named: Named, tables: Sequence[Table | View], histories: Mapping[str, History]
    ) -> None:
        self._question = question
        self._named = named
        self._histories = histories
        every = [beside_ranges(table.columns) for table in tables]
        self._types = [{column.name.lower(): column.type for column in columns} for columns in every]
        self._flat_types = {
            flat((i, name)): type for i, types in enumerate(self._types) for name, type in types.items()
        }
        self._mixed = [pair for pair in named.equalities if len({self._type(place) for place in pair}) > 1]

    def history(self, place: Place) -> History:
        """Return the history of a column's table."""
        return self._histories[self._question.sources[place[0]].table]

    def rank(self, place: Place) -> str:
        """Return the ranks of a column that is shown, by their name in the joined rows."""
        return quoted(flat((place[0], self.history(place).ranks[place[1]])))

    def head(self, database: duckdb.DuckDBPyConnection) -> str:
        """Return the WITH clause that makes the relation `joined`."""
        made = []
        for i in range(len(self._types)):
            made.append(f"source_{i} AS ({self._source(i)})")
            made.append(f"rows_{i} AS ({self._selection(database, f'source_{i}', self._named.about(i))})")
        return f"WITH {', '.join(made)}, joined AS ({self._joined()})"

    def across(self, database: duckdb.DuckDBPyConnection) -> str:
        """Return the SELECT of the joined rows that meet the conditions over several tables."""
        return self._selection(database, "joined", self._named.across)

    def _type(self, place: Place) -> str:
        return self._types[place[0]][place[1]]

    def _source(self, i: int) -> str:
        """Return the SELECT of what is needed of a table, under names of the whole join."""
        table = self._question.sources[i].table
        columns = {name: quoted(name) for name in (_FROM, _TO)}
        columns |= {name: name for name in self._histories[table].ranks.values()}
        for node in columns_in(list(self._named.conditions)):
            source, _, name = node["column_names"][0].partition(".")
            if int(source) == i:
                columns |= {each: quoted(each) for each in self._with_parts(i, name)}
        chosen = [f"{expression} AS {quoted(flat((i, name)))}" for name, expression in columns.items()]
        wide = [name for name in columns if wide_digits(self._types[i].get(name, "")) is not None]
        chosen += [f"{key_column(name)} AS {quoted(key_column(flat((i, name))))}" for name in wide]
        chosen += [f"{name}.number AS {name}" for name in (quoted(_numbered(place)) for place in self._mixed_of(i))]
        return f"SELECT {', '.join(chosen)} FROM {quoted(self._histories[table].name)}{self._numbers(i)}"

    def _with_parts(self, i: int, name: str) -> list[str]:
        """Return a column and, of a range, those that stand beside it."""
        column = Column(name, self._types[i].get(name, ""), True)
        return [each.name for each in beside_ranges([column])]

    def _mixed_of(self, i: int) -> list[Place]:
        return sorted({place for pair in self._mixed for place in pair if place[0] == i})

    def _numbers(self, i: int) -> str:
        """Return the joins of a source with the numbers of its columns."""
        parts = []
        for place in self._mixed_of(i):
            name = quoted(_numbered(place))
            rank = self.history(place).ranks[place[1]]
            parts.append(f" LEFT JOIN {_exact_values(self.history(place), place[1])} AS {name} ON {name}.rank = {rank}")
        return "".join(parts)

    def _selection(self, database: duckdb.DuckDBPyConnection, relation: str, conditions: list[Node]) -> str:
        if not conditions:
            return f"SELECT * FROM {relation}"
        params = self._question.params
        ranges = RangeConditions(database, self._flat_types, params, _part_of)
        exact = [make_exact(ranges.rewritten(condition), self._flat_types, params) for condition in conditions]
        [(text,)] = database.execute("SELECT json_serialize_sql(?)", [f"SELECT * FROM {relation}"]).fetchall()
        tree = json.loads(text)
        tree["statements"][0]["node"]["where_clause"] = all_of(exact)
        [(text,)] = database.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchall()
        return str(text)

    def _joined(self) -> str:
        count = len(self._types)
        begins, ends = ([quoted(flat((i, side))) for i in range(count)] for side in (_FROM, _TO))
        parts = [f"SELECT *, greatest({', '.join(begins)}) AS {_FROM}, least({', '.join(ends)}) AS {_TO} FROM rows_0"]
        for i in range(1, count):
            overlaps = [f"{begins[j]} < {ends[i]} AND {begins[i]} < {ends[j]}" for j in range(i)]
            parts.append(f"JOIN rows_{i} ON {' AND '.join([*self._equal_up_to(i), *overlaps])}")
        within = " AND ".join(self._equal_up_to(0))
        return " ".join(parts) + (f" WHERE {within}" if within else "")

    def _equal_up_to(self, i: int) -> Iterator[str]:
        """Yield the equalities of source `i` with those before it, and within itself."""
        for pair in self._named.equalities:
            if max(place[0] for place in pair) == i:
                yield " = ".join(quoted(_numbered(place) if pair in self._mixed else flat(place)) for place in pair)


def _part_of(part: str, column: str) -> str:
    """Return the name of what stands beside a range column of a join."""
    source, dot, name = column.partition(".")
    return source + dot + derived_name(part, name)


def _numbered(place: Place) -> str:
    return flat((place[0], f"__number_{place[1]}"))


def _exact_values(history: History, column: str) -> str:
    """Return the name of a table (rank, number) of a column: equal numbers of any columns are the same text in it."""
    measure = history.measures[column]
    if not measure.is_number:
        raise Unreadable(f"`{column}` of {measure.type} is compared with another type")
    texts = [_text(Fraction(units, measure.one)) for units in measure.units[1:]]
    values = pa.table({"rank": pa.array(range(1, len(texts) + 1), pa.int64()), "number": pa.array(texts, pa.string())})
    name = quoted(f"numbers of {history.name}.{column}")
    history.database.register("__numbers", values)
    history.database.execute(f"CREATE TABLE IF NOT EXISTS {name} AS SELECT * FROM __numbers")
    return name


def _text(exact: Fraction) -> str:
    return f"{exact.numerator}/{exact.denominator}"
