"""A view's SELECT, parsed by DuckDB and read from its tree: which columns are meant, of which types the results are.

    LATEST(x BY t)              is no SQL, so it is read as LATEST(x, t), and MAX_BY(x, t) is the same; of equal t the
                                greatest key counts, or the greatest x where what is read has no key of columns
    names                       a column of what is read, else an item of the SELECT list
    whole numbers               stay such; what is computed of them is HUGEINT, as nothing overflows
    DECIMAL                     the digits behind the point of + - are the most of both sides, of * those of both
    DOUBLE                      what a DOUBLE or REAL takes part in; AVG
    a constant beside a column  a value of the column's type: nearest for a DOUBLE or REAL, of texts a date, a number

What no view may say is not looked for here: it never gets into the catalog.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from tidewire.verification.input.column import Column
from tidewire.verification.input.view_plan import (
    FLOATS,
    INTEGERS,
    Aggregate,
    Call,
    Expression,
    Field,
    From,
    Group,
    Join,
    Literal,
    Named,
    Order,
    Ranking,
    Select,
    scale_of,
)
from tidewire.verification.records.attributes import EVERYBODY, Audience
from tidewire.verification.records.lexer import is_word, lexemes, quote_names
from tidewire.verification.records.range_values import bounds_of, point
from tidewire.verification.records.ranges import canonical, element_of, is_range
from tidewire.verification.records.rounding import nearest_real, number_of

Node = dict[str, Any]
_COMPARED = {
    "COMPARE_EQUAL": "=", "COMPARE_NOTEQUAL": "<>", "COMPARE_LESSTHAN": "<", "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">", "COMPARE_GREATERTHANOREQUALTO": ">=",
}  # fmt: skip
_AGGREGATES = ("count_star", "count", "sum", "avg", "min", "max", "latest", "max_by")
_UNITS = ("minute", "hour", "day")
_OF_RANGES = {"&&": "&&", "@>": "<@", "<@": "@>"}
"""Operators of ranges, and what each is with its sides exchanged."""
_ODD = ("alias", "query_location", "query_location_length")
"""Members of the tree that say nothing of what is meant; the alias of an item of the SELECT list does."""


class NoView(Exception):
    """A statement about views that does not apply, or none that is known here."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table or view that may be read; `key` are the columns that tell its rows apart, () where none are known.

    `audience` says for whom its rows are.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    audience: Audience = EVERYBODY


@dataclass(frozen=True, slots=True)
class Plan:
    """What a view's query says. `reads` are in lower case, in the order of the text; `tree` is DuckDB's, as JSON."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    selects: tuple[Select, ...]
    reads: tuple[str, ...]
    tree: str


def planned(scratch: duckdb.DuckDBPyConnection, query: str, sources: Mapping[str, Source]) -> Plan:
    """Read a query over `sources`, which are by lower-case name. Raises NoView."""
    names = {column.name.lower() for source in sources.values() for column in source.columns}
    try:
        text = quote_names(_with_commas(query), names)
        [(made,)] = scratch.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        tree = json.loads(made)
        [statement] = tree["statements"]
        return _planned(statement["node"], sources)
    except (duckdb.Error, KeyError, IndexError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NoView(f"no view: {error!r}") from None


def _with_commas(query: str) -> str:
    """Return the query with a comma for BY in LATEST(x BY t)."""
    parts, within, word = list[str](), list[bool](), ""
    for lexeme in (match[0] for match in lexemes(query)):
        if lexeme == "(":
            within.append(word == "latest")
        elif lexeme == ")" and within:
            within.pop()
        by = bool(within) and within[-1] and lexeme.lower() == "by"
        parts.append("," if by else lexeme)
        if not lexeme.isspace():
            word = lexeme.lower() if is_word(lexeme) else ""
    return "".join(parts)


def _planned(node: Node, sources: Mapping[str, Source]) -> Plan:
    nodes = node["children"] if node["type"] == "SET_OPERATION_NODE" else [node]
    if node["type"] == "SET_OPERATION_NODE" and (node["setop_type"] != "UNION" or not node["setop_all"]):
        raise NoView("a UNION of different rows")
    reads: dict[str, None] = {}
    several = [_Reader(one, sources, reads) for one in nodes]
    selects = [one.select() for one in several]
    columns, selects = _in_common([one.columns(made) for one, made in zip(several, selects, strict=True)], selects)
    if len({column.name.lower() for column in columns}) < len(columns):
        raise NoView("two columns of one name")
    key = several[0].key(selects[0], columns) if len(selects) == 1 else ()
    return Plan(columns, key, tuple(selects), tuple(reads), json.dumps(_meant(node)))


def _in_common(
    columns: Sequence[Sequence[Column]], selects: Sequence[Select]
) -> tuple[tuple[Column, ...], list[Select]]:
    """Return the columns that several SELECTs have together, named as the first one's, and these with such values."""
    if len({len(some) for some in columns}) != 1:
        raise NoView("SELECTs of different widths")
    types = [_together([column.type for column in some]) for some in zip(*columns, strict=True)]
    made = [Column(column.name, type, True) for column, type in zip(columns[0], types, strict=True)]
    return tuple(made), [_with_types(select, types) for select in selects]


