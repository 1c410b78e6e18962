"""Operators of ranges in DuckDB's tree, as comparisons of the bounds that stand beside each range column (`ranges`).

    valid @> TIMESTAMP '2026-12-24'      CASE WHEN valid IS NOT NULL THEN NOT "empty(valid)" AND ... END

What remains is SQL that DuckDB runs. `lower(valid)` is the column of that name, and a range that a column is compared
with by `=` is written in the form that the column has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import duckdb

from tidewire.verification.records.lexer import quoted, string
from tidewire.verification.records.ranges import (
    NoRange,
    Range,
    canonical,
    contained,
    contains,
    is_range,
    overlaps,
    read,
)

Node = dict[str, Any]
_OPERATORS = {"&&": ("&&", "&&"), "@>": ("@>", "<@"), "<@": ("<@", "@>")}
_SQL = {"&&": overlaps, "@>": contains, "<@": contained}
_BOUNDS = ("lower", "upper")


def derived_name(part: str, column: str) -> str:
    """Return the name of a column that stands beside a range: lower, upper, lower closed, upper closed, empty."""
    return f"{part}({column})"


def with_bound_columns(node: Any) -> Any:
    """Return a tree in which lower() and upper() of a column are the columns that have these names."""
    if isinstance(node, list):
        return [with_bound_columns(child) for child in node]
    if not isinstance(node, dict):
        return node
    if node.get("class") == "FUNCTION" and str(node.get("function_name")).lower() in _BOUNDS:
        [argument] = node["arguments"]
        inner = argument["expression"]
        if inner.get("class") == "COLUMN_REF":
            *qualifier, name = inner["column_names"]
            function = node["function_name"].lower()
            return inner | {"alias": node["alias"], "column_names": [*qualifier, derived_name(function, name)]}
    return {name: with_bound_columns(child) for name, child in node.items()}


class RangeConditions:
    """Rewrites the conditions of one question; `types` by lower-case column name.

    derived: the name of a part of a range column, given both; of columns of a join, which begin with a place, another.
    """

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        types: dict[str, str],
        params: Sequence[Any],
        derived: Callable[[str, str], str] = derived_name,
    ) -> None:
        self._database = database
        self._types = types
        self._params = params
        self._derived = derived

    def rewritten(self, node: Any) -> Any:
        """Return a condition without operators of ranges. Raises NoRange for a constant that is none."""
        if isinstance(node, list):
            return [self.rewritten(child) for child in node]
        if not isinstance(node, dict):
            return node
        if node.get("class") == "FUNCTION" and node.get("function_name") in _OPERATORS:
            return self._operator(node)
        if node.get("class") == "FUNCTION" and str(node.get("function_name")).lower() == "isempty":
            return self._case(node["arguments"][0]["expression"], lambda name: name("empty"))
        if node.get("class") == "COMPARISON":
            return node | self._beside(node, {side: node[side] for side in ("left", "right")})
        if node.get("type") in ("COMPARE_IN", "COMPARE_NOT_IN"):
            places = dict(enumerate(node["children"]))
            return node | {"children": list(self._beside(node, places).values())}
        return {name: self.rewritten(child) for name, child in node.items()}

    def _beside(self, node: Node, sides: dict[Any, Node]) -> dict[Any, Node]:
        """Return the sides of a comparison; ranges beside a range column in the form that it has."""
        types = [self._type(side) for side in sides.values() if side.get("class") == "COLUMN_REF"]
        if not any(map(is_range, types)):
            return sides
        return {place: self._canonical(types[0], side) for place, side in sides.items()}

    def _canonical(self, type: str, side: Node) -> Node:
        value = self._value(side)
        if side.get("class") == "COLUMN_REF" or value is None:
            return side
        return self._parsed(string(canonical(type, value)))

    def _operator(self, node: Node) -> Any:
        left, right = (argument["expression"] for argument in node["arguments"])
        operator, mirrored = _OPERATORS[node["function_name"]]
        if left.get("class") != "COLUMN_REF":
            left, right, operator = right, left, mirrored
        type = self._type(left)
        if left.get("class") != "COLUMN_REF" or not is_range(type):
            raise NoRange("an operator of ranges beside no range column")
        value, literal = self._value(right), right
        if value is None:
            return self._parsed("NULL::BOOLEAN")
        if operator == "@>" and not self._isstring(right):
            other, shown = Range("", "", True, True), lambda _: self._written(literal)
        else:
            other, shown = read(type, value), (lambda bound: _constant(type, bound))
        return self._case(left, lambda name: _SQL[operator](name, other, shown))

    def _case(self, column: Node, said: Callable[[Callable[[str], str]], str]) -> Any:
        """Return what is said of a column where it is not NULL; unknown where it is."""
        *qualifier, whole = column["column_names"]

        def name(part: str) -> str:
            return ".".join(quoted(each) for each in [*qualifier, self._derived(part, whole)])

        self_name = ".".join(quoted(each) for each in column["column_names"])
        return self._parsed(f"CASE WHEN {self_name} IS NOT NULL THEN {said(name)} END")

    def _parsed(self, expression: str) -> Node:
        made = self._database.execute("SELECT json_serialize_sql(?)", [f"SELECT {expression}"]).fetchone()
        assert made is not None
        node: Node = json.loads(made[0])["statements"][0]["node"]["select_list"][0]
        return node

    def _type(self, side: Node) -> str:
        return self._types.get(side["column_names"][-1].lower(), "") if side.get("class") == "COLUMN_REF" else ""

    def _value(self, node: Node) -> str | None:
        """Return a constant's text; None for NULL."""
        if node.get("class") == "PARAMETER":
            value = self._params[int(node["identifier"]) - 1]
            return None if value is None else str(value)
        if node.get("class") == "CAST":
            return self._value(node["child"])
        if node.get("class") == "FUNCTION":
            value = self._value(node["arguments"][0]["expression"])
            return None if value is None else node["function_name"] + value
        literal = node.get("literal")
        if not isinstance(literal, dict) or literal["kind"] == "NULL_LITERAL":
            return None
        return str(literal["text"])

    def _isstring(self, node: Node) -> bool:
        if node.get("class") == "PARAMETER":
            return isinstance(self._params[int(node["identifier"]) - 1], str)
        return node.get("class") == "CONSTANT" and node["literal"]["kind"] == "STRING"

    def _written(self, node: Node) -> str:
        """Return a value that is no text as SQL."""
        value = self._value(node)
        assert value is not None
        if node.get("class") == "CAST":
            return f"CAST({string(value)} AS {node['type_expr']['type_name']})"
        signs = len(value) - len(value.lstrip("+-"))
        return ("-" if value[:signs].count("-") % 2 else "") + value[signs:]


def _constant(type: str, bound: str) -> str:
    """Return a bound as SQL, beside a column of its type."""
    name = type.partition("(")[0]
    if name == "DATERANGE":
        return f"DATE {string(bound)}"
    if name == "TSRANGE":
        return f"TIMESTAMP {string(bound)}"
    return string(bound) if name == "TEXTRANGE" else bound
