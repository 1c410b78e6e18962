"""The rows of a stream as one view takes them: whole windows alone, and each as long as it is kept.

created while the stream was at 10:20     the first window is that of 11:00
keep 2 h, horizon at 13:00                the window of 10:00 goes with the last row of the next batch that has one

A view that does not group by windows takes the rows that come from its creation on.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Callable
from collections.abc import Sequence as Many
from itertools import pairwise

from tidewire.verification.input.closing import fold_window
from tidewire.verification.input.declared_views import View
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.stream_walk import Mark, micros
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_expressions import Row, evaluator


def kept_rows(
    rows: Many[Version], view: View, sequence: Sequence, marks: Many[Mark], before: int | None, since: int
) -> list[Version]:
    """Return the rows of a stream that a view takes. `before`: the batch before it was there, None if there is none.

    rows, marks, since: in seqs of what the view is made of, which may be a cell's; `since` is the last one of `before`.
    """
    found = _window(view, sequence)
    if found is None:
        return [row for row in rows if row.start > since]
    place, size = found
    first = None if before is None else _first(marks, before, size)
    ends = _ends(marks, size, sequence)
    uptos = [upto for upto, _ in ends]
    kept = []
    for row in rows:
        start = place(row.row)
        if first is not None and start < first:
            continue
        gone = bisect.bisect_left(uptos, start)
        end = ends[gone][1] if gone < len(ends) else None
        kept.append(row if end is None else row._replace(end=min(max(end, row.start), FOREVER)))
    return kept


def _window(view: View, sequence: Sequence) -> tuple[Callable[[Row], int], int] | None:
    """Return what computes the start of a row's window, and the length of windows; None where there are none."""
    stream = sequence.table.stream
    assert stream is not None
    found = fold_window(view, {sequence.subject[0]: sequence.table})
    if found is None:
        return None
    of, size = evaluator(found[0]), found[1]

    def start(row: Row) -> int:
        moment = of(row)
        assert isinstance(moment, dt.datetime)
        return micros(moment)

    return start, size


def _first(marks: Many[Mark], before: int, size: int) -> int | None:
    furthest = next((mark.furthest for mark in marks if mark.batch == before), None)
    return None if furthest is None else (furthest // size + 1) * size


def _ends(marks: Many[Mark], size: int, sequence: Sequence) -> list[tuple[int, int]]:
    """Return which windows go, by the start of the last one, and with which row; ascending."""
    stream = sequence.table.stream
    if stream is None or stream.keep is None:
        return []
    found: list[tuple[int, int]] = []
    for before, mark in pairwise(marks):
        if before.upto is not None and mark.counted is not None:
            last = (before.upto - stream.keep - size) // size * size
            if not found or last > found[-1][0]:
                found.append((last, mark.counted))
    return found
