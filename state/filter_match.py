"""Which boxes of an index of filters changes of rows leave, enter, or change in: the compiled loops of `match`.

Arrays are those of `filter_kernels.py`, with the same letters for their sizes. Inside, eight words of bits are one
value, a *line*, which is a vector to LLVM: written out as words it keeps them in eight registers that it has not got,
or reads one word of eight lines at a time, and either takes three times as long.

Changes are taken together, `TOGETHER` or fewer, so that each segment's bits are read once into the processor's cache:

    changes ──► what each is about: bits of interest, columns whose cells are apart
            ──► by 64 segments: which of them each change has to look at        gate, cares
            ──► by segment, by change: candidates ──► judged on both images ──► hits, sorted by change at the end
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic, models, register_model

from state.change_batch import I32, I64, Bool
from state.filter_kernels import SEVERAL, U8, U64, WORDS

I8 = npt.NDArray[np.int8]

TOGETHER = 4_096
"""Changes that are judged together: several for each of the thousand lines of a segment that they read."""

_ENTRY = {"cache": True, "_nrt": False}
_INNER = {"cache": True, "_nrt": False, "forceinline": True}
_WORD = ir.IntType(64)
_LINE = ir.VectorType(_WORD, WORDS)


class _Line(types.Type):
    """The type of lines in compiled code."""

    def __init__(self) -> None:
        super().__init__(name="Line")


@register_model(_Line)
class _LineModel(models.PrimitiveModel):  # type: ignore[misc]
    """A line is a vector of eight words."""

    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _LINE)


_line_type = _Line()


def _data(context: Any, builder: Any, type_: Any, array: Any) -> Any:
    return context.make_array(type_)(context, builder, array).data


@intrinsic
def _line(_typing: Any, words: Any, at: Any) -> Any:
    """Return the line that begins at words[at]."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        begin = builder.gep(_data(context, builder, signature.args[0], given[0]), [given[1]])
        return builder.load(builder.bitcast(begin, _LINE.as_pointer()), align=8)

    return _line_type(words, types.int64), emit


@intrinsic
def _none(_typing: Any) -> Any:
    """Return a line without a bit."""
    return _line_type(), lambda _context, _builder, _signature, _given: ir.Constant(_LINE, None)


@intrinsic
def _and(_typing: Any, _a: Any, _b: Any) -> Any:
    """Return the bits that both lines have."""
    return _line_type(_line_type, _line_type), lambda _context, builder, _signature, given: builder.and_(*given)


@intrinsic
def _or(_typing: Any, _a: Any, _b: Any) -> Any:
    """Return the bits that either line has."""
    return _line_type(_line_type, _line_type), lambda _context, builder, _signature, given: builder.or_(*given)


@intrinsic
def _without(_typing: Any, _a: Any, _b: Any) -> Any:
    """Return the bits of the first line that the second has not."""

    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.and_(given[0], builder.not_(given[1]))

    return _line_type(_line_type, _line_type), emit


@intrinsic
def _words(_typing: Any, _a: Any) -> Any:
    """Return a bit for each word of a line that has some."""

    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        some = builder.icmp_unsigned("!=", given[0], ir.Constant(_LINE, None))
        return builder.zext(builder.bitcast(some, ir.IntType(WORDS)), _WORD)

    return types.uint64(_line_type), emit


