"""Which tables are joined together, as the catalog topic says: the cells, of which each has copies of its tables.

CREATE JOIN quote, filing        again and in another order, too: there is one cell for a set of tables
DROP JOIN filing, quote          DROP TABLE drops those of its table as well
REFUSE JOIN filing, quote BECAUSE '…'        of the engine: there is none from here on
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

NAME = r"(?:\"(?:[^\"]|\"\")*\"|\w+)"
_STATEMENT = re.compile(
    rf"(create|drop|refuse)\s+join\s+({NAME}(?:\s*,\s*{NAME})*)(\s+because\s+'(?:[^']|'')+')?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_MOST_TABLES = 4
_MOST_CELLS = 32


class NoCell(Exception):
    """A statement about joins that does not apply."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of some tables, by lower-case name. `born` is the offset of the record that created it."""

    tables: tuple[str, ...]
    born: int

    @property
    def name(self) -> str:
        """What it is called where tables are called by their names."""
        return f"JOIN {', '.join(self.tables)}"


Cells = dict[tuple[str, ...], Cell | None]
"""By their tables, sorted; None where the engine has refused to make one, or has no room for it."""


def apply_to_cells(cells: Cells, statement: str, tables: Collection[str], version: int) -> bool:
    """Apply a statement about joins to `cells`; False if it is none. Raises NoCell if it does not apply.

    `tables` are those that are read, by lower-case name; `statement` has its words in lower case.
    """
    found = _STATEMENT.match(statement)
    if found is None:
        return False
    named = tuple(sorted({unquoted(name).lower() for name in re.findall(NAME, found[2])}))
    verb, why = found[1].lower(), found[3]
    missing = [name for name in named if name not in tables]
    if missing or len(named) > _MOST_TABLES or (verb == "refuse") == (why is None):
        raise NoCell(statement)
    if verb == "create":
        create_cell(cells, named, version)
    elif verb == "refuse":
        cells[named] = None
    elif named in cells:
        del cells[named]
    else:
        raise NoCell(statement)
    return True


def drop_cells_of(cells: Cells, table: str) -> None:
    """Drop the cells that have a table."""
    for named in [named for named in cells if table in named]:
        del cells[named]


def unquoted(name: str) -> str:
    """Return a name without its quotes."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def create_cell(cells: Cells, named: tuple[str, ...], version: int) -> None:
    """Make the cell of some tables, if there is none; there is none either where there are too many."""
    if cells.get(named) is not None:
        return
    made = sum(cell is not None for cell in cells.values())
    cells[named] = Cell(named, version) if made < _MOST_CELLS else None
