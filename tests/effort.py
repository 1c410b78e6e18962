"""How many examples a property test draws: a quarter of them in everyday runs, all of them in thorough ones.

`make thorough` (or `pytest --hypothesis-profile=thorough`) draws as many as the test's text says. Examples are drawn
anew in each run: what a thorough run sees at once, everyday runs see one after another.
"""

from __future__ import annotations

from hypothesis import settings

QUICK, THOROUGH = "quick", "thorough"
_PART = 4
_FEWEST = 10
_UNSAID = 100


def register() -> None:
    """Make both profiles known to Hypothesis, the quick one chosen; `--hypothesis-profile` is read later and wins."""
    settings.register_profile(THOROUGH, deadline=None, print_blob=True, max_examples=_UNSAID)
    settings.register_profile(QUICK, deadline=None, print_blob=True, max_examples=_UNSAID // _PART)
    settings.load_profile(QUICK)


def examples(all_of_them: int) -> int:
    """Return how many of a test's examples are drawn in this run: a quarter, but 10 where there are as many."""
    if settings.get_current_profile_name() == THOROUGH:
        return all_of_them
    return min(all_of_them, max(_FEWEST, all_of_them // _PART))
