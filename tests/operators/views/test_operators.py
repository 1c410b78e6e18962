"""Chains of stages against their twins, after every cause: views of views, diamonds, self-joins, unions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.operators.views.stage_draws import draw_chain
from tests.operators.views.view_draws import draw_batches, draw_cause, table
from tests.operators.views.view_world import ViewWorld

TABLES = {"t": table("t"), "s": table("s")}


@pytest.mark.deep
@settings(max_examples=deep_examples(400), deadline=None)
@given(st.integers(0, 2**32))
def test_chains(seed: int) -> None:
    rng = Random(seed)
    world = ViewWorld(TABLES, draw_chain(rng, list(TABLES.values()), rng.randint(2, 6)))
    for causes in draw_batches(rng, TABLES, 4):
        world.play(causes)


@pytest.mark.parametrize("seed", range(4))
def test_many_rows(seed: int) -> None:
    """More rows and changes than small domains have, on tables that are read again between batches."""
    rng = Random(seed)
    world = ViewWorld(TABLES, draw_chain(rng, list(TABLES.values()), 4))
    for _ in range(3):
        world.play([draw_cause(rng, TABLES, 40) for _ in range(60)], each=False)
        world.reopen()
