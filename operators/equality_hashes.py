"""Hashes of the values that equalities compare: the same for the constants of a region and for the rows of a table.

Boxes know groups by 32 bits (`state/boxes.py`), which are stored: what is computed here must stay as it is. A value is
an order code, or a text; codes of one column are hashed all at once.

Cost: 10 ns a code and column, 0.2 us a different text.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from state.change_batch import I64

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def text_code(text: bytes) -> int:
    """Return the number that stands for a text here."""
    return zlib.crc32(text)


def equality_hashes(columns: Sequence[I64], count: int) -> U32:
    """Return the hash of each of `count` rows of values: order codes, or `text_code` of texts."""
    hashes = np.zeros(count, np.uint64)
    for codes in columns:
        hashes = _mixed(hashes * _ONE + codes.astype(np.int64, copy=False).view(np.uint64))
    return (hashes >> np.uint64(32)).astype(np.uint32)


def _mixed(values: U64) -> U64:
    """Return splitmix64's finish of each."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * _ONE
    values = (values ^ (values >> np.uint64(27))) * _TWO
    return values ^ (values >> np.uint64(31))
