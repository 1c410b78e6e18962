"""A question over several tables, read from DuckDB's tree: what it shows, of which tables, under which conditions.

    SELECT q.price, f.kind FROM quote AS q JOIN filing f ON f.symbol = q.symbol WHERE q.price > 3 AND f.kind = 'x'

    sources       0 quote AS q, 1 filing AS f
    conditions    f.symbol = q.symbol      q.price > 3      f.kind = 'x'

ON and WHERE of an inner join say the same, so their conjunctions are taken apart into one list; where a condition came
from does not matter. Names are found once the columns of the tables are known (`named`): column `price` of source 0 is
then called `0.price`, in every condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidewire.verification.records.policy import EVERY_CHANGE, Policy

ALL = "*"
Node = dict[str, Any]
"""A node of DuckDB's tree."""
Place = tuple[int, str]
"""A column, in lower case, of a source."""


class NoSuchName(ValueError):
    """A column that no source has, or more than one."""


class Source(NamedTuple):
    """A table, and what its columns are qualified with; both in lower case."""

    table: str
    name: str


class Shown(NamedTuple):
    """An item of the SELECT list: a column, maybe qualified; `*` stands for all of a source, or of all."""

    qualifier: str | None
    column: str


@dataclass(frozen=True, slots=True)
class JoinQuestion:
    """`shown` over `sources`. `conditions` are nodes of DuckDB's tree, as JSON."""

    shown: tuple[Shown, ...]
    sources: tuple[Source, ...]
    conditions: str
    params: tuple[Any, ...]
    policy: Policy = EVERY_CHANGE

    @property
    def tables(self) -> tuple[str, ...]:
        """Its tables, each once, sorted."""
        return tuple(sorted({source.table for source in self.sources}))

    @property
    def starred(self) -> bool:
        """Whether all columns are shown of something."""
        return any(item.column == ALL for item in self.shown)

    def mentioned(self) -> set[str]:
        """Return the columns that are shown or compared with others, of whatever source."""
        compared = (name for node in json.loads(self.conditions) if is_equality(node) for name in _sides(node))
        return {item.column for item in self.shown} | {name[-1].lower() for name in compared}

    def named(self, columns: Sequence[Sequence[str]]) -> Named:
        """Find all names among the lower-case `columns` of each source. Raises NoSuchName."""
        names = _Names(self.sources, columns)
        shown = tuple(place for item in self.shown for place in names.of_item(item))
        return Named(shown, tuple(_renamed(node, names) for node in json.loads(self.conditions)))


@dataclass(frozen=True, slots=True)
class Named:
    """A question with its names found. In `conditions` columns are called as `flat` says."""

    shown: tuple[Place, ...]
    conditions: tuple[Node, ...]

    @property
    def equalities(self) -> list[tuple[Place, Place]]:
        """The pairs of columns that must be equal."""
        return [(_place(node["left"]), _place(node["right"])) for node in self.conditions if is_equality(node)]

    def about(self, source: int) -> list[Node]:
        """Return the other conditions that are about this source alone."""
        return [node for node in self._others if sources_of(node) == {source}]

    @property
    def across(self) -> list[Node]:
        """The other conditions: about several sources, or about none."""
        return [node for node in self._others if len(sources_of(node)) != 1]

    @property
    def _others(self) -> list[Node]:
        return [node for node in self.conditions if not is_equality(node)]


def join_question(node: Node, params: tuple[Any, ...], policy: Policy) -> JoinQuestion:
    """Read the SELECT over a join. Raises ValueError, KeyError or TypeError where it is none that is known here."""
    if node["modifiers"] or not all(item["class"] in ("COLUMN_REF", "STAR") for item in node["select_list"]):
        raise ValueError("of a join only rows are asked for")
    sources, conditions = list[Source](), list[Node]()
    _walk(node["from_table"], sources, conditions)
    conditions += _conjuncts(node["where_clause"])
    if len({source.name for source in sources}) < len(sources):
        raise ValueError("two tables of one name")
    shown = tuple(map(_item, node["select_list"]))
    return JoinQuestion(shown, tuple(sources), json.dumps(conditions), params, policy)


