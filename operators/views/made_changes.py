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


def _arrow(strings: Strings, valid: Bool | None, type_: pa.DataType) -> pa.Array:
    """Return strings, which stand end to end, as an Arrow array, null where not `valid`."""
    edges = np.zeros(len(strings) + 1, np.int64)
    edges[1:] = strings.stops
    mask = None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(type_, len(strings), [mask, pa.py_buffer(edges), pa.py_buffer(strings.data)])
