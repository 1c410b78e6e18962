from __future__ import annotations

import msgspec
import pytest

from operators.silenced import Silenced, by_stream
from state.errors import StateError


def test_records_are_told_apart_by_stream_and_what_was_deleted_is_passed_over() -> None:
    ones = [Silenced("a", 0, 0, 1, 5), Silenced("b", 2, 1, 0, 6, hole=True), Silenced("a", 0, 0, 3, 9)]
    records = [("here", msgspec.json.encode(one)) for one in ones]
    assert by_stream([*records, ("there", None)]) == {"a": (ones[0], ones[2]), "b": (ones[1],)}


@pytest.mark.parametrize("value", [b"", b"{", b'{"stream":"a"}', b"\xff"])
def test_what_no_shard_wrote_is_said_with_its_place(value: bytes) -> None:
    with pytest.raises(StateError, match="here is not where a silence has counted"):
        by_stream([("here", value)])
