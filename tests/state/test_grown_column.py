import numpy as np

from state.grown_column import grown


def test_a_column_that_is_long_enough_stays() -> None:
    column = np.arange(3)
    assert grown(column, 3) is column


def test_rows_that_come_are_filled_and_growing_row_by_row_copies_seldom() -> None:
    column, copies = np.zeros((0, 2), np.int32), 0
    for row in range(10_000):
        wider = grown(column, row + 1, -1)
        copies += wider is not column
        column = wider
        column[row] = row
    assert copies < 80 and (column[:10_000] == np.arange(10_000)[:, None]).all() and (column[10_000:] == -1).all()