@intrinsic
def _store(_typing: Any, _a: Any, words: Any) -> Any:
    """Write a line to the first words of an array."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = _data(context, builder, signature.args[1], given[1])
        builder.store(given[0], builder.bitcast(data, _LINE.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(_line_type, words), emit


@numba.njit(**_INNER)
def _lowest(mask: np.uint64) -> int:
    """Return the number of the lowest bit that is set."""
    lowest: int = np.int64(trailing_zeros(mask))  # type: ignore[assignment]
    return lowest


@numba.njit(**_INNER)
def _differs(old: I64, old_valid: Bool, new: I64, new_valid: Bool, i: int) -> np.uint64:
    """Return bit c & 63 of every column c in which the two images of change i differ."""
    bits = np.uint64(0)
    for c in range(old.shape[1]):
        if old_valid[i, c] != new_valid[i, c] or (new_valid[i, c] and old[i, c] != new[i, c]):
            bits |= np.uint64(1) << np.uint64(c & 63)
    return bits


@numba.njit(**_INNER)
def _prepare(
    begin: int, end: int, old: I64, old_valid: Bool, had: Bool, new: I64, new_valid: Bool, has: Bool, changed: U64,
    cells_old: U8, cells_new: U8, interests: int, bits: U64, apart: I32,
) -> None:  # fmt: skip
    """Write what changes are about: bits of their columns that are of interest, all for a row that comes or goes.

    apart[q, 0] columns follow there in whose cells the images differ; a row that comes or goes has one image twice.
    """
    somebody = ~np.uint64(0) >> np.uint64(64 - interests)
    for i in range(begin, end):
        a, b, q = had[i], has[i], i - begin
        apart[q, 0] = 0
        bits[q] = ~np.uint64(0) if a or b else np.uint64(0)
        if a and b:
            bits[q] = (changed[i] | _differs(old, old_valid, new, new_valid, i)) & somebody
        for c in range(cells_old.shape[1]):
            if not a:
                cells_old[i, c] = cells_new[i, c]
            elif not b:
                cells_new[i, c] = cells_old[i, c]
            elif cells_old[i, c] != cells_new[i, c]:
                apart[q, 0] += 1
                apart[q, apart[q, 0]] = c


@numba.njit(**_INNER)
def _admitted(
    g: int, i: int, bits: np.uint64, gate: U64, cares: U64, apart: I32, q: int, cells_old: U8, cells_new: U8
) -> np.uint64:
    """Return the segments, of 64, that a change is of interest to and that have a box which an image may meet."""
    found = bits
    if bits != ~np.uint64(0):
        found = np.uint64(0)
        while bits != np.uint64(0):
            found |= cares[g, _lowest(bits)]
            bits &= bits - np.uint64(1)
    for c in range(gate.shape[1]):
        found &= gate[g, c, cells_new[i, c]] | gate[g, c, cells_old[i, c]]
    x = y = ~np.uint64(0)
    for k in range(1, apart[q, 0] + 1):
        c = apart[q, k]
        x &= gate[g, c, cells_new[i, c]]
        y &= gate[g, c, cells_old[i, c]]
    return found & (x | y)


@numba.njit(**_INNER)
def _distribute(
    begin: int, end: int, g: int, bits: U64, gate: U64, cares: U64, apart: I32, cells_old: U8, cells_new: U8,
    queue: I32, queued: I64,
) -> None:  # fmt: skip
    """List for each of 64 segments the changes that have to look at it."""
    queued[:] = 0
    for i in range(begin, end):
        q = i - begin
        found = bits[q]
        if found != np.uint64(0):
            found = _admitted(g, i, found, gate, cares, apart, q, cells_old, cells_new)
        while found != np.uint64(0):
            s = _lowest(found)
            found &= found - np.uint64(1)
            queue[s, queued[s]] = i
            queued[s] += 1


@numba.njit(**_INNER)
def _list(words: np.uint64, live: U64, begin: int, near: I64) -> int:
    """List the places of a line's bits, from `begin` on; `words` says which of its words have some."""
    n = 0
    while words != np.uint64(0):
        w = _lowest(words)
        words &= words - np.uint64(1)
        left = live[w]
        while left != np.uint64(0):
            near[n] = begin + w * 64 + _lowest(left)
            left &= left - np.uint64(1)
            n += 1
    return n


