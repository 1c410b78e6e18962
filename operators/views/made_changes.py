"""Changes of a view's rows as they are made: columns of codes and texts, to a ChangeBatch.

Strings, keys and texts, stay flat arrays on the way from one row store to the next; none becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from state.arrow_strings import ArrowStrings
from state.byte_table import Strings
from state.change_batch import I32, I64, Bool, ChangeBatch


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """One column of k rows. codes: int64[k], 0 where NULL or where it has texts.  valid: bool[k]."""

    codes: I64
    valid: Bool
    texts: ArrowStrings[str] | None = None

    @classmethod
    def of_texts(cls, strings: Strings, valid: Bool) -> MadeColumn:
        """Return a column of texts, which are UTF-8, end to end."""
        return cls(np.zeros(len(valid), np.int64), valid, ArrowStrings(_arrow(strings, valid, pa.large_string())))


def made_changes(cause: I32 | I64, keys: Strings, live: Bool, columns: Sequence[MadeColumn]) -> ChangeBatch:
    """Return a batch of k changes. keys: end to end. Cost: O(k) a column."""
    count = len(cause)
    codes = np.zeros((len(columns), count), np.int64)
    valid = np.zeros((len(columns), count), np.bool_)
    for at, column in enumerate(columns):
        codes[at], valid[at] = column.codes, column.valid
    texts = {at: column.texts for at, column in enumerate(columns) if column.texts is not None}
    named = ArrowStrings[bytes](_arrow(keys, None, pa.large_binary()))
    return ChangeBatch(
        cast(Sequence[bytes], named),
        live,
        codes,
        valid,
        dict(texts),
        np.zeros(count, np.int32),
        np.zeros(count, np.int64),
        cause=cause.astype(np.int32),
    )


def with_deletes(changes: ChangeBatch, keys: Strings, cause: int) -> ChangeBatch:
    """Return changes that were made, and behind them the deletes of `keys`, which have the last cause.

    Cost: O(changes), nothing where there are no keys.
    """
    many = len(keys)
    if not many:
        return changes
    behind = ((0, 0), (0, many))
    texts = {
        at: ArrowStrings[str](pa.concat_arrays([_as_texts(held), pa.nulls(many, pa.large_string())]))
        for at, held in changes.texts.items()
    }
    every = Strings.of(changes.keys).then(keys).take(np.arange(len(changes) + many))
    named = ArrowStrings[bytes](_arrow(every, None, pa.large_binary()))
    return ChangeBatch(
        cast(Sequence[bytes], named),
        np.append(changes.live, np.zeros(many, np.bool_)),
        np.pad(changes.codes, behind),
        np.pad(changes.valid, behind),
        dict(texts),
        np.append(changes.partition, np.zeros(many, np.int32)),
        np.append(changes.offset, np.zeros(many, np.int64)),
        cause=np.append(changes.cause, np.full(many, cause, np.int32)),
    )


def _as_texts(held: Sequence[str | None]) -> pa.Array:
    return held.array if isinstance(held, ArrowStrings) else pa.array(held, pa.large_string())


def _arrow(strings: Strings, valid: Bool | None, type_: pa.DataType) -> pa.Array:
    """Return strings, which stand end to end, as an Arrow array, null where not `valid`."""
    edges = np.zeros(len(strings) + 1, np.int64)
    edges[1:] = strings.stops
    mask = None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(type_, len(strings), [mask, pa.py_buffer(edges), pa.py_buffer(strings.data)])
