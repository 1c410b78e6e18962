"""Which batch a task works for, and what holds in it, the same again when the batch is replayed: the catalog, and which
groups there are.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeVar

from pyspark import TaskContext

from catalog.schema.catalog import Catalog
from connectors.placement import Placement

T = TypeVar("T")
Catalogs = tuple[tuple[int, Catalog], ...]
"""(first batch, catalog), ascending."""
Placements = tuple[tuple[int, Placement], ...]
"""(first batch, placement), ascending."""


def current_batch() -> int:
    """Return the number of the micro-batch this task belongs to. Raises RuntimeError outside of one."""
    context = TaskContext.get()
    batch = context.getLocalProperty("streaming.sql.batchId") if context is not None else None
    if batch is None:
        raise RuntimeError("not inside a streaming batch: `streaming.sql.batchId` is not set")
    return int(batch)


def catalog_at(catalogs: Catalogs, batch: int) -> Catalog:
    """Return the catalog that holds in `batch`: the last whose first batch is not after it."""
    return _at(catalogs, batch)


def placement_at(placements: Placements, batch: int) -> Placement:
    """Return the placement that holds in `batch`, in the same way."""
    return _at(placements, batch)


def _at(entries: tuple[tuple[int, T], ...], batch: int) -> T:
    return entries[bisect_right([first for first, _ in entries], batch) - 1][1]
