"""How columns are laid out as sections of a state: as narrow as their values allow, so that equal ones are equal bytes.

integers    the smallest signed type that holds them all
strings     `<name>/length`, the lengths in the smallest unsigned type, and `<name>/bytes`, end to end
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from state.blob import Section
from state.byte_table import Strings

Sections = dict[str, bytes | npt.NDArray[Any]]
_NARROW = (np.int8, np.int16, np.int32)
_NARROW_LENGTHS = (np.uint8, np.uint16, np.uint32)


def narrow(values: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.signedinteger]:
    """Return the same integers in the smallest signed type that holds them all."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for dtype in _NARROW:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values


def write_strings(out: Sections, name: str, strings: Strings) -> None:
    """Put `strings`, which must be dense, into `out`."""
    lengths = strings.lengths
    longest = int(lengths.max()) if len(lengths) else 0
    dtype = next(dtype for dtype in _NARROW_LENGTHS if longest <= np.iinfo(dtype).max)
    out[f"{name}/length"] = lengths.astype(dtype)
    out[f"{name}/bytes"] = strings.data


def read_strings(sections: Mapping[str, Section], name: str) -> Strings:
    """Read what `write_strings` wrote."""
    return Strings.of_lengths(np.asarray(sections[f"{name}/bytes"]), np.asarray(sections[f"{name}/length"]))


def write_images(out: Sections, codes: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_]) -> None:
    """Put the columns of rows into `out`: int64[columns, rows] and bool[columns, rows]."""
    for column in range(len(codes)):
        out[f"code/{column}"] = narrow(codes[column])
        out[f"valid/{column}"] = np.packbits(valid[column])


def read_images(
    sections: Mapping[str, Section], columns: int, rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Read what `write_images` wrote; columns that were not there yet are NULL."""
    codes, valid = np.zeros((columns, rows), np.int64), np.zeros((columns, rows), np.bool_)
    for column in range(columns):
        if f"code/{column}" in sections:
            codes[column] = sections[f"code/{column}"]
            valid[column] = np.unpackbits(np.asarray(sections[f"valid/{column}"]), count=rows)
    return codes, valid
