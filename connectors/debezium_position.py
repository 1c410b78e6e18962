"""Where a change stands in the log of its database, by what the connector says of its source.

    {"connector": "postgresql", "sequence": "[\\"24023119\\",\\"24023128\\"]", "ts_us": 1772409599000000, ...}

The first of `sequence` is the commit before that of the change's transaction (null before the first), the second the
change's own place; together they ascend, for transactions are published in the order of their commits. `ts_us`
(before Debezium 2.5: `ts_ms`) is the time of the commit.
"""

from __future__ import annotations

import re

from connectors.json_document import Members, Number

Position = tuple[int, int, int]
"""The commit before, the change's own place, and the time of its commit in microseconds."""
_SEQUENCE = re.compile(r'\[(?:null|"([0-9]{1,18})"),"([0-9]{1,18})"\]')
_TIME = re.compile(r"[0-9]{1,18}")


def position_of(source: object) -> Position | None:
    """Return the place of a change, None where the source does not say it like this. Cost: 2 us."""
    if not isinstance(source, Members):
        return None
    said = dict(source)
    sequence = said.get("sequence")
    match = _SEQUENCE.fullmatch(sequence) if isinstance(sequence, str) and not isinstance(sequence, Number) else None
    micros, millis = said.get("ts_us"), said.get("ts_ms")
    time = micros if isinstance(micros, Number) else millis
    if (
        said.get("connector") != "postgresql"
        or match is None
        or not isinstance(time, Number)
        or not _TIME.fullmatch(time)
    ):
        return None
    return int(match[1] or 0), int(match[2]), int(time) * (1 if time is micros else 1_000)
