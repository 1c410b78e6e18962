"""The compiled loop that writes lists as `edge-state` has them (`answers/answer_table.py`, `list_records`).

record   99 c3 c0 c0 c0 00 90 90   92   c4 04 <4 bytes>   c4 06 <6 bytes>   00
         a whole list, no bounds   two rows, each with its length           from place 0 on

numbers   int64[rows]     the rows of all lists, end to end; counts int64[lists] of each, less than 16
data, starts, lengths     the bytes of rows by number (`arena/text_arena.py`), of which the first `skip` are left out
out       uint8[sizes]    the records, end to end
"""

from __future__ import annotations

import numba
import numpy as np

from overlay.arena.key_kernels import U8, U32
from state.change_batch import I32, I64

HEAD = np.frombuffer(b"\x99\xc3\xc0\xc0\xc0\x00\x90\x90", np.uint8)
FEW_ROWS = 16
"""Of so many rows on their number is written otherwise."""
_BYTE, _SHORT = 0x100, 0x10000


@numba.njit(cache=True)
def sizes(numbers: I64, counts: I64, lengths: I32, skip: int, size: I64) -> None:
    """Write how many bytes the record of each list takes."""
    row = 0
    for i in range(len(counts)):
        size[i] = len(HEAD) + 2
        for _ in range(counts[i]):
            length = lengths[numbers[row]] - skip
            size[i] += length + (2 if length < _BYTE else 3 if length < _SHORT else 5)
            row += 1


@numba.njit(cache=True)
def write(numbers: I64, counts: I64, data: U8, starts: U32, lengths: I32, skip: int, out: U8) -> None:
    """Write the records."""
    row, at = 0, 0
    for i in range(len(counts)):
        for byte in HEAD:
            out[at] = byte
            at += 1
        out[at] = 0x90 + counts[i]
        at += 1
        for _ in range(counts[i]):
            start, length = np.int64(starts[numbers[row]]) + skip, lengths[numbers[row]] - skip
            wide = 1 if length < _BYTE else 2 if length < _SHORT else 4
            out[at] = 0xC4 + wide // 2
            at += 1
            for byte in range(wide - 1, -1, -1):
                out[at] = length >> 8 * byte & 0xFF
                at += 1
            for byte in range(length):  # a slice would bring numba's words for unequal shapes: 5 s of compiling
                out[at + byte] = data[start + byte]
            at += length
            row += 1
        out[at] = 0
        at += 1


ENTRIES = (sizes, write)


def warm() -> None:
    """Compile the kernels or load them from numba's cache, and refuse further specialisations of them."""
    one, byte = np.zeros(1, np.int64), np.zeros(1, np.uint8)
    starts, lengths, out = np.zeros(1, np.uint32), np.ones(1, np.int32), np.zeros(16, np.uint8)
    sizes(one, one + 1, lengths, 0, one.copy())
    write(one, one + 1, byte, starts, lengths, 0, out)
    for kernel in ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
