"""Names in a statement: of its table, and of columns, which may have the table's name or alias before them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.query.unsupported import refuse_parameter, unsupported
from catalog.sql.names import folded
from catalog.sql.statement_text import Span, StatementText


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a table or column, folded to lower case unless it was quoted."""

    text: str
    span: Span | None


class StatementNames:
    """Reads the names of one statement. `alias` is what its table is called, known once FROM is read."""

    def __init__(self, text: StatementText) -> None:
        self._text = text
        self.alias = Name("", None)

    def column(self, node: exp.Column) -> Name:
        """Return the name of a column. Raises the text's error: `unsupported`, `unknown_column`."""
        if node.args.get("db") is not None or not isinstance(node.this, exp.Identifier):
            raise unsupported(self._text, "a column's name in more than two parts", node, "Write the column alone.")
        if node.name.startswith("$"):
            raise refuse_parameter(self._text, node)
        qualifier = node.args.get("table")
        if qualifier is not None:
            self.check_table(qualifier)
        return self.name(node.this)

    def check_table(self, qualifier: exp.Expr) -> None:
        """Raise the refusal of what stands before a dot, unless it is what the table is called."""
        if self.name(qualifier).text != self.alias.text:
            what = f"`{qualifier.name}` is no table of this subscription"
            hint = f"Its table is called `{self.alias.text}` here."
            raise self._text.refusal("unknown_column", what, qualifier, hint)

    def name(self, node: exp.Expr) -> Name:
        """Return a name. Raises the text's error, `unsupported`, where there is none."""
        span = self._text.span(node)
        if span is not None and self._text.sql[span[0]] == "'":
            hint = "A name is written plainly, or in double quotes."
            raise unsupported(self._text, "a string in the place of a name", node, hint)
        if not isinstance(node, exp.Identifier):
            place = self._text.keyword(("FROM",)) if span is None else node
            raise unsupported(
                self._text, f"`{node.sql(comments=False)}` in the place of a name", place, "Write a name."
            )
        return Name(folded(node), span)
