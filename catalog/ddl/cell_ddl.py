"""CREATE JOIN, DROP JOIN and REFUSE JOIN: which sets of tables have a cell (`cell.py`).

    CREATE JOIN a, b                       there is a cell of a and b; nothing where there is one already
    DROP JOIN a, b                         there is none any more
    REFUSE JOIN a, b BECAUSE 'too large'   written by the engine: it makes none, until CREATE JOIN is said again

The order of the tables says nothing; one table alone has a cell for joins with itself. A cell goes with each of its
tables: one that is dropped and declared again is in none.

sqlglot takes these for nothing, so they are read from their tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from catalog.schema.catalog import Catalog
from catalog.schema.cell import PREFIX, Cell, cell_name, tables_of_cell
from catalog.schema.join import MOST_TABLES, is_join
from catalog.schema.relation import Relation
from catalog.schema.view import STAGE_PREFIX
from catalog.sql.errors import SqlError, suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import Span, StatementText

MAX_CELLS = 32
_VERBS = ("CREATE", "DROP", "REFUSE")
_FORMS = {"CREATE": "CREATE JOIN a, b", "DROP": "DROP JOIN a, b", "REFUSE": "REFUSE JOIN a, b BECAUSE '...'"}


@dataclass(frozen=True, slots=True)
class CellStatement:
    """One statement about a cell: `verb` is CREATE, DROP or REFUSE; `reason` is why, of the last.

    tables: as written, with their places.  place: the words that it begins with.
    """

    verb: str
    tables: tuple[tuple[str, Span], ...]
    reason: str
    place: Span

    @property
    def names(self) -> tuple[str, ...]:
        """The tables, each once, by name."""
        return tuple(sorted({name for name, _ in self.tables}))


def refuse_streams(statement: CellStatement, tables: Mapping[str, Relation], source: StatementText) -> None:
    """Raise CatalogError, `unsupported`, where a CREATE JOIN names a stream: views alone read them in a cell."""
    for table, span in statement.tables if statement.verb == "CREATE" else ():
        if table in tables and tables[table].stream is not None:
            hint = "Nobody stores the rows of a stream: declare a view that groups them, and ask about the view."
            raise source.refusal("unsupported", f"a join with stream `{table}` is not supported", span, hint)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a catalog that is being folded, by name; `refused` has those that are not made, and why."""

    made: dict[str, Cell]
    refused: dict[str, str]

    @classmethod
    def of(cls, catalog: Catalog) -> Cells:
        """Return those of a catalog."""
        return cls(dict(catalog.cells), dict(catalog.unserved))

    def apply(
        self, statement: CellStatement, tables: Mapping[str, Relation], source: StatementText, version: int, new: bool
    ) -> None:
        """Do what a statement says; `tables` are those that there are.

        Where there is no room or name for a cell, a `new` statement is refused; of one that stands in the catalog the
        cell is, as the engine would, so that those who wait for it are told: an edge asks for one in any case.
        Raises CatalogError: `unknown_table`, `conflict`, `unsupported`.
        """
        for table, span in statement.tables:
            if table not in tables:
                hint = suggestion(table, tables, "table")
                raise source.refusal("unknown_table", f"there is no table `{table}`", span, hint)
        cell = cell_name(statement.names)
        if statement.verb == "CREATE":
            self.refused.pop(cell, None)
            fault = None if cell in self.made else self._fault(cell, tables)
            if fault is not None and new:
                raise source.refusal("conflict", fault[0], statement.place, f"{fault[1]}. {self._there_are()}")
            if fault is not None:
                self.refused[cell] = "; ".join(fault)
            else:
                self.made.setdefault(cell, Cell(statement.names, version))
            return
        known = self.made.pop(cell, None) is not None or cell in self.refused
        self.refused.pop(cell, None)
        if statement.verb == "REFUSE":
            self.refused[cell] = statement.reason
        elif not known:
            raise source.refusal("conflict", "there is no such join", statement.place, self._there_are())

    def forget(self, table: str) -> None:
        """Take out whatever has a copy of a table that is no more."""
        gone = [name for name in (*self.made, *self.refused) if table in _tables(name)]
        for name in gone:
            self.made.pop(name, None)
            self.refused.pop(name, None)

    def _fault(self, cell: str, tables: Mapping[str, Relation]) -> tuple[str, str] | None:
        """Return why there can be no cell of this name, and what to do; None if there can be one."""
        if len(self.made) >= MAX_CELLS:
            return f"there are {len(self.made)} joins, and no more are taken", "DROP JOIN one that nobody asks any more"
        table = cell.rpartition("/")[0]
        if table in tables:  # its shard has the name: it was declared before such names were kept
            return f"a table is called `{table}`, as what serves this join would be", f"DROP TABLE {quoted(table)}"
        return None

    def _there_are(self) -> str:
        lists = [", ".join(map(quoted, cell.tables)) for _, cell in sorted(self.made.items())]
        return f"There are: {'; '.join(lists)}." if lists else "There is none yet."


