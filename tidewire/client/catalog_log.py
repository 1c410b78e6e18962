"""The topic `catalog` as a client sees it: read, checked before writing, and appended to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.kafka.catalog_versions import CatalogFold
from connectors.kafka.light import LightKafka
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from state.errors import UserError


class UnknownTable(UserError):
    """A table that the catalog does not declare."""

    code = "unknown_table"


def fold(records: Iterable[tuple[int, bytes | None]], prefix: str) -> Catalog:
    """Return what (offset, text) records declare under `prefix`, in order; one that does not apply is skipped."""
    return CatalogFold(prefix).add_all(records).newest


def read_catalog(reader: Reader, topics: Topics) -> Catalog:
    """Return the newest catalog that is declared under a prefix. Cost: O(topic)."""
    records = reader.read_to_end(topics.catalog)
    return fold(((record.offset, record.value) for record in records), topics.prefix)


class CatalogLog:
    """Reads the whole topic each time it is asked (it is small) and remembers the last answer for publishers."""

    def __init__(self, kafka: LightKafka, topics: Topics) -> None:
        self._kafka = kafka
        self._topic = topics.catalog
        self._prefix = topics.prefix
        self._known = Catalog(prefix=topics.prefix)

    def read(self) -> Catalog:
        """Return the catalog as the topic declares it now. Cost: O(topic)."""
        reader = self._kafka.reader()
        try:
            reader.assign(self._topic)
            self._known = fold([(record.offset, record.value) for record in reader.to_end()], self._prefix)
        finally:
            reader.close()
        return self._known

    def check(self, ddl: str) -> tuple[Catalog, Catalog]:
        """Return the catalog before and after `ddl`. Raises CatalogError where it does not apply."""
        before = self.read()
        return before, apply_ddl(before, ddl, before.version + 1)

    def append(self, ddl: str) -> int:
        """Write `ddl` and return its version. Raises CatalogError if another writer came first and it fails now."""
        [(_, version)] = self._kafka.send(self._topic, [(None, ddl.encode())])
        reader = self._kafka.reader()
        try:
            reader.assign(self._topic)
            earlier = [(r.offset, r.value) for r in reader.to_end() if r.offset < version]
        finally:
            reader.close()
        self._known = apply_ddl(fold(earlier, self._prefix), ddl, version)
        return version

    def relation(self, table: str) -> Relation:
        """Return a table's declaration, reading the topic again if it is not known. Raises UnknownTable."""
        if table not in self._known.relations:
            self.read()
        if table in self._known.relations:
            return self._known.relations[table]
        if table in self._known.views:
            raise UnknownTable(
                f"`{table}` is a view: its rows are made of those of tables, and none are published to it."
            )
        near = difflib.get_close_matches(table, self._known.relations, 1)
        hint = f"Did you mean `{near[0]}`?" if near else "Declare it with `tidewire apply`."
        known = ", ".join(sorted(self._known.relations)) or "none"
        raise UnknownTable(f"there is no table `{table}` in the catalog (tables: {known}). {hint}")
