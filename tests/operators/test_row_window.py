from __future__ import annotations

import numpy as np
import pytest

from operators.row_window import Known, RowWindow, WindowBounds
from operators.seen_changes import SeenChanges
from operators.window_kernels import MOST_BATCHES
from state.change_batch import ChangeBatch
from state.errors import StateError
from state.row_store import RowStore

BOUNDS = WindowBounds(4)
TOLD = {"t": ["x"]}


class Rows:
    """A table of rows with one column, and a window over it; all rows there are sent in each batch."""

    def __init__(self, rows: int = 4, bounds: WindowBounds = BOUNDS, edges: int = 3) -> None:
        self.store = RowStore(1)
        self.bounds, self.edges = bounds, edges
        self.window = RowWindow.load(RowWindow().dump(bounds))
        self.batch = -1
        self.run({row: row for row in range(rows)}, ())

    def run(self, changes: dict[int, int | None], edges: tuple[int, ...], *anew: int, told=TOLD, epoch: int = 7):
        """Run a batch in which `edges` are sent each version; return the stamps, and who had what."""
        self.batch += 1
        self.window.begin(epoch, self.batch, self.edges)
        for ve in anew:
            self.window.anew(ve)
        self.window.tell(told)
        replay = self.store.replay(_changes(changes))
        seen = SeenChanges.of(replay, [0], np.arange(len(changes)))
        versions = np.arange(replay.codes.shape[1])
        known = self.window.known("t", versions, replay.rows)
        got = np.full((len(versions), -(-self.edges // 64)), 0, np.uint64)
        for ve in edges:
            got[:, ve // 64] |= np.uint64(1) << np.uint64(ve % 64)
        stamps = self.window.spell("t", told["t"], versions, replay.rows, known, got, 10) if edges else None
        self.window.follow("t", replay, seen)
        self.store.commit(replay)
        self.window.check({"t": len(self.store)})
        data = self.window.dump(self.bounds)
        self.window = RowWindow.load(data)
        assert self.window.dump(self.bounds) == data
        self.window.check({"t": len(self.store)})
        return stamps, known


def _changes(changes: dict[int, int | None]) -> ChangeBatch:
    values = np.array([[value or 0 for value in changes.values()]], np.int64).reshape(1, -1)
    live = np.array([value is not None for value in changes.values()], np.bool_)
    nothing = np.zeros(len(changes), np.int64)
    keys = [b"%d" % key for key in changes]
    return ChangeBatch(keys, live, values, live[None, :], {}, nothing.astype(np.int32), nothing)


def who(known: Known) -> list[int]:
    return known.edges[:, 0].tolist()


def test_rows_get_one_stamp_and_who_comes_later_gets_them_under_it():
    rows = Rows()
    stamps, known = rows.run({}, (0,))
    assert (stamps.batch.tolist(), stamps.number.tolist()) == ([1] * 4, [0, 1, 2, 3]) and who(known) == [0] * 4
    stamps, known = rows.run({}, (0, 2))
    assert stamps.batch.tolist() == [1] * 4 and who(known) == [1] * 4
    assert who(rows.run({}, ())[1]) == [5] * 4


def test_a_stamp_ends_with_the_window_whoever_was_named_meanwhile():
    rows = Rows()
    for _ in range(4):
        stamps, known = rows.run({}, (0,))
        assert stamps.batch.tolist() == [1] * 4
    stamps, known = rows.run({}, (0,))
    assert stamps.batch.tolist() == [5] * 4 and who(known) == [0] * 4


def test_a_row_that_changes_or_goes_loses_its_stamp_and_what_comes_has_one():
    rows = Rows()
    rows.run({}, (0,))
    stamps, _ = rows.run({1: 9, 2: None, 7: 7, 3: 3}, (0,))
    assert stamps.batch.tolist() == [1, 1, 1, 1, 2, 2, 2, 2], "each version, and columns that are none"
    stamps, known = rows.run({}, (0,))
    assert stamps.batch.tolist() == [1, 2, 1, 2] and stamps.number.tolist() == [0, 0, 3, 2]
    assert who(known) == [1] * 4


def test_who_has_lost_all_is_taken_out():
    rows = Rows()
    rows.run({}, (0, 1))
    assert who(rows.run({}, (), 1)[1]) == [1] * 4
    assert who(rows.run({}, ())[1]) == [1] * 4


def test_columns_that_come_to_be_told_take_the_stamps():
    rows = Rows()
    rows.run({}, (0,), told={"t": ["x", "y"]})
    assert who(rows.run({}, (0,))[1]) == [1] * 4, "fewer are told"
    assert who(rows.run({}, (0,), told={"t": ["x", "y"]})[1]) == [0] * 4


def test_tables_of_which_nothing_is_told_are_forgotten_as_those_whose_rows_are_made_anew():
    rows = Rows()
    rows.run({}, (0,))
    rows.window.lose(["t", "u"])
    assert who(rows.run({}, (0,))[1]) == [0] * 4
    rows.window.tell({"u": ["x"]})
    assert who(rows.run({}, ())[1]) == [0] * 4


def test_another_epoch_another_setting_and_more_virtual_edges_forget_all():
    for change in ("epoch", "setting", "edges"):
        rows = Rows()
        rows.run({}, (0,))
        rows.edges = 100 if change == "edges" else 3
        if change == "setting":
            rows.bounds = WindowBounds(5)
            assert who(rows.run({}, ())[1]) == [1] * 4, "it holds from the next batch on"
        assert not any(who(rows.run({}, (), epoch=8 if change == "epoch" else 7)[1])), change


def test_beyond_the_bound_rows_get_no_stamp():
    rows = Rows(bounds=WindowBounds(4, 5))
    rows.run({}, (0,))
    stamps, _ = rows.run({9: 9}, (0,))
    assert stamps.batch.tolist() == [1] * 4 + [-1] and stamps.number.tolist() == [0, 1, 2, 3, -1]
    for _ in range(2):
        rows.run({}, (0,))
    assert rows.run({}, (0,))[0].batch.tolist() == [5] * 5, "older ones have left the window"


def test_a_batch_for_which_a_stamp_has_no_room_gives_none():
    rows = Rows()
    rows.batch = MOST_BATCHES - 2
    assert rows.run({}, (0,))[0].batch.tolist() == [MOST_BATCHES - 1] * 4
    stamps, known = rows.run({9: 9}, (0,))
    assert stamps.batch.tolist() == [MOST_BATCHES - 1] * 4 + [-1] and who(known) == [1] * 4 + [0]
    assert who(rows.run({}, ())[1]) == [1] * 4 + [0]


def test_many_virtual_edges_have_sets_of_several_words():
    rows = Rows(edges=130)
    rows.run({}, (0, 129))
    known = rows.run({}, ())[1]
    assert known.edges.tolist() == [[1, 0, 2]] * 4
    assert rows.run({}, (70,), 129)[1].edges.tolist() == [[1, 0, 0]] * 4
    assert rows.run({}, ())[1].edges.tolist() == [[1, 64, 0]] * 4


def test_without_a_window_nothing_is_remembered():
    assert RowWindow().dump(WindowBounds()) == b"" and RowWindow.load(b"").window == 0
    with pytest.raises(StateError):
        RowWindow.load(b"x" * 40)
