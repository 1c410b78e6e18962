"""One SELECT of a view, read from DuckDB's tree: the row of its FROM clause, and what each step makes of it.

A name means a column of what is read, else an item of the SELECT list. Joins by the key of the right side look up: the
key of the left row is that of the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidewire.verification.input.column import Column
from tidewire.verification.input.query_tree import (
    Node,
    aggregates_in,
    conjuncts,
    is_aggregate,
    meant,
    name_of,
    windows_in,
)
from tidewire.verification.input.view_calls import COMPARED, computed
from tidewire.verification.input.view_plan import (
    Aggregate,
    Call,
    Expression,
    Field,
    From,
    Group,
    Join,
    Named,
    Order,
    Ranking,
    Select,
)
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.input.view_types import arithmetic_type


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


class SelectReader:
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
        groups = bool(self._by) or node["having"] is not None or any(map(aggregates_in, items))
        of = self._of_group if groups else self._of_row
        having = None if node["having"] is None else of(node["having"])
        windows = [one for item in [*items, node["qualify"]] for one in windows_in(item)]
        if windows:
            self._rank(windows, _most(node["qualify"]), of)
        qualify = None if node["qualify"] is None else of(node["qualify"])
        computed = tuple(of(item) for item in items)
        self._names = [name_of(item) for item in items]
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
        for one in conjuncts(node["condition"]):
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
        if is_aggregate(node):
            raise NoView("an aggregate of single rows")
        return computed(node, self._of_row)

    def _of_group(self, node: Node) -> Expression:
        """Return an expression over the row of a group."""
        if node["class"] == "WINDOW":
            return Field(self._rank_place, "BIGINT")
        if is_aggregate(node):
            aggregate = self._aggregate(node)
            if aggregate not in self._aggregates:
                self._aggregates.append(aggregate)
            return Field(len(self._by) + self._aggregates.index(aggregate), aggregate.type)
        if not aggregates_in(node) and not windows_in(node):
            whole = self._of_row(node)
            if whole in self._by:
                return Field(self._by.index(whole), whole.type)
        if node["class"] == "COLUMN_REF":
            if self._scope.place(node["column_names"]) is not None:
                raise NoView(f"`{node['column_names'][-1]}` is neither grouped by nor aggregated")
            return self._of_group(self._item(node))
        return computed(node, self._of_group)

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
            return Aggregate(name, of, (), arithmetic_type("+", of.type, of.type))
        return Aggregate(name, of, (), {"count": "BIGINT", "avg": "DOUBLE"}.get(name, of.type))

    def _rank(self, windows: Sequence[Node], most: int | None, of: Callable[[Node], Expression]) -> None:
        """Read the ROW_NUMBER() that there is. Where its places will stand is not known yet: `_moved`."""
        first = windows[0]
        if any(meant({**one, "alias": ""}) != meant({**first, "alias": ""}) for one in windows):
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
    for one in conjuncts(qualify):
        if one["class"] == "COMPARISON" and one["left"]["class"] == "WINDOW" and one["right"]["class"] == "CONSTANT":
            number = int(one["right"]["literal"]["text"])
            most = {"<=": number, "=": number, "<": number - 1}.get(COMPARED.get(one["type"], ""))
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
