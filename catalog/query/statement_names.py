"""Names in a statement: of its tables, and of columns, which may have a table's name or alias before them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.query.unsupported import refuse_parameter, unsupported
from catalog.sql.names import folded
from catalog.sql.statement_text import Span, StatementText


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a table or column, folded to lower case unless it was quoted.

    of: what the table of a column is called, where the statement joins several and the column's name says so.
    """

    text: str
    span: Span | None
    of: str = ""

    @property
    def said(self) -> str:
        """The name as a refusal shows it."""
        return f"{self.of}.{self.text}" if self.of else self.text


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, all columns; with `of`, those of the table that is called so in a join."""

    of: str = ""


class StatementNames:
    """Reads the names of one statement.

    called: what its tables are called, as far as FROM is read.  joined: whether they are several, and a column's name
    keeps which of them it is of.
    """

    def __init__(self, text: StatementText, joined: bool = False) -> None:
        self._text = text
        self.called: list[str] = []
        self.joined = joined

    def column(self, node: exp.Column) -> Name:
        """Return the name of a column. Raises the text's error: `unsupported`, `unknown_column`."""
        if node.args.get("db") is not None or not isinstance(node.this, exp.Identifier):
            raise unsupported(self._text, "a column's name in more than two parts", node, "Write the column alone.")
        if node.name.startswith("$"):
            raise refuse_parameter(self._text, node)
        qualifier = node.args.get("table")
        of = "" if qualifier is None else self.table(qualifier)
        name = self.name(node.this)
        return Name(name.text, name.span, of) if self.joined else name

    def table(self, qualifier: exp.Expr) -> str:
        """Return what stands before a dot. Raises the text's error, `unknown_column`, unless a table is called so."""
        name = self.name(qualifier).text
        if name not in self.called:
            what = f"`{qualifier.name}` is no table of this subscription"
            hint = f"Its table is called `{self.called[0]}` here."
            if self.joined:
                hint = f"Its tables are called {', '.join(f'`{each}`' for each in self.called)} up to here."
            raise self._text.refusal("unknown_column", what, qualifier, hint)
        return name

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
