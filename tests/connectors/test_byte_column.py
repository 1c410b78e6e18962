import numpy as np
import pyarrow as pa
import pytest

from connectors.byte_column import ByteColumn

VALUES = [b"a", None, b"", b"\xff\x00", b"long" * 100]


def test_a_column_is_the_sequence_it_was_made_of() -> None:
    column = ByteColumn.of(VALUES)
    assert len(column) == 5 and list(column) == VALUES and column == VALUES
    assert [column[i] for i in range(5)] == VALUES and column[np.int64(3)] == VALUES[3]
    assert column[-1] == VALUES[-1] and column[1:3] == VALUES[1:3]
    assert column != VALUES[:4]
    assert ByteColumn.of(column) is column
    with pytest.raises(IndexError):
        column[5]


def test_parts_are_joined_and_places_taken() -> None:
    joined = ByteColumn.joined([VALUES[:2], ByteColumn.of(VALUES[2:]), []])
    assert joined == VALUES
    assert joined.taken(np.array([4, 1, 1])) == [VALUES[4], None, None]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_an_arrow_array_begins_at_the_beginning(kind: pa.DataType) -> None:
    column = ByteColumn.of(pa.array(VALUES, kind)[2:])
    assert column == VALUES[2:] and column.array.offset == 0 and column.array.type == pa.large_binary()
