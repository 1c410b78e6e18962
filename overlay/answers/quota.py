"""How large a DISTINCT answer may get: what is beyond ends its subscription, with reason `quota`.

What is kept for one subscription is bounded. Answers of more than 0.9 MB travel and are told in several records
(`overlay/delivery/long_delivery.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

MEMBERS = 100_000
"""Most values of a DISTINCT answer."""
TEXT_BYTES = 4_000_000
"""Most bytes of their JSON texts together (for VARCHAR and wide DECIMAL; all others are short)."""
REASON = "quota"


def size_of(values: Iterable[int | str | None]) -> int:
    """Return the bytes that the texts among `values` take in JSON. Cost: O(bytes)."""
    return sum(len(msgspec.json.encode(value)) + 1 for value in values if isinstance(value, str))


def exceeds(members: int, size: int) -> bool:
    """Whether an answer of so many members, whose texts have `size` bytes, is too large."""
    return members > MEMBERS or size > TEXT_BYTES
