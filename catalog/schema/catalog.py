"""The catalog: all that one version of it declares, as an immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from catalog.schema.cell import Cell
from catalog.schema.internal_topics import DEFAULT_PREFIX
from catalog.schema.join import join_of_name, relation_of_join
from catalog.schema.relation import Relation
from catalog.schema.view import View


@dataclass(frozen=True, slots=True)
class Catalog:
    """All relations that one version of the catalog declares. `version` = offset of its newest record; -1 = none.

    `prefix` is that of the installation's own topics. `aside` has the tables that an earlier version of tidewire let be
    declared on such a topic, or on one of Kafka's: nobody reads them, and they can be dropped.

    `cells` are by name. `unserved` has the sets of tables for which the engine will make none, by the name that the
    cell would have, and why.

    `views` are by name, each after those that it reads.
    """

    version: int = -1
    relations: Mapping[str, Relation] = field(default_factory=lambda: MappingProxyType({}))
    prefix: str = DEFAULT_PREFIX
    aside: Mapping[str, Relation] = field(default_factory=lambda: MappingProxyType({}))
    cells: Mapping[str, Cell] = field(default_factory=lambda: MappingProxyType({}))
    unserved: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    views: Mapping[str, View] = field(default_factory=lambda: MappingProxyType({}))
    _joins: dict[str, Relation] = field(default_factory=dict, init=False, repr=False, compare=False)

    def relation(self, name: str) -> Relation | None:
        """Return the table or view of this name, or the join that a cell serves (`join.py`); None where there is none.

        Cost: a join is made when it is first asked for.
        """
        found = self.named(name) or self._joins.get(name)
        join = join_of_name(name) if found is None else None
        cell = None if join is None else self.cells.get(join.cell)
        if join is None or cell is None:
            return found
        try:
            if self.read_by(join.tables) != join.over:
                return None
            return self._joins.setdefault(name, relation_of_join(join, cell, self.present))
        except KeyError:
            return None

    def named(self, name: str) -> Relation | None:
        """Return the table or view of this name, None where there is none."""
        view = self.views.get(name)
        return self.relations.get(name) if view is None else view.relation

    def present(self, name: str) -> Relation:
        """Return the table or view of this name. Raises KeyError."""
        relation = self.named(name)
        if relation is None:
            raise KeyError(name)
        return relation

    def read_by(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the tables that what is so called reads, sorted, if some of it are views; () if all are tables."""
        views = {name: self.views[name] for name in names if name in self.views}
        if not views:
            return ()
        read = {table for view in views.values() for table in view.tables}
        return tuple(sorted(read | {name for name in names if name not in views}))

    def uncelled(self, name: str) -> tuple[str, ...]:
        """Return the tables of the cell that a view is to be computed in and that is not there; () where none lacks."""
        view = self.views.get(name)
        return view.tables if view is not None and view.cell and view.cell not in self.cells else ()

    def views_below(self, *views: View) -> list[View]:
        """Return views and all that they read, also through others, each after those that it reads."""
        wanted = {view.name for view in views}
        for each in reversed(list(self.views.values())):
            if each.name in wanted:
                wanted |= set(each.reads)
        return [each for each in self.views.values() if each.name in wanted]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tables and views."""
        return (*self.relations, *self.views)

    def relation_of(self, shard: str) -> Relation | None:
        """Return the table or view that has a shard of this name, None where there is none."""
        name, _, bucket = shard.rpartition("/")
        relation = self.named(name)
        if relation is None or not bucket.isdecimal() or int(bucket) >= relation.buckets:
            return None
        return relation if shard == f"{name}/{int(bucket)}" else None
