"""Literals that say their type: DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00'."""

from __future__ import annotations

from sqlglot import exp

from catalog.types.literal import LiteralKind

_TYPED = {exp.DType.DATE: LiteralKind.DATE, exp.DType.TIMESTAMP: LiteralKind.TIMESTAMP}


def typed_literal(node: exp.Expr) -> LiteralKind | None:
    """Return the kind of DATE '...' or TIMESTAMP '...', or None if `node` is neither."""
    if type(node) is not exp.Cast or not (isinstance(node.this, exp.Literal) and node.this.is_string):
        return None
    if node.to.expressions or any(v for k, v in node.args.items() if k not in ("this", "to", "_type")):
        return None
    return _TYPED.get(node.to.this)
