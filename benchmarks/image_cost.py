"""What images of rows cost a shard: found among the versions of a batch, and written for all virtual edges at once.

    python -m benchmarks.image_cost

Tables of 20 columns beside the key, all of them needed: numbers, or texts of ten characters of which each change brings
one that was not there before. Processor times, the least of several batches, microseconds a change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from benchmarks.filter_index_cost import least
from catalog.query.channel import ImageChannel
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.packed import Header, pack_images
from operators.row_images import find
from state.causes import Causes
from state.change_batch import I64, ChangeBatch
from state.row_store import RowStore

ROWS, CHANGES, COLUMNS, RUNS = 20_000, 5_000, 20, 10


def image_us() -> dict[str, dict[str, float]]:
    """Return what finding and writing cost, of numbers and of texts."""
    return {name: _measured(text) for name, text in (("numbers", False), ("texts", True))}


def _measured(text: bool) -> dict[str, float]:
    rows, relation = _rows(text), _relation(text)
    changes = _changes(text)
    view = BatchView(relation, rows, {}, rows.replay(changes))
    names = [column.name for column in relation.columns]
    images, channel, header = find(view, names), ImageChannel("t"), Header("images", 0, "t", 1)
    nothing, offset = np.zeros(CHANGES, np.int32), np.arange(CHANGES)
    causes, seqs = Causes(["t"], nothing, nothing, offset), np.arange(len(images))
    several = np.zeros(CHANGES, np.bool_)
    packed = pack_images(header, channel, images, seqs, causes, several)
    assert len(images) == CHANGES
    found = least(lambda: find(view, names), RUNS) / CHANGES * 1e6
    written = least(lambda: pack_images(header, channel, images, seqs, causes, several), RUNS) / CHANGES * 1e6
    figures = {"find": found, "pack": written, "whole": found + written, "bytes": len(packed) / CHANGES}
    return {name: round(figure, 2) for name, figure in figures.items()}


def _relation(text: bool) -> Relation:
    type_ = ColumnType(Kind.VARCHAR if text else Kind.BIGINT)
    columns = [Column(f"c{i}", type_) for i in range(COLUMNS)]
    return Relation("t", (Column("k", ColumnType(Kind.BIGINT), False), *columns), ("k",), "t")


def _rows(text: bool) -> RowStore:
    rows = RowStore(COLUMNS + 1, tuple(range(1, COLUMNS + 1)) if text else ())
    rows.commit(rows.replay(_batch(np.arange(ROWS), np.arange(ROWS), text, "before")))
    return rows


def _changes(text: bool) -> ChangeBatch:
    which = np.random.default_rng(3).choice(ROWS, CHANGES, replace=False)
    return _batch(which, which, text, "before", moved=True)


def _batch(keys: I64, values: I64, text: bool, word: str, moved: bool = False) -> ChangeBatch:
    """Return rows whose columns are `values`, or texts of these; `moved`: of each change one column has another."""
    m = len(keys)
    codes = np.empty((COLUMNS + 1, m), np.int64)
    codes[0], codes[1:] = keys, np.arange(m) if text else values
    texts = {c: [f"{word}{value:05d}" for value in values.tolist()] for c in range(1, COLUMNS + 1)} if text else {}
    if moved:
        for i in range(m):
            c = 1 + i % COLUMNS
            if text:
                texts[c][i] = f"fresh{i:05d}"
            else:
                codes[c, i] += 1
    nothing = np.zeros(m, np.int32)
    names = [b"%d" % key for key in keys.tolist()]
    valid, held = np.ones(codes.shape, np.bool_), dict[int, Sequence[str | None]](texts)
    return ChangeBatch(names, np.ones(m, np.bool_), codes, valid, held, nothing, np.arange(m))


if __name__ == "__main__":
    print(json.dumps(image_us(), indent=2))
