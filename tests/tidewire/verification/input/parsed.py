"""Trees of queries, as DuckDB makes them."""

from __future__ import annotations

import json

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.query_tree import Node


def query(text: str) -> Node:
    """Return the tree of a SELECT."""
    [(made,)] = SCRATCH.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    node: Node = json.loads(made)["statements"][0]["node"]
    return node


def item(text: str) -> Node:
    """Return the tree of an expression."""
    node: Node = query(f"SELECT {text}")["select_list"][0]
    return node
