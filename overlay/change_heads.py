"""How the changes of a subscription begin (`overlay/delivery.py`), remembered for those that change often.

A text and the id as objects are 250 bytes, far too much for each of a million; most of those are silent at any time.
Cost: at most `_REMEMBERED` of them, 0.1 us where remembered, else 0.5 us each and 10 us a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from overlay.delivery import change_head, json_names
from state.change_batch import I64

_REMEMBERED = 4_096

Naming = Callable[[I64], tuple[list[bytes], list[int]]]
"""Gives the ids and versions of slots."""


class ChangeHeads:
    """Ids and beginnings by slot; `names` is asked for those that are not remembered."""

    def __init__(self, names: Naming) -> None:
        self._names = names
        self._ids: dict[int, bytes] = {}
        self._heads: dict[int, str] = {}

    def of(self, slots: Sequence[int]) -> tuple[dict[int, bytes], dict[int, str]]:
        """Return ids and beginnings, in which every one of `slots` has its own; good until the next call."""
        missing = set(slots).difference(self._heads)
        if missing:
            if len(self._heads) + len(missing) > _REMEMBERED:
                self._ids, self._heads = {}, {}
                missing = set(slots)
            self._make(sorted(missing))
        return self._ids, self._heads

    def forget(self, slots: Sequence[int]) -> None:
        """Forget slots: another subscription may get them."""
        if self._heads:
            for slot in slots:
                if self._heads.pop(slot, None) is not None:
                    del self._ids[slot]

    def _make(self, slots: list[int]) -> None:
        keys, versions = self._names(np.array(slots, np.int64))
        self._ids.update(zip(slots, keys, strict=True))
        self._heads.update(zip(slots, map(change_head, json_names(keys), versions), strict=True))
