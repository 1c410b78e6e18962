"""Spans of time as options have them: '10 s', '5 min', '1 h', '7 days'; in microseconds, as times are."""

from __future__ import annotations

import re

_UNITS = {"ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "days": 86_400_000_000}
_NAMES = {
    "ms": ("ms", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hour", "hours"),
    "days": ("d", "day", "days"),
}
_OF_NAME = {name: _UNITS[unit] for unit, names in _NAMES.items() for name in names}
_SPAN = re.compile(r"([0-9]{1,9})\s*([a-z]+)", re.IGNORECASE | re.ASCII)
LONGEST = 36_500 * _UNITS["days"]
"""A hundred years, so that no time of a TIMESTAMP plus or less a span leaves 64 bits."""


def read_span(text: str) -> int | None:
    """Return a span in microseconds; None where a text is none, or longer than `LONGEST`.

    >>> read_span("10 s"), read_span("5min"), read_span("7 Days"), read_span("s"), read_span("10")
    (10000000, 300000000, 604800000000, None, None)
    """
    found = _SPAN.fullmatch(text.strip())
    unit = None if found is None else _OF_NAME.get(found[2].lower())
    span = None if found is None or unit is None else int(found[1]) * unit
    return span if span is not None and span <= LONGEST else None


def span_text(span: int) -> str:
    """Return a span of whole milliseconds in the largest unit of which it is a multiple; `read_span` reads it.

    >>> span_text(90_000_000), span_text(7_200_000_000), span_text(0), span_text(1_500_000)
    ('90 s', '2 h', '0 s', '1500 ms')
    """
    unit = next((unit for unit, size in reversed(_UNITS.items()) if span and span % size == 0), "s")
    return f"{span // _UNITS[unit]} {unit}"
