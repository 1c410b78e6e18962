"""Records of what a virtual edge wants: a summary for each channel in order, and the columns of rows that it needs."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import Channel, ImageChannel
from operators.packed import Header, PackedError, PackedSummary, unpack
from operators.wire.summary import pack_summary
from state.boxes import Boxes, hashes_of
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.test_packed import rewritten
from tests.operators.watched import channel

HEADER = Header("summary", 2, "t/0", ve=3, catalog=6)
CHANNELS: list[Channel] = [channel("min", "y"), channel("rows", None), channel("values", "x"), ImageChannel("t")]
ENDS = st.sampled_from([INT64_MIN, -1, 0, 1, INT64_MAX])
BOXES = st.lists(st.tuples(st.sampled_from([b"[1]", b"[2]"]), ENDS, ENDS), max_size=3)


def boxes(of: list[tuple[bytes, int, int]]) -> Boxes:
    lo, hi = (np.array([each[i] for each in of], np.int64) for i in (1, 2))
    return Boxes.of(hashes_of([group for group, *_ in of]), lo, hi)


def read(value: bytes) -> PackedSummary:
    found = unpack(value)
    assert isinstance(found, PackedSummary)
    return found


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.sampled_from(CHANNELS), BOXES))
def test_each_channel_has_what_is_wanted_of_it(wanted: dict[Channel, list[tuple[bytes, int, int]]]) -> None:
    made = {channel: boxes(of) for channel, of in wanted.items()}
    found = read(pack_summary(HEADER, made))
    assert found.header.channels == list(wanted)
    assert [each.dump() for each in found.boxes] == [each.dump() for each in made.values()]
    assert found.needed == [[]] * len(wanted)


def test_columns_are_needed_of_channels_of_rows_alone() -> None:
    nothing = dict.fromkeys(CHANNELS, Boxes.none())
    found = read(pack_summary(HEADER, nothing, {CHANNELS[3]: ["x", "y"], channel("max", "y"): ["z"]}))
    assert found.needed == [[], [], [], ["x", "y"]]
    assert found.header.format == 3
    assert read(pack_summary(HEADER, dict(list(nothing.items())[:3]))).header.format == 2


def test_the_header_is_filled_in_and_not_changed() -> None:
    before = msgspec.json.encode(HEADER)
    found = read(pack_summary(HEADER, {CHANNELS[0]: Boxes.none()}))
    assert (found.header.ve, found.header.catalog, found.header.epoch) == (3, 6, 2)
    assert msgspec.json.encode(HEADER) == before


def test_as_many_summaries_as_channels_are_sound() -> None:
    value = pack_summary(HEADER, dict.fromkeys(CHANNELS[:2], Boxes.none()))
    with pytest.raises(PackedError, match="2 summaries of 1 channels"):
        unpack(rewritten(value, lambda header, *_: header.update(channels=header["channels"][:1])))
    needed = pack_summary(HEADER, dict.fromkeys(CHANNELS[2:], Boxes.none()), {CHANNELS[3]: ["x"]})
    with pytest.raises(PackedError, match="needed columns of 1 channels, expected those of 2"):
        unpack(rewritten(needed, lambda header, *_: header.update(needed=[["x"]])))
