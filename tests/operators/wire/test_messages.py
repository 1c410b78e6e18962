"""Records of messages: what was packed is read again, whatever the numbers; causes, text, and records of format 1."""

from __future__ import annotations

from dataclasses import fields

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.operator import Messages
from operators.packed import PackedError, PackedMessages, unpack
from operators.wire.columns import write
from operators.wire.header import Header
from operators.wire.messages import pack_messages
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.watched import channel

CHANNELS = [channel("min", "y"), channel("rows", None)]
HEADER = Header("messages", 5, "t/0", 3)
EDGES = st.one_of(st.integers(-2, 2), st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX]))
BOUNDS = ("lo_min", "lo_max", "hi_min", "hi_max")
ROW = st.fixed_dictionaries(
    dict.fromkeys(("old", "new", *BOUNDS), EDGES)
    | {"step": st.integers(0, 1), "rows": st.integers(-1, 1), "channel": st.integers(0, 1), "group": st.integers(0, 1)}
    | {"has_old": st.booleans(), "has_new": st.booleans(), "seq": st.integers(1, 3)}
)
NARROW = {"cause": np.int32, "channel": np.int32, "group": np.int32, "has_old": np.bool_, "has_new": np.bool_}


def messages(rows: list[dict[str, int]], texts: list[str]) -> Messages:
    """Messages whose causes ascend, from `step` of each row on."""
    causes = np.cumsum([row["step"] for row in rows])
    columns = {
        each.name: np.array([row.get(each.name, 0) for row in rows], NARROW.get(each.name, np.int64))
        for each in fields(Messages)
        if each.name not in ("channels", "groups", "texts", "cause")
    }
    return Messages(CHANNELS, [b'["a"]', b'["b"]'], causes.astype(np.int32), texts=texts, **columns)


def causes(count: int) -> Causes:
    numbers = np.arange(count)
    return Causes(["t", "u"], (numbers % 2).astype(np.int32), (numbers % 3).astype(np.int32), numbers * 1_000 - 7)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(ROW, min_size=1, max_size=6), st.lists(st.text(max_size=2), max_size=3), st.booleans())
def test_what_was_packed_is_read_again(rows: list[dict[str, int]], texts: list[str], some: bool) -> None:
    """Bounds travel as differences, which wrap around: none is out of reach."""
    sent, seq, of = messages(rows, texts), np.cumsum([row["seq"] for row in rows]), causes(len(rows) + 1)
    several = np.arange(len(rows) + 1) % 2 == 0 if some else None
    read = unpack(pack_messages(HEADER, sent, seq, of, several))
    assert isinstance(read, PackedMessages)
    got, cause = read.messages, sent.cause
    assert (got.channels, got.groups, got.texts) == (sent.channels, sent.groups, sent.texts)
    for name in ("channel", "group", "rows", "has_old", "has_new", *BOUNDS):
        assert getattr(got, name).tolist() == getattr(sent, name).tolist(), name
    for name in ("old", "new"):
        known = getattr(sent, f"has_{name}")
        assert getattr(got, name).tolist() == np.where(known, getattr(sent, name), 0).tolist()
    assert read.seq.tolist() == seq.tolist()
    assert read.partition.tolist() == of.partition[cause].tolist()
    assert read.offset.tolist() == of.offset[cause].tolist()
    assert read.topic is not None
    assert [read.header.topics[i] for i in read.topic] == [of.topics[i] for i in of.topic[cause]]
    assert [a == b for a in got.cause for b in got.cause] == [a == b for a in cause for b in cause]
    if several is not None and several[cause].any():
        assert read.several is not None and read.several.tolist() == several[cause].tolist()
    else:
        assert read.several is None or not read.several.any()


def swept(sweeps: list[tuple[int, int]], places: list[tuple[int, int]]) -> PackedMessages:
    """Read a record of format 1, whose messages come from `places`."""
    n = len(places)
    numbers = {name: np.arange(n) for name in ("seq", "channel", "rows", "lo_max", "below", "inside", "above")}
    numbers |= {"channel": np.zeros(n, np.int64), "old": np.zeros(n, np.int64), "new": np.zeros(n, np.int64)}
    numbers |= {"has_old": np.zeros(n, np.int64), "has_new": np.ones(n, np.int64)}
    numbers |= {name: np.array([place[i] for place in places]) for i, name in enumerate(("partition", "offset"))}
    header = msgspec.structs.replace(HEADER, channels=CHANNELS, sweeps=sweeps)
    group = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([b"[]"], pa.binary()))
    read = unpack(write(header, numbers, {"group": group}))
    assert isinstance(read, PackedMessages)
    return read


def test_records_of_format_1_have_a_cause_for_each_message_but_for_those_of_several_rows() -> None:
    places = [(0, 5), (1, 5), (0, 9), (1, 5), (0, 5)]
    plain = swept([], places)
    assert plain.messages.cause.tolist() == [0, 1, 2, 3, 4]
    assert (plain.several, plain.topic) == (None, None)
    read = swept([(1, 5), (0, 7)], places)
    assert read.several is not None and read.several.tolist() == [False, True, False, True, False]
    assert read.messages.cause.tolist() == [2, 0, 4, 0, 6]
    assert (read.partition.tolist(), read.offset.tolist()) == ([0, 1, 0, 1, 0], [5, 5, 9, 5, 5])


@pytest.mark.parametrize("broken", [{"chunk": 1}, {"chunk": -1}, {"of": 0}, {"batch": -1}])
def test_a_record_that_is_no_chunk_of_a_batch_is_refused(broken: dict[str, int]) -> None:
    rows = [{"step": 0}]
    value = pack_messages(
        msgspec.structs.replace(HEADER, **broken), messages(rows, []), np.zeros(1, np.int64), causes(1)
    )
    with pytest.raises(PackedError, match="chunk"):
        unpack(value)
