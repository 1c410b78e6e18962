"""Boxes: a small summary of many ranges in many groups, that says of a rectangle whether any of them can be in it.

A range is a point (lo, hi) in the plane of ranges, of a group. A rectangle says which ranges a message is about.
A few boxes that cover all points are enough to say "nobody here" of most rectangles that meet no point:

     hi |     +--+          boxes [lo_min, lo_max] x [hi_min, hi_max], closed, each with the groups of its points
        |     |..|          m: a message; it meets no box that has its group, so nobody wants it
        |  m  +--+
        |      +-----+      Never a false negative: whatever rectangle holds a point of the set, meets a box.
        | +--+ |. .. |      False positives: as many as the boxes' empty room gets.
        +-+--+-+-----+- lo

Groups are known by a 32-bit hash (`hashes_of`): two with one hash are taken for one, which costs a false positive. A
box of which a summary cannot hold all groups stands for any group.

Invariants (`check`): 1 at most `MAX_BOXES` boxes, none of them empty. 2 A box's groups are sorted, each once. 3 All
boxes together hold at most `MAX_GROUPS` groups.

    | operation          | cost                                                                             |
    | ------------------ | -------------------------------------------------------------------------------- |
    | of n points        | O(n log boxes) and a sort of 2,048 points a cut: 50 ms at n = 60,000, 7 at 1,000 |
    | widen by n points  | O(n) where boxes cover them, else as above, and O(boxes^3): 9 ms at n = 600      |
    | meets, m times     | O(m * log boxes) (state/box_sieve.py)                                            |

Source: Summaries paper (offline R-tree by bulk loading and greedy cuts; Bloom filters are left to hashes here).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
from numba.core.dispatcher import Dispatcher

from state import box_sieve
from state.box_cut import cut
from state.box_merge import join
from state.box_sieve import LANE, Sieve
from state.change_batch import I32, I64, Bool
from state.errors import StateError
from state.order_code import INT64_MAX, INT64_MIN

MAX_BOXES = LANE
MAX_GROUPS = 1024

U32 = npt.NDArray[np.uint32]


def hashes_of(groups: Sequence[bytes]) -> U32:
    """Return the hash of each group: CRC-32, the same in every process. Cost: 0.1 us each."""
    return np.array([zlib.crc32(group) for group in groups], np.uint32)


class _Stored(msgspec.Struct, array_like=True):
    bounds: bytes
    groups: list[bytes | None]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Box b is `bounds[b]` = lo_min, lo_max, hi_min, hi_max, of the groups `groups[b]` (None: any)."""

    bounds: I64
    groups: tuple[U32 | None, ...]

    def __len__(self) -> int:
        return len(self.groups)

    @classmethod
    def none(cls) -> Boxes:
        """Return no boxes: what nothing meets."""
        return cls(np.zeros((0, 4), np.int64), ())

    @classmethod
    def of(cls, hashes: U32, lo: I64 | None = None, hi: I64 | None = None, limit: int = MAX_BOXES) -> Boxes:
        """Return boxes that cover n ranges [lo[i], hi[i]] of the groups with these hashes.

        Without `lo` and `hi` the ranges have no order codes: the boxes tell groups apart, and nothing else.
        """
        if not len(hashes):
            return cls.none()
        if lo is None or hi is None:
            return cls._of_members(_unbounded(1), [np.unique(hashes)])
        members = cut(hashes, lo, hi, limit)
        bounds = [(lo[m].min(), lo[m].max(), hi[m].min(), hi[m].max()) for m in members]
        return cls._of_members(np.array(bounds, np.int64), [np.unique(hashes[m]) for m in members])

    @classmethod
    def _of_members(cls, bounds: I64, groups: Sequence[U32 | None]) -> Boxes:
        """Return boxes of these groups, the fullest ones loosened to any group until `MAX_GROUPS` is kept."""
        kept = list(groups)
        sizes = np.array([0 if group is None else len(group) for group in kept])
        while sizes.sum() > MAX_GROUPS:
            fullest = int(sizes.argmax())
            kept[fullest], sizes[fullest] = None, 0
        return cls(bounds, tuple(kept))

    def widen(self, hashes: U32, lo: I64 | None = None, hi: I64 | None = None, limit: int = MAX_BOXES) -> Boxes:
        """Return boxes that cover all that these do, and n more ranges; the very same ones where they do already."""
        m = len(hashes)
        points = _unbounded(m) if lo is None or hi is None else np.column_stack((lo, lo, hi, hi))
        fresh = ~self.meets(hashes, np.arange(m, dtype=np.int32), *points.T)
        if not fresh.any():
            return self
        if lo is None or hi is None:
            more = Boxes.of(hashes[fresh])
        else:
            more = Boxes.of(hashes[fresh], lo[fresh], hi[fresh], limit)
        bounds = np.concatenate((self.bounds, more.bounds))
        return self._of_members(*join(bounds, [*self.groups, *more.groups], limit))

    def meets(self, hashes: U32, group: I32, lo_min: I64, lo_max: I64, hi_min: I64, hi_max: I64) -> Bool:
        """Say of each rectangle whether it meets a box that has its group, whose hash is `hashes[group[i]]`."""
        channel = np.zeros(len(group), np.int32)
        return Sieve([[self]]).meets(hashes, channel, group, (lo_min, lo_max, hi_min, hi_max))[0]

    def dump(self) -> bytes:
        """Return the boxes as bytes; `load` reads them. The same boxes give the same bytes."""
        groups = [None if group is None else group.astype("<u4").tobytes() for group in self.groups]
        return msgspec.msgpack.encode(_Stored(self.bounds.astype("<i8").tobytes(), groups))

    @classmethod
    def load(cls, data: bytes) -> Boxes:
        """Read what `dump` wrote. Raises StateError for anything else."""
        try:
            stored = msgspec.msgpack.decode(data, type=_Stored)
            bounds = np.frombuffer(stored.bounds, "<i8").astype(np.int64).reshape(-1, 4)
            groups = [None if g is None else np.frombuffer(g, "<u4").astype(np.uint32) for g in stored.groups]
            boxes = cls(bounds, tuple(groups))
            boxes.check()
        except (msgspec.DecodeError, ValueError, AssertionError) as error:
            raise StateError(f"cannot read boxes: expected what `Boxes.dump` wrote, got {len(data)} bytes") from error
        return boxes

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(boxes + groups)."""
        bounds = self.bounds
        assert bounds.shape == (len(self.groups), 4), f"1: {bounds.shape} bounds, {len(self.groups)} sets of groups"
        assert len(self.groups) <= MAX_BOXES, f"1: {len(self.groups)} boxes"
        assert (bounds[:, 0] <= bounds[:, 1]).all() and (bounds[:, 2] <= bounds[:, 3]).all(), f"1: empty in {bounds}"
        held = [group for group in self.groups if group is not None]
        assert all(len(group) and (group[1:] > group[:-1]).all() for group in held), f"2: not sorted in {held}"
        assert sum(map(len, held)) <= MAX_GROUPS, f"3: {sum(map(len, held))} groups"


def warm() -> None:
    """Compile or load the kernel, and refuse to compile it again. Cost: 2 s the first time on a machine, then 10 ms."""
    hashes, zero = hashes_of([b"[]"]), np.zeros(1, np.int64)
    Boxes.of(hashes, zero, zero).meets(hashes, np.zeros(1, np.int32), zero, zero, zero, zero)
    for kernel in box_sieve.ENTRIES:
        if isinstance(kernel, Dispatcher):
            kernel.disable_compile()


def _unbounded(m: int) -> I64:
    """Return m boxes that hold every range."""
    return np.tile(np.array([INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX], np.int64), (m, 1))
