from __future__ import annotations

import numpy as np
import pytest

from state.byte_table import Strings
from state.order_code import INT64_MAX, INT64_MIN
from state.stored_columns import Sections, narrow, read_images, read_strings, write_images, write_strings


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], np.int8),
        ([-128, 127], np.int8),
        ([0, 128], np.int16),
        ([-32_769], np.int32),
        ([2**31], np.int64),
        ([INT64_MIN, INT64_MAX], np.int64),
    ],
)
def test_integers_are_as_narrow_as_all_of_them_allow(values: list[int], dtype: type) -> None:
    stored = narrow(np.array(values, np.int64))
    assert stored.dtype == dtype and stored.tolist() == values


@pytest.mark.parametrize(("longest", "dtype"), [(255, np.uint8), (256, np.uint16), (65_536, np.uint32)])
def test_strings_come_back(longest: int, dtype: type) -> None:
    texts, out = [b"", b"a", b"b" * longest], Sections()
    write_strings(out, "key", Strings.of(texts))
    assert out["key/length"].dtype == dtype  # type: ignore[union-attr]
    read = read_strings(out, "key")  # type: ignore[arg-type]
    assert [read[i] for i in range(len(read))] == texts


def test_columns_that_were_not_there_yet_are_null() -> None:
    out = Sections()
    write_images(out, np.array([[1, 2, 0], [300, 0, 7]]), np.array([[True, True, False], [True, False, True]]))
    codes, valid = read_images(out, 3, 3)  # type: ignore[arg-type]
    assert codes.tolist() == [[1, 2, 0], [300, 0, 7], [0, 0, 0]]
    assert valid.tolist() == [[True, True, False], [True, False, True], [False] * 3]
