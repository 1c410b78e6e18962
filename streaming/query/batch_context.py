"""Which batch a task works for, and the catalog that holds in it: the same again when the batch is replayed."""

from __future__ import annotations

from bisect import bisect_right

from pyspark import TaskContext

from catalog.schema.relation import Catalog

Catalogs = tuple[tuple[int, Catalog], ...]
"""(first batch, catalog), ascending."""


def current_batch() -> int:
    """Return the number of the micro-batch this task belongs to. Raises RuntimeError outside of one."""
    context = TaskContext.get()
    batch = context.getLocalProperty("streaming.sql.batchId") if context is not None else None
    if batch is None:
        raise RuntimeError("not inside a streaming batch: `streaming.sql.batchId` is not set")
    return int(batch)


def catalog_at(catalogs: Catalogs, batch: int) -> Catalog:
    """Return the catalog that holds in `batch`: the last whose first batch is not after it."""
    return catalogs[bisect_right([first for first, _ in catalogs], batch) - 1][1]
