"""Growth of stages against what random histories do to their rows."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.view.moves import FIXED, Moves
from tests.catalog.view.growing_world import GrowingWorld
from tests.effort import deep_examples
from tests.oracle.naive_growth import seen_rows, seen_values, values_of


@pytest.mark.deep
@settings(max_examples=deep_examples(1200), deadline=None)
@given(st.integers(0, 2**40))
def test_nothing_moves_otherwise_than_said(seed: int) -> None:
    rng = Random(seed)
    world = GrowingWorld.drawn(rng)
    certainties = world.certainties()
    last: dict[str, dict[bytes, tuple[object, ...]]] = {name: {} for name in world.relations}
    before = None
    for rows in world.states(rng, 8):
        for name, relation in world.relations.items():
            growth = certainties.growth(name)
            if before is not None:
                seen = seen_rows(before[name], rows[name])
                assert not seen & ~growth.rows, f"{name}: rows {seen} and not {growth.rows}; {world.stages}"
            for key, row in rows[name].items():
                seen = seen_columns(growth.columns, relation, last[name].get(key), values_of(relation, row))
                assert not seen, f"{name}: {seen}; {growth}; {world.stages}"
                last[name][key] = tuple(values_of(relation, row))
        before = rows


def seen_columns(columns, relation, before, after) -> dict[str, Moves]:  # type: ignore[no-untyped-def]
    """Return what columns did that they may not do, also where the row was gone meanwhile; or are, by sign and NULL."""
    out = {}
    for i, column in enumerate(relation.columns):
        said = columns[column.name]
        seen = FIXED if before is None else seen_values(before[i : i + 1], after[i : i + 1])
        if seen & ~said.moves or not fits(said, after[i]):
            out[column.name] = seen
    return out


def fits(said, value) -> bool:  # type: ignore[no-untyped-def]
    if value is None:
        return bool(said.nullable)
    names = {sign.name for sign in said.signs}
    return not isinstance(value, int | float) or value == 0 or ("NEGATIVE" if value < 0 else "POSITIVE") in names
