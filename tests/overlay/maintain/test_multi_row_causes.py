from pathlib import Path

from operators.packed import PackedMessages, unpack
from overlay.maintain.multi_row_causes import causes, runs

SWEPT = Path(__file__).parents[2] / "operators/golden/format_1_sweeps.bin"


def test_messages_know_their_sweep_and_runs_are_cut_between_causes():
    packed = unpack(SWEPT.read_bytes())
    assert isinstance(packed, PackedMessages)
    found = causes(packed)
    assert found == [None, ("t/0", 0), None, ("t/0", 0), None]
    assert runs([*found[1:2], *found[1:]]) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert runs([]) == []
