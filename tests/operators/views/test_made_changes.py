"""What operators make is what a row store takes, texts and keys without Python objects between."""

from __future__ import annotations

import numpy as np

from operators.views.made_changes import MadeColumn, made_changes
from state.byte_table import Strings
from state.row_store import RowStore


def test_a_row_store_takes_it() -> None:
    valid = np.array([True, False, True])
    texts = MadeColumn.of_texts(Strings.of(["é", "", ""]), valid)
    numbers = MadeColumn(np.array([1, 2, 3]), np.ones(3, np.bool_))
    made = made_changes(np.array([0, 0, 4]), Strings.of([b"a", b"", b"a\0"]), np.ones(3, np.bool_), [texts, numbers])
    assert list(made.texts[0]) == ["é", None, ""]
    assert made.cause.tolist() == [0, 0, 4]
    store = RowStore(2, (0,))
    store.commit(store.replay(made))
    rows = {store.key(row): store.image(row) for row in range(3)}
    assert rows == {b"a": ["é", 1], b"": [None, 2], b"a\0": ["", 3]}


def test_nothing_is_taken() -> None:
    none = np.zeros(0, np.int64)
    columns = [MadeColumn.of_texts(Strings.of([]), none > 0), MadeColumn(none, none > 0)]
    store = RowStore(2, (0,))
    store.commit(store.replay(made_changes(none, Strings.of([]), none > 0, columns)))
    assert len(store) == 0
