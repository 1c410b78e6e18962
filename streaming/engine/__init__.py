"""The engine's process: it keeps the queries running, changes catalogs between batches, makes lost states anew."""