def is_about_cell(tokens: Sequence[Token]) -> bool:
    """Whether a statement begins as those that are read here do."""
    return len(tokens) > 1 and tokens[0].text.upper() in _VERBS and tokens[1].token_type is TokenType.JOIN


def read_cell_statement(tokens: Sequence[Token], source: StatementText) -> CellStatement:
    """Read a statement that `is_about_cell`. Raises the text's error, `syntax` or `unsupported`."""
    verb, left = tokens[0].text.upper(), [t for t in tokens[2:] if t.token_type is not TokenType.SEMICOLON]
    place = (tokens[0].start, tokens[1].end + 1)
    tables = []
    before = tokens[1]
    while True:
        name = source.name_of(left[0]) if left else None
        if name is None:
            raise _unexpected(verb, left, before, source)
        tables.append((name, (left[0].start, left[0].end + 1)))
        before, left = left[0], left[1:]
        if not left or left[0].token_type is not TokenType.COMMA:
            break
        before, left = left[0], left[1:]
    reason = ""
    if verb == "REFUSE" and len(left) > 1 and left[0].text.upper() == "BECAUSE":
        reason, left = (left[1].text, left[2:]) if left[1].token_type is TokenType.STRING else ("", left[1:])
    if left or (verb == "REFUSE" and not reason):
        raise _unexpected(verb, left, before, source)
    statement = CellStatement(verb, tuple(tables), reason, place)
    if len(statement.names) > MOST_TABLES:
        what = f"a join of {len(statement.names)} tables, where at most {MOST_TABLES} are taken, is not supported"
        raise source.refusal("unsupported", what, place, "Join fewer of them.")
    return statement


def _unexpected(verb: str, left: Sequence[Token], before: Token, source: StatementText) -> SqlError:
    hint = f"Write {_FORMS[verb]}."
    if any(token.token_type is TokenType.EXISTS for token in left):
        hint += " CREATE JOIN does nothing where there is one already." * (verb == "CREATE")
    if not left:
        shown = source.sql[before.start : before.end + 1]
        return source.refusal("syntax", f"something is missing after `{shown}`", before, hint)
    shown = source.sql[left[0].start : left[0].end + 1]
    return source.refusal("syntax", f"`{shown[:60]}` was not expected here", left[0], hint)


def is_kept_name(table: str) -> bool:
    """Whether a name is kept for joins, cells and stages of views, and no new table or view may have it."""
    return table.startswith((PREFIX, STAGE_PREFIX)) or is_join(table)


def create_join(tables: Iterable[str]) -> str:
    """Return the statement that creates the cell of `tables`.

    >>> create_join(["order", "quote"])
    'CREATE JOIN "order", quote'
    """
    return f"CREATE JOIN {', '.join(map(quoted, tables))}"


def _tables(name: str) -> tuple[str, ...]:
    tables = tables_of_cell(name)
    assert tables is not None, "it is the name of a cell"
    return tables
