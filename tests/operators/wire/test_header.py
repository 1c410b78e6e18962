"""Headers: what stands in their bytes, what is left out, and which are chunks of a batch."""

from __future__ import annotations

import msgspec
import pytest

from operators.record_error import OLDEST_FORMAT
from operators.wire.header import NO_HORIZON, Header, PackedError
from tests.operators.watched import channel


def test_what_says_nothing_takes_no_bytes() -> None:
    """Headers of before have no word of what was added since, and are written so today."""
    assert msgspec.json.encode(Header("messages", 5, "t/0")) == b'{"kind":"messages","epoch":5,"shard":"t/0"}'
    read = msgspec.json.decode(b'{"kind":"messages","epoch":5,"shard":"t/0"}', type=Header)
    assert (read.format, read.horizon, read.of, read.chunk, read.batch) == (OLDEST_FORMAT, NO_HORIZON, 1, 0, -1)
    assert read == Header("messages", 5, "t/0")


def test_a_header_comes_back() -> None:
    header = Header(
        "snapshot",
        5,
        "cell/r+s/0",
        3,
        8,
        9,
        1,
        2,
        ve=4,
        channels=[channel("min", "y")],
        horizon=-1,
        window=7,
        views=["v"],
    )
    assert msgspec.json.decode(msgspec.json.encode(header), type=Header) == header


@pytest.mark.parametrize(
    ("shard", "views", "sources"),
    [
        ("t/0", [], None),
        ("v/0", ["w"], None),
        ("cell/r+s/0", [], ("r", "s")),
        ("cell/r+s/0", ["v", "a"], ("r", "s", "v", "a")),
    ],
)
def test_a_cell_has_its_tables_and_behind_them_its_views(
    shard: str, views: list[str], sources: tuple[str, ...] | None
) -> None:
    assert Header("rows", 5, shard, views=views).sources == sources


@pytest.mark.parametrize(
    ("batch", "chunk", "of", "sound"),
    [(0, 0, 1, True), (7, 2, 3, True), (-1, 0, 1, False), (0, 1, 1, False), (0, -1, 1, False), (0, 0, 0, False)],
)
def test_a_chunk_of_a_batch(batch: int, chunk: int, of: int, sound: bool) -> None:
    header = Header("messages", 5, "t/0", batch, chunk=chunk, of=of)
    if sound:
        header.check_chunk()
        return
    with pytest.raises(ValueError, match=f"chunk {chunk} of {of} of batch {batch}"):
        header.check_chunk()


def test_numbers_are_those_that_64_bits_hold() -> None:
    for text in ("9223372036854775808", "-9223372036854775809", "1.5", '"1"'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(f'{{"kind":"messages","epoch":{text},"shard":"t/0"}}', type=Header)


def test_what_cannot_be_read_has_a_code() -> None:
    assert PackedError.code == "packed_record"
