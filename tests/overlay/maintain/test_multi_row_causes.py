import numpy as np

from operators.packed import Header, PackedMessages
from overlay.maintain.multi_row_causes import causes, runs


def test_messages_know_their_sweep_and_runs_are_cut_between_causes():
    partition, offset = np.array([0, 0, 1, 0, 0]), np.array([5, 5, 5, 6, 7])
    header = Header("messages", 1, "t/0", sweeps=[(0, 5), (0, 7)])
    found = causes(PackedMessages(header, np.arange(5), partition, offset, None))  # type: ignore[arg-type]
    assert found == [("t/0", 0, 5), ("t/0", 0, 5), None, None, ("t/0", 0, 7)]
    assert runs(found) == [(0, 2), (2, 4), (4, 5)]
    assert runs([]) == []
