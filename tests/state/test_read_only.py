import numpy as np
import pytest

from state.read_only import read_only


def test_the_view_shows_what_is_written_to_the_array_and_is_not_written_itself() -> None:
    array = np.arange(4)
    view = read_only(array)
    array[0] = 7
    assert view.tolist() == [7, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_what_is_not_contiguous_is_copied() -> None:
    view = read_only(np.arange(6).reshape(2, 3).T)
    assert view.flags.c_contiguous and view.tolist() == [[0, 3], [1, 4], [2, 5]]
