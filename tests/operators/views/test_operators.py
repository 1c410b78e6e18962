"""Chains of stages against their twins, after every cause: views of views, diamonds, self-joins, unions."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.view import Stage
from tests.effort import deep_examples
from tests.operators.views.stage_draws import draw_chain
from tests.operators.views.view_draws import draw_batches, draw_cause, table
from tests.operators.views.view_world import Cause, ViewWorld, rows_of
from tests.state.test_ordering import CALM

TABLES = {"t": table("t"), "s": table("s")}


@pytest.mark.deep
@settings(max_examples=deep_examples(400), deadline=None)
@given(st.integers(0, 2**32))
def test_chains(seed: int) -> None:
    rng = Random(seed)
    world = ViewWorld(TABLES, draw_chain(rng, list(TABLES.values()), rng.randint(2, 6)))
    for causes in draw_batches(rng, TABLES, 4):
        world.play(causes)


@CALM
@given(st.integers(0, 2**32))
def test_any_cut_into_batches_tells_the_same(seed: int) -> None:
    rng = Random(seed)
    stages = draw_chain(rng, list(TABLES.values()), 3)
    causes = [draw_cause(rng, TABLES, 4) for _ in range(8)]
    cuts = [[], sorted(rng.sample(range(1, 8), 3)), list(range(1, 8))]
    one, *others = [told_in_batches(stages, causes, cut) for cut in cuts]
    for other in others:
        assert other == one


def told_in_batches(stages: list[Stage], causes: list[Cause], cut: list[int]) -> dict[str, list[set[tuple]]]:
    """Return what of each stage's rows went and came in each cause, the causes cut into batches at some places."""
    world = ViewWorld(TABLES, stages)
    held = {stage.relation.name: rows_of(world.held[stage.relation.name]) for stage in stages}
    told: dict[str, list[set[tuple]]] = {name: [] for name in held}
    for begin, end in pairwise([0, *cut, len(causes)]):
        for name, changes in world.play(causes[begin:end]).items():
            for cause in range(end - begin):
                of = {key: row for at, key, row in changes if at == cause}
                told[name].append({(key, row) for key, row in of.items() if held[name].get(key) != row})
                held[name] |= of
    return told


@pytest.mark.parametrize("seed", range(4))
def test_many_rows(seed: int) -> None:
    """More rows and changes than small domains have, on tables that are read again between batches."""
    rng = Random(seed)
    world = ViewWorld(TABLES, draw_chain(rng, list(TABLES.values()), 4))
    for _ in range(3):
        world.play([draw_cause(rng, TABLES, 40) for _ in range(60)], each=False)
        world.reopen()
