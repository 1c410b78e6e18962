"""The tree that DuckDB makes of a query, as JSON: a dict a node, by what it says in `class`."""

from __future__ import annotations

from typing import Any

from tidewire.verification.input.view_source import NoView

Node = dict[str, Any]
_AGGREGATES = ("count_star", "count", "sum", "avg", "min", "max", "latest", "max_by")
_ODD = ("alias", "query_location", "query_location_length")
"""Members of the tree that say nothing of what is meant; the alias of an item of the SELECT list does."""


def meant(node: Any) -> Any:
    """Return a tree without what does not count in it."""
    if isinstance(node, list):
        return [meant(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {name: meant(child) for name, child in node.items() if name not in _ODD or (name == "alias" and child)}


def conjuncts(node: Node | None) -> list[Node]:
    """Return the conditions that AND binds together; none of no condition."""
    if node is None:
        return []
    if node["class"] == "CONJUNCTION" and node["type"] == "CONJUNCTION_AND":
        return [one for child in node["children"] for one in conjuncts(child)]
    return [node]


def is_aggregate(node: Node) -> bool:
    """Whether a node is the call of an aggregate."""
    return node["class"] == "FUNCTION" and node["function_name"].lower() in _AGGREGATES


def _nodes_in(node: Any) -> list[Node]:
    """Return all nodes of a tree that have a class."""
    if isinstance(node, list):
        return [one for child in node for one in _nodes_in(child)]
    if not isinstance(node, dict):
        return []
    below = _nodes_in(list(node.values()))
    return [node, *below] if "class" in node else below


def aggregates_in(node: Any) -> bool:
    """Whether an aggregate is called anywhere in a tree."""
    return any(is_aggregate(one) for one in _nodes_in(node))


def windows_in(node: Any) -> list[Node]:
    """Return the window functions of a tree, in the order of the text."""
    return [one for one in _nodes_in(node) if one["class"] == "WINDOW"]


def name_of(item: Node) -> str:
    """Return what the column of an item of the SELECT list is called. Raises NoView where it needs an alias."""
    if item["alias"]:
        return str(item["alias"])
    if item["class"] == "COLUMN_REF":
        return str(item["column_names"][-1])
    if item["class"] in ("FUNCTION", "WINDOW"):
        return str(item["function_name"])
    raise NoView("an item without a name")
