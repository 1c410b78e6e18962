"""Constants of a condition, as written."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.query.unsupported import refuse_side
from catalog.sql.statement_text import Span, StatementText
from catalog.types.literal import LiteralKind, is_number
from catalog.types.typed_literal import typed_literal


@dataclass(frozen=True, slots=True)
class Operand:
    """The constant of a comparison. `kind` is None for a parameter `?`; a string's `text` is without quotes."""

    kind: LiteralKind | None
    text: str
    negative: bool
    span: Span | None


def is_constant(node: exp.Expr) -> bool:
    """Whether a side of a comparison is meant as a constant."""
    return isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.Neg | exp.Cast) and not node.find(exp.Column)


class OperandReader:
    """Reads the constants of one statement; with `parameters`, some may be `?`."""

    def __init__(self, text: StatementText, parameters: bool) -> None:
        self._text = text
        self._parameters = parameters

    def read(self, node: exp.Expr, condition: exp.Expr) -> Operand:
        """Return the constant `node` of a condition. Raises the text's error: `unsupported`, `syntax`."""
        negative, inner = False, node
        while isinstance(inner, exp.Neg):
            negative, inner = not negative, inner.this.unnest()
        signed = inner is not node
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return self._number(inner, negative, condition)
        if isinstance(inner, exp.Placeholder) and inner.this is None and self._parameters:
            return Operand(None, "?", negative, self._text.span(inner))
        span = self._text.span(node) or self._text.span(condition)
        if signed:
            raise refuse_side(self._text, node, condition)
        if isinstance(inner, exp.Literal):
            return Operand(LiteralKind.STRING, inner.this, False, span)
        if isinstance(inner, exp.Boolean):
            return Operand(LiteralKind.BOOLEAN, "TRUE" if inner.this else "FALSE", False, span)
        if isinstance(inner, exp.Null):
            return Operand(LiteralKind.NULL, "NULL", False, span)
        typed = typed_literal(inner)
        if typed is None:
            raise refuse_side(self._text, node, condition)
        return Operand(typed, inner.this.this, False, span)

    def _number(self, node: exp.Literal, negative: bool, condition: exp.Expr) -> Operand:
        if not is_number(node.this):
            raise self._text.refusal("syntax", f"`{node.this}` is no number", node)
        return Operand(LiteralKind.NUMBER, node.this, negative, self._text.span(node) or self._text.span(condition))
