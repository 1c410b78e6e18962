"""Cuts: how an index of filters tells the values of a column apart, by 63 cells and one for NULL.

Cells should hold about as many rows each, whatever the values are; so they are cut at the quantiles of rows that went
through the index. Of these a sample is kept: everything at first, then one of sixteen, the oldest replaced, so that
after 65,536 rows nothing is left of what was before. As long as there are fewer than 256, the constants of the filters
are taken for rows.

    values    1 1 1 1 1 1 2 3 5 8 8 9            cuts  2 5 8       the cell of a value: how many cuts are <= it
              └── cell 0 ─┘ └1┘ 2 └─3─┘

A column of few values is cut at each of them.

Which rows are taken is computed of their number (Fibonacci hashing): the same rows give the same cuts, and a pattern
in the data does not meet a pattern in the choice.

Invariants (`check`): 1 cuts ascend, at most 62 of them; 2 shares of a column add up to 1.
Cost: 1 ns a row that is seen, 10 ns and 9 bytes a column for one that is taken; cuts 0.1 ms a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from state import filter_kernels as kernels
from state.change_batch import I64, Bool
from state.filter_kernels import CUTS, F64, NULL_CELL
from state.grown_column import grown
from state.read_only import read_only

SAMPLE = 4_096
ENOUGH = 256
"""Rows of a sample from which on cuts are made of it."""
_ONE_OF = 16
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Cuts:
    """cuts: int64[c, 62], the first counts[c] ascending.  share: float64[c, 64], of the rows in each cell."""

    cuts: I64
    counts: I64
    share: F64

    @classmethod
    def none(cls, columns: int) -> Cuts:
        """Return no cuts: all values of a column are in one cell."""
        share = np.zeros((columns, 64))
        share[:, 0] = 1.0
        return cls(np.zeros((columns, CUTS), np.int64), np.zeros(columns, np.int64), share)

    @classmethod
    def of(cls, codes: I64, valid: Bool) -> Cuts:
        """Return cuts for rows like these, codes and validity [m, columns]; shares without rows are even ones."""
        made = cls.none(codes.shape[1])
        for c in range(codes.shape[1]):
            quantiles = _quantiles(codes[valid[:, c], c])
            made.cuts[c, : len(quantiles)], made.counts[c] = quantiles, len(quantiles)
        cells = made.cells(codes, valid)
        for c in range(codes.shape[1] if len(codes) else 0):
            made.share[c] = np.bincount(cells[:, c], minlength=64) / len(codes)
        return made

    def widened(self, columns: int) -> Cuts:
        """Return these cuts with none of further columns."""
        wider, now = Cuts.none(columns), len(self.counts)
        wider.cuts[:now], wider.counts[:now], wider.share[:now] = self.cuts, self.counts, self.share
        return wider

    def cells(self, codes: I64, valid: Bool) -> npt.NDArray[np.uint8]:
        """Return the cell of each value of m rows. Cost: 5 ns each."""
        cells = np.empty(codes.shape, np.uint8)
        kernels.cells_of(read_only(codes), read_only(valid), self.cuts, self.counts, cells)
        return cells

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError."""
        for cuts, count, share in zip(self.cuts, self.counts.tolist(), self.share, strict=True):
            assert 0 <= count <= CUTS and (cuts[1:count] > cuts[: max(count - 1, 0)]).all(), (1, cuts, count)
            assert abs(share.sum() - 1) < 1e-9 and not share[count + 1 : NULL_CELL].any(), (2, share, count)


def _quantiles(values: I64) -> I64:
    """Return at most 62 cuts that part `values` into cells of about the same size."""
    if not len(values):
        return values
    distinct = np.unique(values)
    if len(distinct) <= CUTS + 1:
        return distinct[1:]
    ranked = np.sort(values)
    return np.unique(ranked[np.arange(1, CUTS + 1) * len(ranked) // (CUTS + 1)])


class RowSample:
    """The last rows of those that went through an index, one of sixteen."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self.clear()

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> tuple[I64, Bool]:
        """Codes and validity, [rows, columns]."""
        return self._codes[: self._count], self._valid[: self._count]

    def clear(self) -> None:
        """Forget all rows."""
        self._codes: I64 = np.zeros((0, self._columns), np.int64)
        self._valid: Bool = np.zeros((0, self._columns), np.bool_)
        self._count = self._seen = self._oldest = 0

    def widen(self, columns: int) -> None:
        """Give the rows more columns, NULL in all of them."""
        more = ((0, 0), (0, columns - self._columns))
        self._codes, self._valid = np.pad(self._codes, more), np.pad(self._valid, more)
        self._columns = columns

    def take(self, codes: I64, valid: Bool, there: Bool) -> None:
        """Look at the rows of a batch that are `there`, and keep some of them."""
        which = np.flatnonzero(there)
        missing = SAMPLE - self._count
        if missing:
            chosen = which[np.arange(missing) * len(which) // missing] if len(which) > missing else which
            at = self._count + np.arange(len(chosen))
            self._count += len(chosen)
            self._codes, self._valid = grown(self._codes, self._count), grown(self._valid, self._count)
        else:
            numbers = np.arange(self._seen, self._seen + len(which), dtype=np.uint64)
            chosen = which[(numbers * _GOLDEN >> np.uint64(32)) % np.uint64(_ONE_OF) == 0][-SAMPLE:]
            at = (self._oldest + np.arange(len(chosen))) % SAMPLE
            self._oldest = (self._oldest + len(chosen)) % SAMPLE
        self._seen += len(which)
        self._codes[at], self._valid[at] = codes[chosen], valid[chosen]
