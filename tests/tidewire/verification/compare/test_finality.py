from tidewire.verification.compare.finality import Finality
from tidewire.verification.input.stream_walk import Mark

MARKS = [Mark(0, None, None, None), Mark(1, 59_999_999, 0, 1), Mark(2, 60_000_000, 0, 2), Mark(3, 90_000_000, 0, None)]


def test_the_first_batch_whose_horizon_is_at_the_end_of_the_window() -> None:
    finality = Finality(60_000_000, MARKS, True)
    assert [finality.due(behind) for behind in (-1, 1, 2, 3)] == [2, 2, 3, None]
    assert finality.upto == "1970-01-01T00:01:00"


def test_what_is_never_final_is_never_due() -> None:
    assert Finality(None, MARKS, True).due(-1) is None and Finality(None, MARKS, True).upto is None
    assert Finality(90_000_001, MARKS, True).due(-1) is None
