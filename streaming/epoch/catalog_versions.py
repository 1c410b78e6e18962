"""Catalog versions: what the topic `catalog` declares, and from which batch each version holds.

The catalog at version v is the fold of the records 0..v of a topic that is kept for ever. A record that does not
fold is skipped by everyone, but its offset is a version all the same, so that whoever wrote it is answered.
A version that changes a relation, a view or a cell holds from a recorded batch, the last planned one + 1: a batch that
was planned and not committed runs again under the catalog that it was planned with.
"""

from __future__ import annotations

from collections.abc import Sequence

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from connectors.kafka.catalog_versions import CatalogFold
from connectors.topics import Topics
from streaming.checkpoint.checkpoint import CatalogFrom, Sidecar
from streaming.epoch.cluster import Cluster


class CatalogTopic:
    """All versions of the catalog, read from its topic. *Cost*: one round trip a `poll`; memory O(versions)."""

    def __init__(self, cluster: Cluster, topics: Topics) -> None:
        self._cluster = cluster
        self._topic = topics.catalog
        self._fold = CatalogFold(topics.prefix)
        self.version = -1

    @property
    def newest(self) -> Catalog:
        """The catalog at `version`, the newest that has been read."""
        return self._fold.newest

    def poll(self) -> bool:
        """Read what is new; return whether there was anything. *Raises* CatalogNewer if a newer version wrote of it."""
        end = self._cluster.end(self._topic)
        if end <= self.version + 1:
            return False
        for record in self._cluster.read(self._topic, self.version + 1, end):
            self._fold.add(record.offset, record.value)
        self.version = end - 1
        self._fold.check()
        return True

    def at(self, version: int) -> Catalog:
        """Return the catalog at `version`, one that has been read."""
        return self._fold.at(version)


def changes_groups(before: Catalog, newest: Catalog) -> bool:
    """Whether the groups of the query, or what they hold, are others in `newest`."""
    return before.relations != newest.relations or before.cells != newest.cells or before.views != newest.views


def created_cells(before: Catalog | None, newest: Catalog) -> list[Cell]:
    """Return the cells of `newest` that `before` has not, or has of another birth, by name."""
    known = {} if before is None else before.cells
    return [cell for name, cell in sorted(newest.cells.items()) if known.get(name) != cell]


def record_version(sidecar: Sidecar, before: Catalog | None, newest: Catalog, version: int, first: int) -> bool:
    """Enter catalog `newest`, at `version`, into the sidecar; return whether a relation, view or cell has changed.

    `before` is the catalog of the sidecar's last entry (None: there is none), `first` the first batch that is not
    planned yet. A topic that now feeds another table than before, be it of the same name, is to be read from its
    beginning and may be another topic of that name; one that feeds none is forgotten.
    """
    sidecar.announced = version
    if before is not None and not changes_groups(before, newest):
        return False
    if sidecar.catalogs and sidecar.catalogs[-1].first == first:
        sidecar.catalogs.pop()
    sidecar.catalogs.append(CatalogFrom(first, version))
    old, new = _owners(before or Catalog()), _owners(newest)
    gone = {topic for topic in old if new.get(topic) != old[topic]}
    sidecar.resets = sorted((set(sidecar.resets) | gone) & new.keys())
    sidecar.topic_ids = {topic: number for topic, number in sidecar.topic_ids.items() if topic not in gone}
    return True


def _owners(catalog: Catalog) -> dict[str, tuple[str, int]]:
    return {relation.topic: (relation.name, relation.born) for relation in catalog.relations.values()}


def entries_from(catalogs: Sequence[CatalogFrom], batch: int) -> list[CatalogFrom]:
    """Return the entry in force at `batch` and all after it."""
    in_force = max((place for place, entry in enumerate(catalogs) if entry.first <= batch), default=0)
    return list(catalogs[in_force:])
