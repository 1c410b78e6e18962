"""The causes that the rows of a record name: each named cause once, in order, as a table of its own.

    cause                             a row each message or image: the number of its cause, ascending
    topic partition offset several    a row each cause that is named; the rows behind them mean nothing

`several`: the cause changed several rows, all of which are one change to whoever is told. What has one number in one
batch of a shard is one cause, in whatever chunk it stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from operators.wire.columns import Columns, filled
from operators.wire.header import Header
from state.causes import Causes
from state.change_batch import I32, I64, Bool

Caused = tuple[I64, I64, I64, Bool | None, I64 | None]
"""Cause, partition and offset of each row of a record, whether its cause changed several rows (None: none did), and the
place of its topic in the header's (None: there are not several)."""


def cause_columns(
    cause: I32, causes: Causes, several: Bool | None
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, I64]]:
    """Return the columns that name `causes`, and those of them whose neighbours are alike.

    cause: ascending numbers of `causes`.  several: bool[causes], those that changed several rows (None: none).
    """
    rows = len(cause)
    named = cause[np.flatnonzero(np.diff(cause, prepend=-1))]
    numbers = {
        "topic": filled(causes.topic[named], rows),
        "partition": filled(causes.partition[named], rows),
        "several": filled(np.zeros(len(named)) if several is None else several[named], rows),
    }
    return numbers, {"cause": cause.astype(np.int64), "offset": filled(causes.offset[named], rows)}


def read_causes(header: Header, columns: Columns) -> Caused:
    """Read what `cause_columns` wrote. Raises ValueError, KeyError where it is not sound."""
    cause = columns.ints("cause")
    topics = columns.places("topic", max(len(header.topics), 1))
    if len(cause) and (cause[0] < 0 or cause[-1] >= 2**31 or (cause[1:] < cause[:-1]).any()):
        raise ValueError("the column `cause` does not ascend from 0 or more to less than 2**31")
    place = np.cumsum(np.diff(cause, prepend=cause[:1]) > 0)
    several = columns.ints("several")[place].astype(np.bool_)
    some = several if several.any() else None
    topic = topics[place] if len(header.topics) > 1 else None
    return cause, columns.ints("partition")[place], columns.ints("offset")[place], some, topic