@numba.njit(**_INNER)
def _candidates(
    s: int, i: int, bits: np.uint64, shift: int, apart: I32, q: int, cells_old: U8, cells_new: U8, lines: U64,
    block: I32, known: I32, many: int, alive: U64, heard: U64, interests: int, live: U64, near: I64,
) -> int:  # fmt: skip
    """List the boxes of a segment that either image may meet and that are interested; return how many.

    First what leaves the fewest: who is interested, and the columns whose cells are apart, where a box is out if it
    stands against both images; then the other columns, until nobody is left.
    """
    left = _line(alive, s * 8)
    if bits != ~np.uint64(0):
        interested = _none()
        while bits != np.uint64(0):
            interested = _or(interested, _line(heard, (s * interests + _lowest(bits)) * 8))
            bits &= bits - np.uint64(1)
        left = _and(left, interested)
    if apart[q, 0] > 0:
        x, y = _none(), _none()
        for k in range(1, apart[q, 0] + 1):
            c = apart[q, k]
            at = np.int64(block[s, c]) * 64
            if at >= 0:
                x = _or(x, _line(lines, (at + cells_new[i, c]) * 8))
                y = _or(y, _line(lines, (at + cells_old[i, c]) * 8))
        left = _without(left, _and(x, y))
    for k in range(many):
        if _words(left) == np.uint64(0):
            return 0
        c = known[s, k]
        at = np.int64(block[s, c]) * 64
        both = _and(_line(lines, (at + cells_new[i, c]) * 8), _line(lines, (at + cells_old[i, c]) * 8))
        left = _without(left, both)
    _store(left, live)
    return _list(_words(left), live, s << shift, near)


@numba.njit(**_INNER)
def _sift(
    rec: I64, near: I64, n: int, old: I64, old_valid: Bool, had: bool, new: I64, new_valid: Bool, has: bool, i: int,
) -> int:  # fmt: skip
    """Keep the candidates whose first interval holds either image.

    Without a branch: which of them stay is what no processor foresees.
    """
    left = 0
    for q in range(n):
        f = near[q]
        head = rec[f, 1]
        c = head & 0xFFFF
        lo, width = np.uint64(rec[f, 2]), np.uint64(rec[f, 3])
        good = has & new_valid[i, c] & ((np.uint64(new[i, c]) - lo) <= width)
        good |= had & old_valid[i, c] & ((np.uint64(old[i, c]) - lo) <= width)
        good |= ((head >> 32) & 0xFF) == 0
        near[left] = f
        left += good
    return left


@numba.njit(**_INNER)
def _within(bounds: I64, start: int, stop: int, value: int) -> bool:
    """Whether one of some ascending intervals holds `value`."""
    low, high = start, stop
    while low < high:
        mid = (low + high) >> 1
        if bounds[mid, 1] < value:
            low = mid + 1
        else:
            high = mid
    return low < stop and bounds[low, 0] <= value


@numba.njit(**_INNER)
def _rest_holds(rest: I64, start: int, stop: int, bounds: I64, codes: I64, valid: Bool, i: int) -> bool:
    for p in range(start, stop):
        head, lo, hi = rest[p, 0], rest[p, 1], rest[p, 2]
        value = codes[i, head & 0xFFFF]
        if not valid[i, head & 0xFFFF]:
            good = (head >> 16) & 1 == 1
        elif head >> 17 == 1:
            good = lo <= value <= hi
        else:
            good = _within(bounds, lo, lo + (head >> 17), value)
        if not good:
            return False
    return True


@numba.njit(**_INNER)
def _holds(rec: I64, rest: I64, bounds: I64, f: int, codes: I64, valid: Bool, i: int) -> bool:
    """Whether row i meets the box at place f."""
    head = rec[f, 1]
    for j in range((head >> 32) & 0xFF):
        c = (head >> (16 * j)) & 0xFFFF
        if not valid[i, c] or np.uint64(codes[i, c]) - np.uint64(rec[f, 2 + 2 * j]) > np.uint64(rec[f, 3 + 2 * j]):
            return False
    more = (head >> 40) & 0xFF
    return more == 0 or _rest_holds(rest, rec[f, 6], rec[f, 6] + more, bounds, codes, valid, i)


@numba.njit(**_INNER)
def _kind(
    f: int, rec: I64, rest: I64, bounds: I64, first: I32, following: I32, old: I64, old_valid: Bool, had: bool,
    new: I64, new_valid: Bool, has: bool, i: int,
) -> int:  # fmt: skip
    """Return what a change means to the slot of box f: 0 nothing, 1 it leaves, 2 it enters, 3 it stays within.

    Of the boxes of a slot that either image meets, all of which are candidates, only the first says so.
    """
    was = had and _holds(rec, rest, bounds, f, old, old_valid, i)
    now = has and _holds(rec, rest, bounds, f, new, new_valid, i)
    if (was or now) and (rec[f, 1] & SEVERAL) != 0:
        before, other = True, np.int64(first[rec[f, 7]])
        while other >= 0:
            if other == f:
                before = False
            else:
                here = had and _holds(rec, rest, bounds, other, old, old_valid, i)
                there = has and _holds(rec, rest, bounds, other, new, new_valid, i)
                if before and (here or there):
                    return 0
                was, now = was or here, now or there
            other = np.int64(following[other])
    return (1 if was else 0) + (2 if now else 0)


