from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.seen_changes import SeenChanges
from state.lifetimes import NEVER, STORED
from state.row_store import RowStore
from tests.effort import examples
from tests.state.test_ordering import CHANGES, batch_of

Image = tuple[tuple[int, bool], ...]


def test_a_change_that_needed_columns_do_not_show_is_none():
    store = RowStore(3)
    store.commit(store.replay(batch_of([(1, (5, 0, 0)), (2, (5, 0, 0))])))
    replay = store.replay(batch_of([(1, (5, 1, 0)), (1, (5, 2, 0)), (2, (5, 9, 0)), (1, (7, 2, 0)), (1, None)]))
    seen = SeenChanges.of(replay, [0], np.array([10, 20, 30, 40, 50]))
    assert (seen.index.tolist(), seen.before.tolist(), seen.after.tolist()) == ([3, 4], [0, 5], [5, -1])
    assert seen.fresh.tolist() == [5]
    born, died = seen.lives.at(np.array([0, 1, 5]))
    assert (born.tolist(), died.tolist()) == ([STORED, STORED, 40], [40, NEVER, 50])


@given(
    stored=st.lists(CHANGES, max_size=6),
    changes=st.lists(CHANGES, max_size=12),
    needed=st.sampled_from([[], [0], [1], [0, 2]]),
)
@settings(max_examples=examples(200), deadline=None)
def test_what_is_there_after_each_change_shows_what_the_row_shows(stored, changes, needed):
    store = RowStore(3)
    store.commit(store.replay(batch_of(stored)))
    replay = store.replay(batch_of(changes))
    number = np.arange(len(changes)) * 3 + 1
    seen = SeenChanges.of(replay, needed, number)
    seen.lives.check()
    told = dict(zip(seen.index.tolist(), zip(seen.before.tolist(), seen.after.tolist(), strict=True), strict=True))
    now = {int(store.key(row)): row for row in range(replay.rows)}

    def image(version: int) -> Image:
        return tuple((int(replay.codes[c, version]), bool(replay.valid[c, version])) for c in needed)

    truth = {key: image(row) for key, row in now.items()}
    for i, (key, values) in enumerate(changes):
        new = None if values is None else tuple((values[c] or 0, values[c] is not None) for c in needed)
        assert (i in told) == (truth.pop(key, None) != new)
        if new is not None:
            truth[key] = new
        if i in told:
            assert now.pop(key, -1) == told[i][0]
            now |= {key: told[i][1]} if told[i][1] >= 0 else {}
        assert {one: image(version) for one, version in now.items()} == truth
        born, died = seen.lives.at(np.array(list(now.values()), np.int64))
        assert ((born <= number[i]) & (number[i] < died)).all()
