import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.dead_letter import RecordFault
from connectors.schemas.schema_frame import read_path, unframe
from tests.effort import examples
from tidewire.verification.input import framing
from tidewire.verification.input.decoding import Bad

FRAMES = st.one_of(st.binary(max_size=9), st.binary(max_size=9).map(lambda data: b"\0\0\0\0\7" + data))
PATHS = st.lists(st.sampled_from([0, 1, 2, 3, 4, 0x80, 0x81, 0xFF, 0x7F]), max_size=14).map(bytes)


@settings(max_examples=examples(400), deadline=None)
@given(FRAMES, PATHS)
def test_frames_and_paths_are_read_as_the_product_reads_them(data: bytes, path: bytes) -> None:
    try:
        assert framing.unframe(data) == unframe(data)
    except (Bad, RecordFault):
        with pytest.raises(Bad):
            framing.unframe(data)
        with pytest.raises(RecordFault):
            unframe(data)
    try:
        numbers, rest = framing.split_path(path)
        assert (tuple(numbers), rest) == read_path(path)
    except (Bad, RecordFault):
        with pytest.raises(Bad):
            framing.split_path(path)
        with pytest.raises(RecordFault):
            read_path(path)


@pytest.mark.parametrize(
    ("data", "path", "rest"),
    [
        (b"\0x", [0], b"x"),
        (b"\2\0x", [0], b"x"),
        (b"\4\2\6", [1, 3], b""),
        (b"\2\x80\1x", [64], b"x"),
        (b"\2\1", [-1], b""),
    ],
)
def test_paths(data: bytes, path: list[int], rest: bytes) -> None:
    assert framing.split_path(data) == (path, rest)


def test_numbers_of_what_is_not_framed() -> None:
    assert [framing.framed_number(data) for data in (None, b"", b"\0\0\0\0", b"\1\0\0\0\1", b"\0\0\0\1\2x")] == [
        None, None, None, None, 258,
    ]  # fmt: skip
