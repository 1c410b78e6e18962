"""How many examples a property test draws, and which: three profiles of Hypothesis.

| profile | run by | `examples(n)` | `deep_examples(n)` | drawn |
| --- | --- | --- | --- | --- |
| quick | `make test-fast`, plain `pytest` | an eighth of n | an eightieth of n | the same in each run |
| deep | `make test-deep`, only tests marked `deep` | an eighth of n | an eighth of n | the same in each run |
| thorough | `make thorough` | n | n | anew in each run |

What CI runs draws the same each time, so that what fails there fails again, and what fails after a change fails for it.
The same selection of tests is meant: Hypothesis also draws constants of the modules that are loaded. A search that is
random belongs to the thorough runs; what one finds becomes a test of its own.
"""

from __future__ import annotations

from random import Random

from hypothesis import settings

QUICK, DEEP, THOROUGH = "quick", "deep", "thorough"
_PART = 8
_FEWEST = 10
_FEW_PART = 80
_FEW = 3
_UNSAID = 100


def register() -> None:
    """Make the profiles known to Hypothesis, the quick one chosen; `--hypothesis-profile` is read later and wins."""
    settings.register_profile(THOROUGH, deadline=None, print_blob=True, max_examples=_UNSAID, derandomize=False)
    for name in (QUICK, DEEP):
        part = _UNSAID // _PART
        settings.register_profile(
            name, deadline=None, print_blob=True, max_examples=part, derandomize=True, database=None
        )
    settings.load_profile(QUICK)


def examples(all_of_them: int) -> int:
    """Return how many of a test's examples are drawn in this run: an eighth, but 10 where there are as many."""
    if settings.get_current_profile_name() == THOROUGH:
        return all_of_them
    return min(all_of_them, max(_FEWEST, all_of_them // _PART))


def deep_examples(all_of_them: int, few: int | None = None) -> int:
    """Return the same for a test that is marked `deep`, as its examples are dear: in quick runs an eightieth, but 3.

    few: how many in quick runs instead, where an eightieth of many is dear still.
    """
    if settings.get_current_profile_name() == QUICK:
        return min(all_of_them, max(_FEW, all_of_them // _FEW_PART) if few is None else few)
    return examples(all_of_them)


def drawn_from() -> Random:
    """Return where a test that draws without Hypothesis draws from: the same in each run, but in thorough ones anew."""
    return Random() if settings.get_current_profile_name() == THOROUGH else Random(0)
