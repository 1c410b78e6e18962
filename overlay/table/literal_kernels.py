"""The compiled loops behind `table/statement_texts.py`: literals are packed, and statements written out of them.

All of them stand in this one file, because numba's cache does not see changes in another file's functions.
`table/literal_code.py` says how a text is packed; `pack_all` and `write_all` do the same as its `pack` and `unpack`.
Cost: 0.1 us a statement each way.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I64

U8 = npt.NDArray[np.uint8]

_SPACE, _QUOTE = 32, 39
_FILL, _OTHER, _AS_IT_IS = 14, 15, 0xEE


@numba.njit(cache=True)
def _digit_of(byte: int) -> int:
    """Return the digit that stands for a byte, -1 where it takes three."""
    if 48 <= byte <= 57:
        return byte - 48
    if byte == 46:
        return 10
    if byte == _SPACE:
        return 11
    if byte == _QUOTE:
        return 12
    return 13 if byte == 45 else -1


@numba.njit(cache=True)
def _byte_of(digit: int) -> int:
    """Return the byte that a digit below `_FILL` stands for."""
    if digit < 10:
        return digit + 48
    if digit == 10:
        return 46
    if digit == 11:
        return _SPACE
    return _QUOTE if digit == 12 else 45


@numba.njit(cache=True)
def _put_digit(out: U8, at: int, digit: int) -> int:
    """Write a digit at half byte `at`; return the next one."""
    if at & 1:
        out[at >> 1] |= np.uint8(digit)
    else:
        out[at >> 1] = np.uint8(digit << 4)
    return at + 1


@numba.njit(cache=True)
def _put(out: U8, at: int, byte: int) -> int:
    digit = _digit_of(byte)
    if digit >= 0:
        return _put_digit(out, at, digit)
    at = _put_digit(out, at, _OTHER)
    at = _put_digit(out, at, byte >> 4)
    return _put_digit(out, at, byte & 15)


@numba.njit(cache=True)
def _is_shorter(data: U8, spans: I64, start: int, count: int) -> bool:
    """Whether literals become no longer by packing."""
    size, digits = 0, 0
    for k in range(start, start + count):
        size += spans[k, 1] - spans[k, 0] + (k > start)
        digits += 1 if k > start else 0
        for at in range(spans[k, 0], spans[k, 1]):
            digits += 1 if _digit_of(data[at]) >= 0 else 3
    return digits <= 2 * size


@numba.njit(cache=True)
def pack_all(data: U8, spans: I64, first: I64, rows: I64, count: int, out: U8, sizes: I64) -> None:
    """Write the first `count` literals of each of `rows` (`catalog/bulk/cut_statements.py`), packed, end to end."""
    end = 0
    for i in range(len(rows)):
        start = first[rows[i]]
        at = 2 * end
        if _is_shorter(data, spans, start, count):
            for k in range(start, start + count):
                if k > start:
                    at = _put(out, at, _SPACE)
                for place in range(spans[k, 0], spans[k, 1]):
                    at = _put(out, at, data[place])
            if at & 1:
                at = _put_digit(out, at, _FILL)
            stop = at >> 1
        else:
            out[end] = _AS_IT_IS
            stop = end + 1
            for k in range(start, start + count):
                if k > start:
                    out[stop] = _SPACE
                    stop += 1
                for place in range(spans[k, 0], spans[k, 1]):
                    out[stop] = data[place]
                    stop += 1
        sizes[i] = stop - end
        end = stop


@numba.njit(cache=True)
def _digit_at(data: U8, at: int) -> int:
    """Return half byte `at`."""
    byte = np.int64(data[at >> 1])
    return int(byte & 15 if at & 1 else byte >> 4)


@numba.njit(cache=True)
def _unpack(data: U8, start: int, size: int, out: U8) -> int:
    """Write what packed literals say into `out`; return its length."""
    length = 0
    if size and data[start] == _AS_IT_IS:
        for at in range(start + 1, start + size):
            out[length] = data[at]
            length += 1
        return length
    at, end = 2 * start, 2 * (start + size)
    while at < end:
        digit = _digit_at(data, at)
        at += 1
        if digit == _FILL:
            break
        if digit == _OTHER:
            out[length] = _digit_at(data, at) << 4 | _digit_at(data, at + 1)
            at += 2
        else:
            out[length] = _byte_of(digit)
        length += 1
    return length


@numba.njit(cache=True)
def _copy(data: U8, start: int, end: int, out: U8, at: int) -> int:
    for k in range(start, end):
        out[at] = data[k]
        at += 1
    return at


@numba.njit(cache=True)
def write_all(
    data: U8, starts: I64, sizes: I64, template: I64, parts: U8, edges: I64, first: I64, out: U8, lengths: I64
) -> None:
    """Write statements end to end: the parts of their templates with the literals between.

    data      literals of statement i are data[starts[i] : starts[i] + sizes[i]], packed
    template  of each statement; -1: the literals are all of it, as they are
    parts     part p is parts[edges[p] : edges[p + 1]]; a template has those from first[t] to first[t + 1] - 1
    """
    text = np.empty(2 * max(sizes.max(), 1) if len(sizes) else 1, np.uint8)
    end = 0
    for i in range(len(starts)):
        begun = end
        if template[i] < 0:
            end = _copy(data, starts[i], starts[i] + sizes[i], out, end)
        else:
            part, last = first[template[i]], first[template[i] + 1] - 1
            end = _copy(parts, edges[part], edges[part + 1], out, end)
            length = _unpack(data, starts[i], sizes[i], text)
            quoted = False
            for at in range(length):
                if text[at] == _QUOTE:
                    quoted = not quoted
                if text[at] == _SPACE and not quoted:
                    part += 1
                    end = _copy(parts, edges[part], edges[part + 1], out, end)
                else:
                    out[end] = text[at]
                    end += 1
            if part < last:
                end = _copy(parts, edges[last], edges[last + 1], out, end)
        lengths[i] = end - begun


ENTRIES = (pack_all, write_all)