@numba.njit(**_INNER)
def _judge(
    near: I64, n: int, rec: I64, rest: I64, bounds: I64, first: I32, following: I32, old: I64, old_valid: Bool,
    had: bool, new: I64, new_valid: Bool, has: bool, i: int, out_change: I32, out_slot: I64, out_kind: I8, count: int,
) -> int:  # fmt: skip
    """Write the hits among candidates from `count` on; return how many there are then, or -1 for want of room."""
    for q in range(n):
        f = near[q]
        kind = _kind(f, rec, rest, bounds, first, following, old, old_valid, had, new, new_valid, has, i)
        if kind != 0:
            if count == len(out_change):
                return -1
            out_change[count], out_slot[count], out_kind[count] = i, rec[f, 7], kind
            count += 1
    return count


@numba.njit(**_ENTRY)
def match(
    old: I64, old_valid: Bool, had: Bool, new: I64, new_valid: Bool, has: Bool, changed: U64, cells_old: U8,
    cells_new: U8, shift: int, segments: int, gate: U64, cares: U64, lines: U64, block: I32, known: I32, many: I32,
    alive: U64, heard: U64, rec: I64, rest: I64, bounds: I64, first: I32, following: I32, start: int, together: int,
    out_change: I32, out_slot: I64, out_kind: I8, bits: U64, apart: I32, queue: I32, queued: I64, live: U64, near: I64,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the hits of changes from `start` on, those of `together` changes by segments: `in_order` sorts them.

    Returns (next, count, candidates): where it stopped for want of room for all hits of the next `together` changes,
    how many hits of the changes before that there are, and how many boxes were looked at for them.
    """
    count, looked, interests = 0, 0, cares.shape[1]
    for begin in range(start, len(had), together):
        end, before, seen = min(begin + together, len(had)), count, looked
        _prepare(
            begin, end, old, old_valid, had, new, new_valid, has, changed, cells_old, cells_new, interests, bits, apart
        )
        for g in range(len(gate)):
            _distribute(begin, end, g, bits, gate, cares, apart, cells_old, cells_new, queue, queued)
            for s in range(g * 64, min(g * 64 + 64, segments)):
                for p in range(queued[s & 63]):
                    i = np.int64(queue[s & 63, p])
                    n = _candidates(
                        s, i, bits[i - begin], shift, apart, i - begin, cells_old, cells_new, lines, block, known,
                        many[s], alive, heard, interests, live, near,
                    )  # fmt: skip
                    looked += n
                    n = _sift(rec, near, n, old, old_valid, had[i], new, new_valid, has[i], i)
                    count = _judge(
                        near, n, rec, rest, bounds, first, following, old, old_valid, had[i], new, new_valid, has[i], i,
                        out_change, out_slot, out_kind, count,
                    )  # fmt: skip
                    if count < 0:
                        return begin, before, seen
    return len(had), count, looked


@numba.njit(**_ENTRY)
def in_order(
    change: I32, slot: I64, kind: I8, first: int, at: I64, out_change: I32, out_slot: I64, out_kind: I8
) -> None:
    """Write hits of changes from `first` on in the order of these. `at` has room for each change, and is 0."""
    for h in range(len(change)):
        at[change[h] - first] += 1
    total = 0
    for i in range(len(at)):
        at[i], total = total, total + at[i]
    for h in range(len(change)):
        i = change[h] - first
        p = at[i]
        out_change[p], out_slot[p], out_kind[p] = change[h], slot[h], kind[h]
        at[i] = p + 1


ENTRIES = (match, in_order)
"""The kernels that are called from Python."""