def _with_types(select: Select, types: Sequence[str]) -> Select:
    items = tuple(
        item if item.type == type else Call("coalesce", (item,), type)
        for item, type in zip(select.items, types, strict=True)
    )
    return Select(
        select.source, select.where, select.group, select.having, select.ranking, select.qualify, items
    )  # fmt: skip


def _meant(node: Any) -> Any:
    """Return a tree without what does not count in it."""
    if isinstance(node, list):
        return [_meant(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {name: _meant(child) for name, child in node.items() if name not in _ODD or (name == "alias" and child)}


@dataclass(slots=True)
class _Scope:
    """The columns of the row that a FROM clause makes: of each what qualifies it, and the places of the row's key."""

    columns: list[tuple[str, Column]] = field(default_factory=list)
    key: list[int] | None = field(default_factory=list)

    def place(self, names: Sequence[str]) -> int | None:
        """Return the place of the column that a name means, None if there is none. Raises NoView if it means two."""
        *qualifier, name = (one.lower() for one in names)
        found = [
            place
            for place, (source, column) in enumerate(self.columns)
            if column.name.lower() == name and qualifier in ([], [source])
        ]
        if len(found) > 1:
            raise NoView(f"{len(found)} columns `{name}`")
        return found[0] if found else None


class _Reader:
    """Reads one SELECT."""

    def __init__(self, node: Node, sources: Mapping[str, Source], reads: dict[str, None]) -> None:
        if node["type"] != "SELECT_NODE" or node["modifiers"] or node["cte_map"]["map"] or node["sample"]:
            raise NoView("no plain SELECT")
        self._node = node
        self._sources = sources
        self._reads = reads
        self._scope = _Scope()
        self._aggregates: list[Aggregate] = []
        self._by: list[Expression] = []
        self._ranking: Ranking | None = None
        self._rank_place = 0
        self._names: list[str] = []

    def select(self) -> Select:
        """Return what it says."""
        node = self._node
        source = self._from(node["from_table"])
        where = None if node["where_clause"] is None else self._of_row(node["where_clause"])
        if node["group_sets"] not in ([], [list(range(len(node["group_expressions"])))]):
            raise NoView("GROUPING SETS")
        items = self._expanded(node["select_list"])
        self._by = list(dict.fromkeys(self._of_row(one) for one in node["group_expressions"]))
        groups = bool(self._by) or node["having"] is not None or any(map(_aggregates_in, items))
        of = self._of_group if groups else self._of_row
        having = None if node["having"] is None else of(node["having"])
        windows = [one for item in [*items, node["qualify"]] for one in _windows_in(item)]
        if windows:
            self._rank(windows, _most(node["qualify"]), of)
        qualify = None if node["qualify"] is None else of(node["qualify"])
        computed = tuple(of(item) for item in items)
        self._names = [_name_of(item) for item in items]
        group = Group(tuple(self._by), tuple(self._aggregates)) if groups else None
        if self._ranking is not None:  # how many aggregates there are is known by now
            width = len(self._by) + len(self._aggregates) if groups else len(self._scope.columns)
            having, qualify, *moved = (_moved(one, self._rank_place, width) for one in (having, qualify, *computed))
            computed = tuple(one for one in moved if one is not None)
        return Select(source, where, group, having, self._ranking, qualify, computed)

    def columns(self, select: Select) -> list[Column]:
        """Return the columns of the result."""
        return [Column(name, item.type, True) for name, item in zip(self._names, select.items, strict=True)]

    def key(self, select: Select, columns: Sequence[Column]) -> tuple[str, ...]:
        """Return the columns that tell rows of the result apart, () where it does not show them all."""
        places = list(range(len(self._by))) if select.group is not None else self._scope.key
        shown = {item.place: column.name for item, column in reversed(list(zip(select.items, columns, strict=True)))
                 if isinstance(item, Field)}  # fmt: skip
        if not places or not set(places) <= shown.keys():
            return ()
        if select.group is not None:  # in the order of the items
            return tuple(name for place, name in reversed(shown.items()) if place in places)
        return tuple(shown[place] for place in places)

    # -- FROM -----------------------------------------------------------------------------------------------------

    def _from(self, node: Node) -> From:
        if node["type"] == "BASE_TABLE":
            return self._named(node)
        if node["type"] != "JOIN" or node["join_type"] not in ("INNER", "LEFT") or node["ref_type"] != "REGULAR":
            raise NoView(f"a join of type {node.get('join_type')}")
        if node["using_columns"]:
            raise NoView("USING")
        left = self._from(node["left"])
        width, left_key = len(self._scope.columns), self._scope.key
        self._scope.key = []
        right = self._from(node["right"])
        if not isinstance(right, Named):
            raise NoView("a join in parentheses")
        equal, others = list[tuple[int, int]](), list[Expression]()
        for one in _conjuncts(node["condition"]):
            condition = self._of_row(one)
            pair = _equal_places(condition, width)
            if pair is None:
                others.append(condition)
            else:
                equal.append(pair)
        right_key = self._scope.key
        lookup = bool(right_key) and {place - width for place in right_key or ()} <= {place for _, place in equal}
        self._scope.key = left_key if lookup else _both(left_key, right_key)
        also = None if not others else others[0] if len(others) == 1 else Call("and", tuple(others), "BOOLEAN")
        return Join(left, right, tuple(equal), also, node["join_type"] == "LEFT", lookup)

    def _named(self, node: Node) -> Named:
        name = node["table_name"].lower()
        if name not in self._sources or node["schema_name"] or node["column_name_alias"]:
            raise NoView(f"no table or view `{name}`")
        source, first = self._sources[name], len(self._scope.columns)
        qualifier = (node["alias"] or name).lower()
        if any(qualifier == known for known, _ in self._scope.columns):
            raise NoView(f"`{qualifier}` twice")
        self._reads[name] = None
        self._scope.columns += [(qualifier, column) for column in source.columns]
        names = [column.name.lower() for column in source.columns]
        known = [first + names.index(one.lower()) for one in source.key]
        self._scope.key = known or None
        return Named(name, len(source.columns))

    def _expanded(self, items: Sequence[Node]) -> list[Node]:
        """Return the SELECT list with columns in place of each `*`."""
        made: list[Node] = []
        for item in items:
            if item["class"] != "STAR":
                made.append(item)
                continue
            if item["exclude_list"] or item["replace_list"] or item["columns"] or item["rename_list"]:
                raise NoView("a part of all columns")
            of = item["relation_name"].lower()
            chosen = [(source, column) for source, column in self._scope.columns if of in ("", source)]
            if not chosen:
                raise NoView(f"no `{of}`")
            made += [
                {"class": "COLUMN_REF", "alias": "", "column_names": [source, column.name]} for source, column in chosen
            ]
        return made

    # -- expressions ----------------------------------------------------------------------------------------------

    def _of_row(self, node: Node) -> Expression:
        """Return an expression over the row of the FROM clause."""
        if node["class"] == "COLUMN_REF":
            place = self._scope.place(node["column_names"])
            if place is None:
                return self._of_row(self._item(node))
            return Field(place, self._scope.columns[place][1].type)
        if node["class"] == "WINDOW":
            return Field(self._rank_place, "BIGINT")
        if _is_aggregate(node):
            raise NoView("an aggregate of single rows")
        return _computed(node, self._of_row)

    def _of_group(self, node: Node) -> Expression:
        """Return an expression over the row of a group."""
        if node["class"] == "WINDOW":
            return Field(self._rank_place, "BIGINT")
        if _is_aggregate(node):
            aggregate = self._aggregate(node)
            if aggregate not in self._aggregates:
                self._aggregates.append(aggregate)
            return Field(len(self._by) + self._aggregates.index(aggregate), aggregate.type)
        if not _aggregates_in(node) and not _windows_in(node):
            whole = self._of_row(node)
            if whole in self._by:
                return Field(self._by.index(whole), whole.type)
        if node["class"] == "COLUMN_REF":
            if self._scope.place(node["column_names"]) is not None:
                raise NoView(f"`{node['column_names'][-1]}` is neither grouped by nor aggregated")
            return self._of_group(self._item(node))
        return _computed(node, self._of_group)

    def _item(self, reference: Node) -> Node:
        """Return the item of the SELECT list that a name means."""
        found = [
            item for item in self._node["select_list"]
            if [item["alias"].lower()] == [name.lower() for name in reference["column_names"]]
        ]  # fmt: skip
        if len(found) != 1 or found[0] is reference:
            raise NoView(f"no column `{'.'.join(reference['column_names'])}`")
        item: Node = found[0]
        return item

    def _aggregate(self, node: Node) -> Aggregate:
        name = node["function_name"].lower()
        if node["filter"] is not None or node["distinct"] or node["order_bys"]["orders"]:
            raise NoView(f"{name} of a part of the rows")
        operands = [self._of_row(one["expression"]) for one in node["arguments"]]
        if name == "count_star":
            return Aggregate("count", None, (), "BIGINT")
        if name in ("latest", "max_by"):
            of, by = operands
            key: list[Expression] = [
                Field(place, self._scope.columns[place][1].type) for place in self._scope.key or ()
            ]
            return Aggregate("latest", of, (by, *(key or [of])), of.type)
        [of] = operands
        if name == "sum":
            return Aggregate(name, of, (), _result("+", of.type, of.type))
        return Aggregate(name, of, (), {"count": "BIGINT", "avg": "DOUBLE"}.get(name, of.type))

    def _rank(self, windows: Sequence[Node], most: int | None, of: Callable[[Node], Expression]) -> None:
        """Read the ROW_NUMBER() that there is. Where its places will stand is not known yet: `_moved`."""
        first = windows[0]
        if any(_meant({**one, "alias": ""}) != _meant({**first, "alias": ""}) for one in windows):
            raise NoView("two different windows")
        if first["type"] != "WINDOW_ROW_NUMBER" or first["filter_expr"] is not None:
            raise NoView(f"{first['type']}")
        by = tuple(of(one) for one in first["partitions"])
        self._ranking = Ranking(by, tuple(_order(one, of) for one in first["orders"]), most)
        self._rank_place = _RANK


_RANK = 1_000_000
"""Stands for the place behind all columns until it is known how many there are."""


def _moved(expression: Expression | None, place: int, to: int) -> Expression | None:
    if isinstance(expression, Field):
        return Field(to, expression.type) if expression.place == place else expression
    if isinstance(expression, Call):
        moved = (_moved(operand, place, to) for operand in expression.operands)
        return Call(expression.operator, tuple(one for one in moved if one is not None), expression.type)
    return expression


def _order(node: Node, of: Callable[[Node], Expression]) -> Order:
    """Read a member of ORDER BY. NULL is the greatest of all where nothing is said of it, as in PostgreSQL."""
    descending, nulls = node["type"] == "DESCENDING", node["null_order"]
    first = descending if nulls == "ORDER_DEFAULT" else nulls.replace("_", " ") == "NULLS FIRST"
    return Order(of(node["expression"]), descending, first)


def _most(qualify: Node | None) -> int | None:
    """Return how many rows of a group can pass QUALIFY, None where it does not say that."""
    for one in _conjuncts(qualify):
        if one["class"] == "COMPARISON" and one["left"]["class"] == "WINDOW" and one["right"]["class"] == "CONSTANT":
            number = int(one["right"]["literal"]["text"])
            most = {"<=": number, "=": number, "<": number - 1}.get(_COMPARED.get(one["type"], ""))
            if most is not None:
                return max(most, 0)
    return None


def _both(one: list[int] | None, other: list[int] | None) -> list[int] | None:
    return None if one is None or other is None else one + other


def _equal_places(condition: Expression, width: int) -> tuple[int, int] | None:
    """Return the places, each in its own side, of columns of both sides of a join that must be equal."""
    if not isinstance(condition, Call) or condition.operator != "=":
        return None
    places = sorted(one.place for one in condition.operands if isinstance(one, Field))
    types = {one.type for one in condition.operands}
    if len(places) < 2 or not places[0] < width <= places[1] or {"DATE", "TIMESTAMP"} <= types:
        return None
    return places[0], places[1] - width


def _conjuncts(node: Node | None) -> list[Node]:
    if node is None:
        return []
    if node["class"] == "CONJUNCTION" and node["type"] == "CONJUNCTION_AND":
        return [one for child in node["children"] for one in _conjuncts(child)]
    return [node]


def _is_aggregate(node: Node) -> bool:
    return node["class"] == "FUNCTION" and node["function_name"].lower() in _AGGREGATES


def _nodes_in(node: Any) -> list[Node]:
    """Return all nodes of a tree that have a class."""
    if isinstance(node, list):
        return [one for child in node for one in _nodes_in(child)]
    if not isinstance(node, dict):
        return []
    below = _nodes_in(list(node.values()))
    return [node, *below] if "class" in node else below


def _aggregates_in(node: Any) -> bool:
    return any(_is_aggregate(one) for one in _nodes_in(node))


def _windows_in(node: Any) -> list[Node]:
    return [one for one in _nodes_in(node) if one["class"] == "WINDOW"]


def _name_of(item: Node) -> str:
    if item["alias"]:
        return str(item["alias"])
    if item["class"] == "COLUMN_REF":
        return str(item["column_names"][-1])
    if item["class"] in ("FUNCTION", "WINDOW"):
        return str(item["function_name"])
    raise NoView("an item without a name")


# -- of operands ------------------------------------------------------------------------------------------------------


def _computed(node: Node, of: Callable[[Node], Expression]) -> Expression:
    """Return what a node computes of its operands, which `of` reads."""
    kind = node["class"]
    if kind == "CONSTANT":
        return _literal(node["literal"])
    if kind == "CAST":
        return _typed(of(node["child"]), node["type_expr"]["type_name"].upper())
    if kind == "FUNCTION":
        return _function(node["function_name"].lower(), [of(one["expression"]) for one in node["arguments"]])
    if kind == "COMPARISON":
        return _compared(_COMPARED[node["type"]], of(node["left"]), of(node["right"]))
    if kind == "BETWEEN":
        value, lower, upper = (of(node[side]) for side in ("input", "lower", "upper"))
        return Call("and", (_compared(">=", value, lower), _compared("<=", value, upper)), "BOOLEAN")
    if kind == "CONJUNCTION":
        name = "and" if node["type"] == "CONJUNCTION_AND" else "or"
        return Call(name, tuple(of(child) for child in node["children"]), "BOOLEAN")
    if kind == "OPERATOR":
        return _operator(node["type"], [of(child) for child in node["children"]])
    raise NoView(kind)


def _operator(kind: str, operands: list[Expression]) -> Expression:
    if kind == "OPERATOR_COALESCE":
        fixed = next((one for one in operands if not isinstance(one, Literal)), operands[0])
        sides = [_beside(fixed, one) for one in operands]
        return Call("coalesce", tuple(sides), _together([one.type for one in sides]))
    if kind in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"):
        null = Call("null", tuple(operands), "BOOLEAN")
        return null if kind == "OPERATOR_IS_NULL" else Call("not", (null,), "BOOLEAN")
    if kind == "OPERATOR_NOT":
        return Call("not", tuple(operands), "BOOLEAN")
    if kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
        value, *members = operands
        among = Call("in", (value, *(_beside(value, one) for one in members)), "BOOLEAN")
        return among if kind == "COMPARE_IN" else Call("not", (among,), "BOOLEAN")
    raise NoView(kind)


def _function(name: str, operands: list[Expression]) -> Expression:
    if name in ("+", "-", "*"):
        *first, right = operands
        if not first and isinstance(right, Literal) and name == "-":
            return Literal(None if right.value is None else -right.value, right.type)
        left = first[0] if first else Literal(0, "INTEGER")
        return Call(name, (left, right), _result(name, left.type, right.type))
    if name == "date_trunc":
        unit, moment = operands
        word = str(unit.value).lower() if isinstance(unit, Literal) else ""
        if word in _UNITS:
            return Call(f"trunc-{word}", (moment,), "TIMESTAMP")
    if name in _OF_RANGES:
        return _of_ranges(name, *operands)
    if name in ("lower", "upper", "isempty"):
        [of] = operands
        if not is_range(of.type):
            raise NoView(f"{name}() of {of.type}")
        return Call("empty", (of,), "BOOLEAN") if name == "isempty" else Call(name, (of,), element_of(of.type))
    raise NoView(f"{name}()")


def _of_ranges(name: str, left: Expression, right: Expression) -> Call:
    """Read an operator of ranges, of a column and a constant on either side."""
    if isinstance(left, Literal):
        left, right, name = right, left, _OF_RANGES[name]
    if not isinstance(right, Literal) or not is_range(left.type):
        raise NoView(f"{left.type} {name} {right.type}")
    value = right.value
    if value is not None:
        value = bounds_of(left.type, value) if isinstance(value, str) else point(left.type, value)
    return Call(name, (left, Literal(value, left.type)), "BOOLEAN")


def _compared(name: str, left: Expression, right: Expression) -> Call:
    return Call(name, (_beside(right, left), _beside(left, right)), "BOOLEAN")


def _beside(other: Expression, constant: Expression) -> Expression:
    """Return a constant as what it is compared with has it."""
    if not isinstance(constant, Literal) or isinstance(other, Literal) or constant.value is None:
        return constant
    if isinstance(constant.value, str):
        return _typed(constant, other.type)
    if constant.type == "DATE" and other.type == "TIMESTAMP":
        return Literal(dt.datetime.combine(constant.value, dt.time()), "TIMESTAMP")
    if other.type == "FLOAT" and not isinstance(constant.value, bool):
        return Literal(nearest_real(str(constant.value)), "FLOAT")
    if other.type == "DOUBLE" and not isinstance(constant.value, bool):
        return Literal(float(constant.value), "DOUBLE")
    return constant


def _literal(literal: Node) -> Literal:
    kind, text = literal["kind"], literal["text"]
    if kind == "NULL_LITERAL":
        return Literal(None, "NULL")
    if kind == "BOOLEAN":
        return Literal(text.lower() == "true", "BOOLEAN")
    if kind == "STRING":
        return Literal(text, "VARCHAR")
    return _exact(text)


def _exact(text: str) -> Literal:
    """Return the number that a text is, with or without an exponent."""
    number = number_of(text)
    scale = max(-int(number.as_tuple().exponent), 0)
    return Literal(number, _decimal_type(scale)) if scale else Literal(int(number), "HUGEINT")


def _typed(constant: Expression, type: str) -> Expression:
    """Return a text as a constant of another type, as it is written in DATE '2026-03-01'."""
    if not isinstance(constant, Literal):
        raise NoView(f"a cast to {type}")
    value = constant.value
    if not isinstance(value, str) or type == "VARCHAR":
        return constant
    if is_range(type):
        return Literal(canonical(type, value), type)
    if type in ("DATE", "TIMESTAMP"):
        moment = dt.datetime.fromisoformat(value.strip())
        whole = type == "DATE" and moment.time() == dt.time()
        return Literal(moment.date() if whole else moment, "DATE" if whole else "TIMESTAMP")
    if type == "BOOLEAN":
        return Literal(value.strip().lower() in ("true", "t", "yes", "on", "1"), type)
    return Literal(nearest_real(value), type) if type == "FLOAT" else (
        Literal(float(value), type) if type == "DOUBLE" else _exact(value.strip())
    )  # fmt: skip


def _result(name: str, left: str, right: str) -> str:
    """Return the type of a sum, a difference or a product."""
    types = (left, right)
    if not all(one in FLOATS or one in INTEGERS or one == "NULL" or one.startswith("DECIMAL") for one in types):
        raise NoView(f"{left} {name} {right}")
    if any(one in FLOATS for one in types):
        return "DOUBLE"
    if not any(one.startswith("DECIMAL") for one in types):
        return "HUGEINT"
    scales = [scale_of(one) for one in types]
    return _decimal_type(sum(scales) if name == "*" else max(scales))


def _together(types: Sequence[str]) -> str:
    """Return the type that holds values of all of these."""
    known = {type for type in types if type != "NULL"}
    if len(known) <= 1:
        return min(known, default="NULL")
    if known == {"DATE", "TIMESTAMP"}:
        return "TIMESTAMP"
    if any(type in FLOATS for type in known):
        return "DOUBLE"
    if any(type.startswith("DECIMAL") for type in known):
        return _decimal_type(max(map(scale_of, known)))
    if known <= set(INTEGERS):
        return "HUGEINT"
    raise NoView(f"{' and '.join(sorted(known))} together")


def _decimal_type(scale: int) -> str:
    return f"DECIMAL(38,{scale})"
