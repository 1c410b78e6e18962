"""How many examples a property test draws, and which: three profiles of Hypothesis.

| profile | run by | `examples(n)` | `deep_examples(n)` | drawn |
| --- | --- | --- | --- | --- |
| quick | `make test-fast`, plain `pytest` | a 20th of n, at least 10 | an 80th of n, at least 3 | always the same |
| deep | `make test-deep`, those marked `deep` | a 20th of n, at least 10 | a 20th of n, at least 5 | always the same |
| thorough | `make thorough` | n | n | anew in each run |

`make test-fast` leaves out what is marked `deep`. What CI runs draws the same each time, so that what fails there fails
again, and what fails after a change fails for it. The same selection of tests is meant: Hypothesis also draws constants
of the modules that are loaded. A search that is random belongs to the thorough runs; what one finds becomes a test of
its own.
"""

from __future__ import annotations

from random import Random

from hypothesis import settings

QUICK, DEEP, THOROUGH = "quick", "deep", "thorough"
_PART = 20
_FEWEST = 10
_FEWEST_DEAR = 5
_FEW_PART = 80
_FEW = 3
_UNSAID = 100


def register() -> None:
    """Make the profiles known to Hypothesis, the quick one chosen; `--hypothesis-profile` is read later and wins."""
    settings.register_profile(THOROUGH, deadline=None, print_blob=True, max_examples=_UNSAID, derandomize=False)
    for name in (QUICK, DEEP):
        part = max(_FEWEST, _UNSAID // _PART)
        settings.register_profile(
            name, deadline=None, print_blob=True, max_examples=part, derandomize=True, database=None
        )
    settings.load_profile(QUICK)


def examples(all_of_them: int, fewest: int = _FEWEST) -> int:
    """Return how many of a test's examples are drawn in this run: a 20th, but `fewest` where there are as many."""
    if settings.get_current_profile_name() == THOROUGH:
        return all_of_them
    return min(all_of_them, max(fewest, all_of_them // _PART))


def deep_examples(all_of_them: int, few: int | None = None) -> int:
    """Return the same for a test that is marked `deep`, whose examples are dear: 5 at least, in quick runs an 80th.

    few: how many in quick runs instead, where an 80th of many is dear still.
    """
    if settings.get_current_profile_name() == QUICK:
        return min(all_of_them, max(_FEW, all_of_them // _FEW_PART) if few is None else few)
    return examples(all_of_them, _FEWEST_DEAR)


def drawn_from() -> Random:
    """Return where a test that draws without Hypothesis draws from: the same in each run, but in thorough ones anew."""
    return Random() if settings.get_current_profile_name() == THOROUGH else Random(0)
