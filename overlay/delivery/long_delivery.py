"""Deliveries of a DISTINCT that are too long for a record, cut into several.

    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [1, 2], "at": …, "part": 0, "of": 3}
    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [3, 4], "at": …, "part": 1, "of": 3}
    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [5],    "at": …, "part": 2, "of": 3}

The parts are one delivery: they have one `n`, stand one behind the other in one partition and come with one
transaction, so whoever reads what is committed gets all of them or none. Each says all that the delivery says, but for
the values, of which each has its own. Only `removed` and `added` are cut: everything else together is short.

Cost: O(bytes), and nothing for deliveries that fit.
"""

from __future__ import annotations

import msgspec

from state.byte_runs import RECORD_BYTES, byte_runs

_Values = list[msgspec.Raw]


class _Delivery(msgspec.Struct, omit_defaults=True):
    id: msgspec.Raw
    kind: str
    version: int
    n: int
    removed: _Values
    added: _Values
    at: msgspec.Raw
    changes: int = 1
    sql: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    reason: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    part: int | msgspec.UnsetType = msgspec.UNSET
    of: int | msgspec.UnsetType = msgspec.UNSET


_DECODER = msgspec.json.Decoder(_Delivery)


def cut(value: bytes, most: int = RECORD_BYTES) -> list[bytes]:
    """Return the records of a delivery: itself where it has at most `most` bytes or is no DISTINCT, else its parts."""
    if len(value) <= most or b'"added":' not in value:
        return [value]
    try:
        whole = _DECODER.decode(value)
    except msgspec.ValidationError:  # a text that looks like a member's name
        return [value]
    values = [*whole.removed, *whole.added]
    sizes = [len(bytes(raw)) + 1 for raw in values]
    shell = len(value) - sum(sizes)
    gone = len(whole.removed)
    runs = list(byte_runs(sizes, max(most - shell - 40, 1))) or [slice(0, 0)]
    parts = []
    for number, run in enumerate(runs):
        removed, added = values[run.start : min(run.stop, gone)], values[max(run.start, gone) : run.stop]
        part = msgspec.structs.replace(whole, removed=removed, added=added, part=number, of=len(runs))
        parts.append(msgspec.json.encode(part))
    return parts
