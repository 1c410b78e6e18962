"""An expression of a view as it was read: what it computes, its type and bound, and its canonical text."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.schema.view import Expression
from catalog.types.column_type import ColumnType
from catalog.view.bounds import Bound
from catalog.view.literals import Literal

SUM_LEVEL, PRODUCT_LEVEL, ATOM_LEVEL = 1, 2, 3
"""How tightly the outermost operator of a text binds; a minus as a product does."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One expression. `literal` is set where it is a constant, which may still become one of another type.

    bound: of exact numbers.  level: of the text `sql`.  node: what was written, for refusals.
    """

    expression: Expression
    sql: str
    level: int
    nullable: bool
    bound: Bound | None
    node: exp.Expr
    literal: Literal | None = None

    @property
    def type(self) -> ColumnType:
        """What its values are."""
        return self.expression.type

    def within(self, level: int) -> str:
        """Return the text as an operand of an operator that binds as tightly as `level`."""
        return self.sql if self.level >= level else f"({self.sql})"