def flat(place: Place) -> str:
    """Return what a column of a source is called in conditions."""
    return f"{place[0]}.{place[1]}"


def is_equality(node: Node) -> bool:
    """Whether a condition says that two columns are equal."""
    return bool(
        node["class"] == "COMPARISON"
        and node["type"] == "COMPARE_EQUAL"
        and all(node[side]["class"] == "COLUMN_REF" for side in ("left", "right"))
    )


def sources_of(node: Any) -> set[int]:
    """Return the sources that a condition with its names found is about."""
    return {_place(column)[0] for column in columns_in(node)}


def columns_in(node: Any) -> Iterator[Node]:
    """Yield all references to columns in a tree."""
    if isinstance(node, list):
        for child in node:
            yield from columns_in(child)
    elif isinstance(node, dict):
        if node.get("class") == "COLUMN_REF":
            yield node
        else:
            yield from columns_in(list(node.values()))


class _Names:
    """Which column a name means."""

    def __init__(self, sources: Sequence[Source], columns: Sequence[Sequence[str]]) -> None:
        self._sources = sources
        self._columns = columns

    def of_item(self, item: Shown) -> list[Place]:
        """Return the columns that an item of the SELECT list shows."""
        if item.column != ALL:
            return [self.of(item.qualifier, item.column)]
        among = [i for i, source in enumerate(self._sources) if item.qualifier in (None, source.name)]
        if not among:
            raise NoSuchName(f"no table `{item.qualifier}`")
        return [(i, column) for i in among for column in self._columns[i]]

    def of(self, qualifier: str | None, column: str) -> Place:
        """Return the column that a name means."""
        found = [
            (i, column)
            for i, source in enumerate(self._sources)
            if qualifier in (None, source.name) and {column, _of_bound(column)} & {*self._columns[i]}
        ]
        if len(found) != 1:
            raise NoSuchName(f"{len(found)} columns `{column}`")
        return found[0]


def _of_bound(column: str) -> str | None:
    """Return the range of which a column is the lower or the upper bound."""
    found = re.fullmatch(r"(?:lower|upper)\((.*)\)", column, re.DOTALL)
    return found[1] if found else None


def _walk(node: Node, sources: list[Source], conditions: list[Node]) -> None:
    """Gather the sources of a FROM clause in the order of the text, and what its ON says."""
    if node["type"] == "BASE_TABLE":
        table = node["table_name"].lower()
        sources.append(Source(table, (node["alias"] or table).lower()))
        return
    kinds = node["type"], node.get("join_type"), node.get("ref_type")
    if kinds != ("JOIN", "INNER", "REGULAR") or node["using_columns"]:
        raise ValueError(f"a join of type {kinds}")
    _walk(node["left"], sources, conditions)
    _walk(node["right"], sources, conditions)
    conditions += _conjuncts(node["condition"])


def _conjuncts(node: Node | None) -> list[Node]:
    if node is None:
        return []
    if node["class"] == "CONJUNCTION" and node["type"] == "CONJUNCTION_AND":
        return [one for child in node["children"] for one in _conjuncts(child)]
    return [node]


def _item(item: Node) -> Shown:
    if item["class"] == "STAR":
        if item["exclude_list"] or item["replace_list"] or item["columns"]:
            raise ValueError("a part of all columns")
        return Shown(item["relation_name"].lower() or None, ALL)
    return Shown(*_qualified(item))


def _qualified(reference: Node) -> tuple[str | None, str]:
    *qualifier, column = reference["column_names"]
    return (qualifier[-1].lower() if qualifier else None), column.lower()


def _sides(node: Node) -> list[list[str]]:
    return [node[side]["column_names"] for side in ("left", "right")]


def _renamed(node: Any, names: _Names) -> Any:
    if isinstance(node, list):
        return [_renamed(child, names) for child in node]
    if not isinstance(node, dict):
        return node
    if node.get("class") == "COLUMN_REF":
        return node | {"column_names": [flat(names.of(*_qualified(node)))]}
    return {name: _renamed(child, names) for name, child in node.items()}


def _place(reference: Node) -> Place:
    [name] = reference["column_names"]
    source, _, column = name.partition(".")
    return int(source), column
