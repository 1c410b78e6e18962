"""Runs of neighbours that take at most so many bytes together: how records, chunks and parts are cut.

    sizes  40 40 40 | 120 | 30 70 | 1        at most 100: the first run that does not fit ends before it,
           └──┘  └┘   └─┘   └───┘   ┘        and what is too large alone stands alone
    runs   0:2   2:3  3:4   4:6     6:7

A run takes whatever still fits and never less than one item. Where runs end is part of what is written: a batch that a
stopped engine wrote in part is written again, perhaps by a later version, and is recognised by its chunks. So another
rule here, or another number of bytes, needs another format of chunks: `FORMAT` (`operators/record_error.py`). They are
cut in `shard/encode.py` and `shard/outgoing*.py`, answers within by `apart` and `rows_apart` (`operators/`). An edge
writes all of a step or nothing: nobody depends on where it cuts `edge-state`, registrations and deliveries.

Cost: O(items + runs log items); 6 us for a handful.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

RECORD_BYTES = 900_000
"""What a record between tidewire's own parts takes, by a careful estimate: below the 1,048,588 that a broker takes by
default. Whatever cannot be cut may take up to `connectors.kafka.producer.MESSAGE_MAX_BYTES`."""


def byte_runs(
    sizes: Iterable[int] | npt.NDArray[np.integer], most: int = RECORD_BYTES, items: int | None = None
) -> Iterator[slice]:
    """Yield slices of neighbours that take at most `most` bytes together and are at most `items`, or are just one.

    They follow each other without a gap; no sizes give no run.
    """
    widths = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, np.int64)
    ends = np.cumsum(widths, dtype=np.int64)
    count = len(ends)
    start = before = 0
    while start < count:
        end = max(int(ends.searchsorted(before + most, side="right")), start + 1)
        end = end if items is None else min(end, start + items)
        yield slice(start, end)
        start, before = end, int(ends[end - 1])


def run_end(size_of: Callable[[int, int], int], start: int, count: int, most: int) -> int:
    """Return the last end, at most `count`, of which the items from `start` take `most` bytes; one item at least.

    For items that share bytes with their neighbours: size_of(start, end) is what a stretch takes, and grows with `end`.
    Cost: O(log items) calls.
    """
    low, high = start + 1, count
    while low < high:
        middle = (low + high + 1) // 2
        if size_of(start, middle) <= most:
            low = middle
        else:
            high = middle - 1
    return low
