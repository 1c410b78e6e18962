"""What CREATE STREAM says in its WITH clause beside topic and format, read a second time.

event_time            a TIMESTAMP column           lateness, ahead, idle, keep    '10 s', '5 min', '1 h', '7 days'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tidewire.verification.input.column import Column

SPANS = ("event_time", "lateness", "ahead", "idle", "keep")
"""The options of a stream that no table has."""
_MICROSECONDS = {
    r"ms|milliseconds?": 1_000,
    r"s|secs?|seconds?": 10**6,
    r"mins?|minutes?": 60 * 10**6,
    r"h|hours?": 3_600 * 10**6,
    r"d|days?": 86_400 * 10**6,
}
_SPAN = re.compile(r"\s*([0-9]{1,9})\s*([a-z]+)\s*", re.IGNORECASE | re.ASCII)


class NoStream(Exception):
    """Options that no stream can have."""


@dataclass(frozen=True)
class Stream:
    """`place` is that of the event time among the columns; spans are in microseconds, `keep` None for ever."""

    place: int
    lateness: int
    ahead: int
    keep: int | None


def stream_of(options: dict[str, str], columns: Sequence[Column]) -> Stream:
    """Return what `options` say, names in lower case. Raises NoStream."""
    named = options.get("event_time", "")
    names = [column.name for column in columns]
    name = named if named in names else named.lower()
    if name not in names or columns[names.index(name)].type != "TIMESTAMP" or "lateness" not in options:
        raise NoStream(f"a stream with event_time {named!r}")
    keep = options.get("keep")
    if "idle" in options:
        _span(options["idle"])
    return Stream(
        names.index(name),
        _span(options["lateness"]),
        _span(options.get("ahead", "1 h")),
        None if keep is None else _span(keep),
    )


def _span(text: str) -> int:
    found = _SPAN.fullmatch(text)
    size = next((size for unit, size in _MICROSECONDS.items() if found and re.fullmatch(unit, found[2].lower())), None)
    if found is None or size is None:
        raise NoStream(f"{text!r} is no span of time")
    return int(found[1]) * size
