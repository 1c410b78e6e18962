"""A scenario's own catalog on a stack where earlier scenarios have declared theirs.

DDL is judged as on an empty stack, so that it is accepted or refused, in the same words, whatever ran before. What the
stack is told is the difference that it made, each table on a topic of the scenario's own: nothing that an earlier
scenario has published can be read again. Joins go with their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.ddl import apply_ddl, to_ddl
from catalog.sql.names import quoted


class OwnCatalog:
    """What a scenario has declared so far; `topic_of` gives the stack's name of a topic of the scenario."""

    def __init__(self, topic_of: Callable[[str], str]) -> None:
        self._topic_of = topic_of
        self._catalog = Catalog()

    @property
    def tables(self) -> list[str]:
        """The tables that the scenario has now."""
        return list(self._catalog.relations)

    def declare(self, ddl: str) -> list[str]:
        """Apply DDL and return the statements that make the same difference on the stack; none if it made none.

        Raises CatalogError as a stack without tables does.
        """
        old = self._catalog
        self._catalog = apply_ddl(old, ddl, old.version + 1)
        before, after = old.relations, self._catalog.relations
        gone = [name for name, one in before.items() if name not in after or after[name].born != one.born]
        changed = [new for name, new in after.items() if new != before.get(name)]
        parted = [cell for cell in old.cells.values() if cell not in self._catalog.cells.values()]
        joined = [cell for cell in self._catalog.cells.values() if cell not in old.cells.values()]
        return [
            *(_drop_join(cell) for cell in parted if not set(gone) & set(cell.tables)),
            *drops(gone),
            *(to_ddl(replace(new, topic=self._topic_of(new.topic))) for new in changed),
            *map(to_ddl, joined),
        ]


def drops(tables: Iterable[str]) -> list[str]:
    """Return the statements that drop `tables`."""
    return [f"DROP TABLE {quoted(name)}" for name in tables]


def _drop_join(cell: Cell) -> str:
    return f"DROP JOIN {', '.join(map(quoted, cell.tables))}"
