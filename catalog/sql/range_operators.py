"""How operators of ranges are written, in the WHERE of a question and of a view."""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

RANGE_OPERATORS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.ArrayOverlaps: ("&&", "&&"), exp.ArrayContainsAll: ("@>", "<@"), exp.ArrayContainedBy: ("<@", "@>")
}  # fmt: skip
"""What each is called, and the same with its sides exchanged."""


def is_isempty(node: exp.Expr) -> TypeGuard[exp.Anonymous]:
    """Whether an expression is isempty() of something."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ISEMPTY" and len(node.expressions) == 1
