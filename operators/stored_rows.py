"""The rows of a row store as values: what a person or a query engine can read."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.schema.relation import Relation
from catalog.types.column_type import JsonValue
from catalog.types.value import json_of_code
from state.row_store import RowStore


def stored_rows(relation: Relation, *stores: RowStore) -> Iterator[dict[str, JsonValue]]:
    """Yield each row as column -> JSON value, columns in DDL order, rows by their primary keys' bytes.

    A relation that is kept in buckets has a store for each. Cost: O(n log n), about 1 us a value.
    """
    names = [column.name for column in relation.declared]
    held = [(store.key(row), values) for store in stores for row, values in enumerate(_values(relation, store))]
    for _key, values in sorted(held, key=lambda pair: pair[0]):
        yield dict(zip(names, values, strict=True))


def _values(relation: Relation, store: RowStore) -> Iterator[tuple[JsonValue, ...]]:
    replay = store.still()
    columns: list[list[JsonValue]] = []
    for number, column in enumerate(relation.columns):
        if column.of:
            continue
        codes, known = replay.codes[number], replay.valid[number]
        if column.type.coded:
            found: Iterator[JsonValue] = (json_of_code(column.type, code) for code in codes[known].tolist())
        else:
            texts = store.texts_of(number, codes[known])
            found = map(int, texts) if column.type.whole else iter(texts)
        columns.append([next(found) if there else None for there in known.tolist()])
    yield from zip(*columns, strict=True)
