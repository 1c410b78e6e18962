"""Row changes as columns: what a decoder makes, and what row stores and operators take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@dataclass(slots=True)
class ChangeBatch:
    """m row changes of one relation, in the order in which they take effect.

    Columns are numbered as declared. A coded column has its order codes in `codes[c]`; a text column (VARCHAR,
    wide DECIMAL) has its text in `texts[c]` and nothing of use in `codes[c]`. `valid[c, i]` is False for NULL.
    Rows with `live[i]` False are deletes: only `keys[i]` counts.

    keys: m canonical primary keys (the row's identity, exact bytes).
    live: bool[m].  codes: int64[columns, m].  valid: bool[columns, m].  texts: column -> m strings or None.
    partition, offset: int32[m], int64[m]: where each change came from; they travel with the messages it causes.
    kept: None, or bool[columns, m]: members that were absent and keep the stored value. In a new row they have what
        stands here: NULL, or what a range means that nobody constrains.
    implied: None, or bool[m]: deletes that follow from a record of no or another row (a truncate, a change of key), so
        that its partition says nothing of where the row's own records stand.
    cause: int32[m], the number of each change's cause (state/causes.py), from 0 and ascending: those of one record
        share one. Of a view's changes some numbers may be missing. Where it is not given, each change is its own.
    """

    keys: Sequence[bytes]
    live: Bool
    codes: I64
    valid: Bool
    texts: dict[int, Sequence[str | None]]
    partition: I32
    offset: I64
    kept: Bool | None = None
    implied: Bool | None = None
    cause: I32 = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        if len(self.cause) != len(self.keys):
            self.cause = np.arange(len(self.keys), dtype=np.int32)

    @property
    def shared(self) -> bool:
        """Whether some changes share their cause. Cost: O(m), 0.3 ns each."""
        return bool((self.cause[1:] == self.cause[:-1]).any())

    @property
    def several(self) -> Bool | None:
        """bool[causes], which causes are of several changes; None where none is. Cost: O(m), where some are."""
        return np.bincount(self.cause) > 1 if self.shared else None

    def __len__(self) -> int:
        return len(self.keys)
