"""What is right, found from the side of the filters: each looks up the images that it holds for.

Peers go from a change to its filters; here every column of all images, old and new, is sorted once, and a filter looks
through those that meet its narrowest condition.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.filter_workload import COLUMNS
from benchmarks.peers.filters.workload import ENTERED, LEFT, WITHIN, FilterWorkload
from benchmarks.peers.measured import Expected
from benchmarks.peers.workload import I64, digest


def expected(workload: FilterWorkload) -> Expected:
    """Return digests of what each batch must tell, with nothing before the first, and what the last one must."""
    images = np.concatenate([workload.rows, workload.changes.image])
    image, filters = _met(workload, images)
    n, m = len(workload.filters.columns), len(workload.changes)
    starts = np.searchsorted(image, np.arange(len(images) + 1))
    old = _pairs(starts, _before(workload), filters, n)
    new = _pairs(starts, len(workload.rows) + np.arange(m), filters, n)
    pair = np.union1d(old, new)
    was, is_now = np.isin(pair, old), np.isin(pair, new)
    kind = np.where(was & is_now, WITHIN, np.where(was, LEFT, ENTERED))
    codes = workload.codes(pair // n, pair % n, kind)
    ends = np.searchsorted(codes, np.arange(0, m + workload.batch, workload.batch) * n * 4)
    told = [codes[first:end] for first, end in pairwise(ends.tolist())]
    return Expected([digest(codes[:0]), *map(digest, told)], told[-1])


def _met(workload: FilterWorkload, images: I64) -> tuple[I64, I64]:
    """Return which image meets which filter, ascending by images."""
    asked = workload.filters
    orders = np.argsort(images, axis=0)
    first, end = np.zeros_like(asked.lo), np.full_like(asked.lo, len(images) + 1)
    for column in range(COLUMNS):
        which, sorted_values = asked.columns == column, images[orders[:, column], column]
        first[which] = np.searchsorted(sorted_values, asked.lo[which], "left")
        end[which] = np.searchsorted(sorted_values, asked.hi[which], "right")
    narrowest = (end - first).argmin(axis=1)
    found = []
    for i, j in enumerate(narrowest.tolist()):
        at = orders[first[i, j] : end[i, j], asked.columns[i, j]]
        used = asked.columns[i] >= 0
        values = images[at[:, None], asked.columns[i, used]]
        found.append(at[((asked.lo[i, used] <= values) & (values <= asked.hi[i, used])).all(axis=1)])
    filters = np.repeat(np.arange(len(found)), [len(each) for each in found])
    image = np.concatenate(found)
    order = np.lexsort((filters, image))
    return image[order], filters[order]


def _before(workload: FilterWorkload) -> I64:
    """Return which image each change replaces."""
    last, before = list(range(len(workload.rows))), []
    for change, row in enumerate(workload.changes.row.tolist()):
        before.append(last[row])
        last[row] = len(workload.rows) + change
    return np.array(before, np.int64)


def _pairs(starts: I64, images: I64, filters: I64, n: int) -> I64:
    """Return `change * n + filter` of the filters that each change's image of `images` meets."""
    many = starts[images + 1] - starts[images]
    change = np.repeat(np.arange(len(images)), many)
    place = np.arange(len(change)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(starts[images], many)
    return np.asarray(change * n + filters[place], np.int64)
