"""Deliveries of many values or rows that are too long for a record, cut into several.

    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [1, 2], "at": …, "part": 0, "of": 3}
    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [3, 4], "at": …, "part": 1, "of": 3}
    {"id": "a", "kind": "snapshot", "version": 7, "n": 1, "removed": [], "added": [5],    "at": …, "part": 2, "of": 3}

The parts are one delivery: they have one `n`, stand one behind the other in one partition and come with one
transaction, so whoever reads what is committed gets all of them or none. Each says all that the delivery says, but for
the values, of which each has its own. Only `removed` and `added` are cut: everything else together is short.

Cost: O(bytes), and nothing for deliveries that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from state.byte_runs import RECORD_BYTES, byte_runs

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUES = msgspec.json.Decoder(list[msgspec.Raw])
_PART_BYTES = 40
"""What `part` and `of` take."""


def cut(value: bytes, most: int = RECORD_BYTES) -> list[bytes]:
    """Return the records of a delivery: itself where it has at most `most` bytes or tells no values, else its parts."""
    if len(value) <= most or b'"added":' not in value:
        return [value]
    whole: dict[str, object] = dict(_FIELDS.decode(value))
    if "added" not in whole:  # a text that looks like a member's name
        return [value]
    removed, added = (_VALUES.decode(bytes(whole[name])) for name in ("removed", "added"))  # type: ignore[call-overload]
    values = [*removed, *added]
    sizes = [len(bytes(raw)) + 1 for raw in values]
    runs, gone = _runs(sizes, len(value) - sum(sizes), most), len(removed)
    parts = []
    for number, run in enumerate(runs):
        own = {
            "removed": values[run.start : min(run.stop, gone)],
            "added": values[max(run.start, gone) : run.stop],
            "part": number,
            "of": len(runs),
        }
        parts.append(msgspec.json.encode(whole | own))
    return parts


def added_in_parts(
    make: Callable[[Sequence[str]], bytes], added: Sequence[str], most: int = RECORD_BYTES
) -> list[bytes]:
    """Return the records of a delivery that adds values, given as JSON texts, as `cut` would cut it.

    `make` returns a delivery that adds the values it is given. Cost: O(bytes); nothing is read.
    """
    if sum(map(len, added)) <= most:
        whole = make(added)
        if len(whole) <= most:
            return [whole]
    sizes = [(len(text) if text.isascii() else len(text.encode())) + 1 for text in added]
    shell = len(make(())) - bool(sizes)
    runs = _runs(sizes, shell, most)
    return [b'%b,"part":%d,"of":%d}' % (make(added[run])[:-1], number, len(runs)) for number, run in enumerate(runs)]


def _runs(sizes: Sequence[int], shell: int, most: int) -> list[slice]:
    """Return which values stand in which part, where all but them takes `shell` bytes."""
    return list(byte_runs(sizes, max(most - shell - _PART_BYTES, 1))) or [slice(0, 0)]
