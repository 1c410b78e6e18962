from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.json_format import JsonFormat
from tests.connectors.documents import Publisher, relation_of
from tests.connectors.relations import records
from tests.oracle.json_twin import meaning


def check_against_the_twin(relation, keyless, pairs):
    """Each record means what the twin says; the order is kept; nothing is lost."""
    decoded = JsonFormat(relation, keyless).decode(records(pairs))
    meanings = [meaning(relation, keyless, key, value) for key, value in pairs]
    dead = [100 + i for i, found in enumerate(meanings) if found is None]
    got = [letter.offset for letter in decoded.dead]
    assert got == dead, [pairs[offset - 100] for offset in set(got) ^ set(dead)]
    alive = [(100 + i, found) for i, found in enumerate(meanings) if found is not None]
    changes = decoded.changes
    assert changes.offset.tolist() == [offset for offset, _ in alive]
    assert changes.keys == [found.key for _, found in alive]
    assert changes.live.tolist() == [found.live for _, found in alive]
    for j, (_, found) in enumerate(alive):
        assert codes_of(relation, changes, j) == found.codes if found.live else True, pairs[changes.offset[j] - 100]
    seen = {name: sum(found.live for _, found in alive) for name in decoded.seen}
    for name, rows in decoded.seen.items():
        assert rows <= seen[name]
    return decoded


def codes_of(relation, changes, j):
    codes = {}
    for c, column in enumerate(relation.columns):
        if changes.kept is not None and changes.kept[c, j]:
            continue
        if not changes.valid[c, j]:
            codes[column.name] = None
            assert changes.texts[c][j] is None if c in changes.texts else changes.codes[c, j] == 0
        else:
            codes[column.name] = changes.texts[c][j] if c in changes.texts else int(changes.codes[c, j])
    return codes


@given(st.integers(0, 2**32), st.sampled_from((0.7, 0.95, 1.0)))
@settings(max_examples=150, deadline=None)
def test_batches_mean_what_the_naive_twin_says(seed, care):
    rng = random.Random(seed)
    relation = relation_of(rng)
    publisher = Publisher(relation, rng, care)
    check_against_the_twin(relation, rng.random() < 0.3, [publisher.record() for _ in range(40)])
