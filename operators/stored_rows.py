"""The rows of a row store as values: what a person or a query engine can read."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.column_type import JsonValue
from catalog.relation import Relation
from catalog.value import json_of_code
from state.row_store import RowStore


def stored_rows(relation: Relation, store: RowStore) -> Iterator[dict[str, JsonValue]]:
    """Yield each row as column -> JSON value, columns in DDL order, rows by their primary keys' bytes.

    Cost: O(n log n), about 1 us a value.
    """
    replay = store.still()
    columns: list[list[JsonValue]] = []
    for number, column in enumerate(relation.columns):
        codes, valid = replay.codes[number], replay.valid[number].tolist()
        if column.type.coded:
            columns.append(
                [
                    json_of_code(column.type, code) if known else None
                    for code, known in zip(codes.tolist(), valid, strict=True)
                ]
            )
        else:
            texts = iter(store.texts_of(number, codes[replay.valid[number]]))
            columns.append([next(texts) if known else None for known in valid])
    names = [column.name for column in relation.columns]
    for row in sorted(range(len(store)), key=store.key):
        yield {name: column[row] for name, column in zip(names, columns, strict=True)}
