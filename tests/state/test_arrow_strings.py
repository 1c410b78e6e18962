import numpy as np
import pyarrow as pa
import pytest

from state.arrow_strings import ArrowStrings

VALUES = [b"a", None, b"", b"\xff\x00", b"long" * 100]


def test_it_is_the_sequence_that_it_was_made_of() -> None:
    column = ArrowStrings.of_bytes(VALUES)
    assert len(column) == 5 and list(column) == VALUES and column == VALUES and column == VALUES
    assert [column[i] for i in range(5)] == VALUES and column[np.int64(3)] == VALUES[3]
    assert column[-1] == VALUES[-1] and column[1:3] == VALUES[1:3] and column[1:3].array.offset == 0
    assert column != VALUES[:4]
    assert ArrowStrings.of_bytes(column) is column
    with pytest.raises(IndexError):
        column[5]


def test_texts_come_as_texts() -> None:
    column: ArrowStrings[str] = ArrowStrings(pa.array(["ä", None], pa.large_string()))
    assert column == ["ä", None] and column[0] == "ä"


def test_parts_are_joined_and_places_taken() -> None:
    joined = ArrowStrings.joined([VALUES[:2], ArrowStrings.of_bytes(VALUES[2:]), []])
    assert joined == VALUES
    assert joined.taken(np.array([4, 1, 1])) == [VALUES[4], None, None]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_an_arrow_array_begins_at_the_beginning(kind: pa.DataType) -> None:
    column = ArrowStrings.of_bytes(pa.array(VALUES, kind)[2:])
    assert column == VALUES[2:] and column.array.offset == 0 and column.array.type == pa.large_binary()
