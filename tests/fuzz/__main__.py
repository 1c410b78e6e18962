"""Fuzzing of every parser of outside bytes, of records of our own, and of the edge's HTTP server:
`python -m tests.fuzz [MINUTES] [NAME...]`, by default five minutes each.

A parser raises nothing but its declared refusal, loses no record, and says what its twin says. A finding is shown in
its smallest form; it becomes a test of the parser's own, and is then fixed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from tests.fuzz.filters import FILTERS
from tests.fuzz.http_doors import HTTP_DOORS
from tests.fuzz.own_records import OWN_RECORDS
from tests.fuzz.parsers import PARSERS

_ROUND = 500


def fuzz(name: str, strategy: SearchStrategy, check: Callable[[object], None], seconds: float) -> int:
    """Draw until the time is over; return how many were drawn. Raises what a check raises, in its smallest form."""
    drawn = 0
    until = time.monotonic() + seconds

    @settings(
        max_examples=_ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
    )
    @given(strategy)
    def one(value: object) -> None:
        nonlocal drawn
        drawn += 1
        check(value)

    while time.monotonic() < until:
        one()
    return drawn


def main(arguments: list[str]) -> None:
    minutes = float(arguments[0]) if arguments else 5.0
    pieces = PARSERS | OWN_RECORDS | FILTERS | HTTP_DOORS
    for name in arguments[1:] or pieces:
        print(f"{name}: ", end="", flush=True)
        drawn = fuzz(name, *pieces[name], seconds=minutes * 60)
        print(f"{drawn:,} inputs, nothing found", flush=True)


main(sys.argv[1:])
