from __future__ import annotations

import numpy as np

from operators.equality_hashes import equality_hashes, text_code
from state.order_code import INT64_MAX, INT64_MIN


def test_hashes_stay_as_they_are_since_boxes_are_stored_with_them():
    columns = [np.array([0, 1, INT64_MIN, INT64_MAX]), np.array([text_code(b""), text_code("é".encode()), 3, -3])]
    assert equality_hashes(columns, 4).tolist() == [3139630954, 2516936045, 1432393459, 2717711800]


def test_one_value_has_one_hash_whatever_stands_beside_it():
    both = equality_hashes([np.array([1, 1, 2]), np.array([2, 1, 1])], 3)
    assert len(set(both.tolist())) == 3
    assert equality_hashes([np.array([1]), np.array([2])], 1)[0] == both[0]
    assert equality_hashes([], 2).tolist() == [0, 0]
