"""The protocol is safe and live under loss, repeats, disorder and lost state; without any of its rules it is not."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.effort import deep_examples, drawn_from, examples
from tests.oracle.knowledge_network import Network
from tests.oracle.knowledge_nodes import MUTANTS

MOST = 400
"""Runs in which a mutant has to be found; the one that is found least often takes 1 of 30."""


def test_nothing_false_is_told_and_everything_becomes_final() -> None:
    check(examples(200, fewest=25))


@pytest.mark.deep
def test_many_runs() -> None:
    check(deep_examples(4_000))


def check(runs: int) -> None:
    rng, seen = drawn_from(), Counter[str]()
    for _ in range(runs):
        seed = rng.randrange(2**40)
        assert Network(Random(seed), seen=seen).run() == "done", seed
    assert all(seen[each] for each in ("lost", "repeated", "crashes", "from copies", "asked", "finals")), seen


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_rule_is_needed(mutant: str) -> None:
    """Who does not ask waits for ever; whoever breaks another rule tells something false, and is not only late."""
    wrong = "stuck" if mutant == "no curiosity" else "unsafe"
    assert any(Network(Random(seed), mutant).run().startswith(wrong) for seed in range(MOST))
