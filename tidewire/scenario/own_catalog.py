"""A scenario's own catalog on a stack where earlier scenarios have declared theirs.

DDL is judged as on an empty stack, so that it is accepted or refused, in the same words, whatever ran before. What the
stack is told is the difference that it made, each table on a topic of the scenario's own: nothing that an earlier
scenario has published can be read again. Joins go with their tables; views go before these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.relation import Relation
from catalog.schema.view import View
from catalog.sql.names import quoted


class OwnCatalog:
    """What a scenario has declared so far; `topic_of` gives the stack's name of a topic of the scenario."""

    def __init__(self, topic_of: Callable[[str], str]) -> None:
        self._topic_of = topic_of
        self._catalog = Catalog()

    @property
    def drops(self) -> list[str]:
        """Statements that drop all that the scenario has now."""
        return [*_drop_views(self._catalog, self._catalog.views), *_drop_tables(self._catalog.relations.values())]

    @property
    def several(self) -> bool:
        """Whether a view reads several tables, so that it counts in which order records of these come."""
        return any(len(view.tables) > 1 for view in self._catalog.views.values())

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
        views, viewed = old.views, self._catalog.views
        return [
            *_drop_views(old, [name for name, one in views.items() if not _is_same(one, viewed.get(name))]),
            *(_drop_join(cell) for cell in parted if not set(gone) & set(cell.tables)),
            *_drop_tables(before[name] for name in gone),
            *(to_ddl(replace(new, topic=self._topic_of(new.topic))) for new in changed),
            *(to_ddl(cell) for cell in joined if all(after[table].stream is None for table in cell.tables)),
            *(
                to_ddl(replace(one, topic=one.topic and self._topic_of(one.topic)))
                for name, one in viewed.items()
                if not _is_same(one, views.get(name))
            ),
        ]


def _is_same(one: View, other: View | None) -> bool:
    return other is not None and one.born == other.born


def _drop_views(catalog: Catalog, views: Collection[str]) -> list[str]:
    """Return the statements that drop views, those first that others do not read."""
    return [f"DROP VIEW {quoted(name)}" for name in reversed(list(catalog.views)) if name in views]


def _drop_tables(tables: Iterable[Relation]) -> list[str]:
    """Return the statements that drop tables and streams."""
    return [f"DROP {'TABLE' if one.stream is None else 'STREAM'} {quoted(one.name)}" for one in tables]


def _drop_join(cell: Cell) -> str:
    return f"DROP JOIN {', '.join(map(quoted, cell.tables))}"
