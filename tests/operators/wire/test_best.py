from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import BestChannel, Order
from operators.best_messages import HEADS, BestMessages, ImageValues
from operators.packed import Header, PackedBest, PackedError, pack_best, unpack
from state.byte_table import Strings
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.test_packed import INT64, rewritten

GOLDEN = Path(__file__).parent.parent / "golden" / "format_2_best.bin"
ORDER = (Order("y", True, False), Order("id", False, False))
CHANNELS = [BestChannel("t", "best", None, ("e",), "x", ORDER, 5), BestChannel("t", "best", None, (), "s", ORDER, 1)]
GROUPS, TEXTS, NAMES = [b'["a"]', b"[]"], ["a", "b", "", "c"], ["n", "", "é"]
IMAGES = 3
HEADER = Header("best", 5, "t/0", 3)
MESSAGE = st.fixed_dictionaries(
    {
        "channel": st.integers(0, 1),
        "kind": st.integers(1, 3),
        "box": st.tuples(INT64, INT64, INT64, INT64),
        "base": st.integers(0, 4),
        "left": st.lists(INT64, max_size=3),
        "right": st.lists(INT64, max_size=3),
        "cands": st.lists(st.tuples(INT64, st.integers(0, IMAGES - 1)), max_size=4),
        "old": st.integers(-1, IMAGES - 1),
        "new": st.integers(-1, IMAGES - 1),
    }
)


def messages_of(drawn: list[dict], cause: list[int]) -> BestMessages:
    """Lay messages out; those of the second channel have places in the texts for bounds."""

    def xs(message: dict, name: str) -> list[int]:
        values = [x for x, _ in message["cands"]] if name == "cand_x" else message[name]
        return [x % len(TEXTS) for x in values] if message["channel"] else list(values)

    boxes = [[x % len(TEXTS) for x in m["box"]] if m["channel"] else m["box"] for m in drawn]
    heads = {name: [m.get(name) for m in drawn] for name in ("channel", "kind", "base", "old", "new")}
    heads |= {name: [box[i] for box in boxes] for i, name in enumerate(("lo_min", "lo_max", "hi_min", "hi_max"))}
    heads |= {"cause": cause, "group": heads["channel"]}
    heads |= {"lefts": [len(m["left"]) for m in drawn], "rights": [len(m["right"]) for m in drawn]}
    heads |= {"cands": [len(m["cands"]) for m in drawn]}
    narrow = ("cause", "channel", "group")
    known = np.array([True, False, True])
    return BestMessages(
        channels=CHANNELS,
        groups=GROUPS,
        bounds=np.array([x for m in drawn for x in (*xs(m, "left"), *xs(m, "right"))], np.int64),
        cand_x=np.array([x for m in drawn for x in xs(m, "cand_x")], np.int64),
        cand=np.array([c for m in drawn for _, c in m["cands"]], np.int64),
        texts=[*TEXTS],
        images={
            "id": ImageValues(np.array([INT64_MIN, 0, INT64_MAX]), known),
            "name": ImageValues(np.array([2, 0, 0]), known, [*NAMES]),
        },
        **{name: np.array(heads[name], np.int32 if name in narrow else np.int64) for name in HEADS},
    )


def said(messages: BestMessages) -> list[tuple]:
    """Return what each message says, whatever the numbers of what it names."""
    rows = list(zip(*(column.some(slice(None)) for column in messages.images.values()), strict=True))
    told, bound, cand = [], 0, 0
    for i in range(len(messages)):
        channel = messages.channels[messages.channel[i]]
        text = channel == CHANNELS[1]

        def named(x: int, text: bool = text) -> int | str:
            return messages.texts[x] if text and x >= 0 else x

        stop, last = bound + int(messages.lefts[i] + messages.rights[i]), cand + int(messages.cands[i])
        box = [named(int(getattr(messages, name)[i])) for name in ("lo_min", "lo_max", "hi_min", "hi_max")]
        bounds = [named(x) for x in messages.bounds[bound:stop].tolist()]
        xs = [named(x) for x in messages.cand_x[cand:last].tolist()]
        cands = list(zip(xs, [rows[c] for c in messages.cand[cand:last].tolist()], strict=True))
        ends = [None if n < 0 else rows[n] for n in (int(messages.old[i]), int(messages.new[i]))]
        counts = [int(getattr(messages, name)[i]) for name in ("cause", "kind", "base", "lefts", "rights")]
        told.append((channel, messages.groups[messages.group[i]], counts, box, bounds, cands, ends))
        bound, cand = stop, last
    return told


TEXT_BOUNDS = np.array([False, True])


def causes_of(count: int) -> Causes:
    return Causes(["t"], np.zeros(count, np.int32), np.arange(count, dtype=np.int32) % 3, np.arange(count) * 7 + 1)


@given(drawn=st.lists(st.tuples(MESSAGE, st.booleans()), min_size=1, max_size=6), shared=st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_any_messages_come_back_exactly(drawn, shared):
    cause = np.cumsum([0, *[starts for _, starts in drawn[1:]]])
    messages = messages_of([message for message, _ in drawn], cause.tolist())
    several = np.bincount(cause) > 1 if shared else None
    seq = np.arange(len(drawn)) * 2 + 5
    read = unpack(pack_best(HEADER, messages, seq, causes_of(len(drawn)), several))
    assert isinstance(read, PackedBest) and len(read) == len(drawn)
    assert said(read.messages) == said(messages)
    assert (read.header.channels, read.header.needed, read.header.topics) == (CHANNELS, [["id", "name"]], ["t"])
    assert (read.seq.tolist(), read.messages.cause.tolist()) == (seq.tolist(), cause.tolist())
    assert (read.partition.tolist(), read.offset.tolist()) == ((cause % 3).tolist(), (cause * 7 + 1).tolist())
    flags = [False] * len(drawn) if read.several is None else read.several.tolist()
    assert flags == (np.bincount(cause)[cause] > 1).tolist() if shared else not any(flags)


@given(drawn=st.lists(MESSAGE, min_size=1, max_size=6), data=st.data())
@settings(max_examples=examples(100), deadline=None)
def test_texts_as_a_shard_has_them_make_the_same_bytes(drawn, data):
    listed = messages_of(drawn, list(range(len(drawn))))
    names = replace(listed.images["name"], texts=Strings.of(NAMES))
    laid_out = replace(listed, images=listed.images | {"name": names})
    which = np.array(sorted(data.draw(st.sets(st.integers(0, len(drawn) - 1)))), np.int64)
    for one, other in ((listed, laid_out), (listed.take(which, TEXT_BOUNDS), laid_out.take(which, TEXT_BOUNDS))):
        assert one.images["name"].some(slice(None)) == other.images["name"].some(slice(None))
        seq, causes = np.arange(len(one)), causes_of(len(drawn))
        assert pack_best(HEADER, one, seq, causes) == pack_best(HEADER, other, seq, causes)


def golden() -> bytes:
    message = {"channel": 0, "kind": 3, "box": (INT64_MIN, 5, 7, 9), "base": 1, "left": [4, 3], "right": [8]}
    other = {"channel": 1, "kind": 1, "box": (0, 1, 2, 3), "base": 0, "left": [], "right": [3]}
    drawn = [
        message | {"cands": [(6, 0)], "old": 1, "new": 2},
        other | {"cands": [(1, 2), (3, 0)], "old": 1, "new": -1},
    ]
    return pack_best(HEADER, messages_of(drawn, [0, 1]), np.array([3, 5]), causes_of(2), np.array([False, True]))


def test_what_was_written_once_is_read_for_ever():
    written, made = unpack(GOLDEN.read_bytes()), unpack(golden())
    assert isinstance(written, PackedBest) and isinstance(made, PackedBest)
    assert said(written.messages) == said(made.messages) and written.header == made.header
    assert (written.seq.tolist(), written.several.tolist()) == ([3, 5], [False, True])
    assert GOLDEN.read_bytes() == golden()


def test_what_is_not_sound_is_refused():
    messages = messages_of([{"channel": 0, "kind": 1, "box": (0, 1, 2, 3), "base": 0, "left": [], "right": [1],
                             "cands": [(1, 2)], "old": 0, "new": -1}], [0])  # fmt: skip
    for wrong in (
        {"kind": np.array([4])}, {"base": np.array([-1])}, {"old": np.array([-2])}, {"cand": np.array([-1])},
        {"lefts": np.array([9])},
    ):  # fmt: skip
        with pytest.raises(PackedError):
            unpack(pack_best(HEADER, replace(messages, **wrong), np.array([1]), causes_of(1)))
    value = pack_best(HEADER, messages, np.array([1]), causes_of(1))
    for change in ({"count": 9}, {"count": -1}, {"needed": []}, {"needed": [["id", "id"]]}):
        with pytest.raises(PackedError):
            unpack(rewritten(value, lambda header, _layout, _columns, change=change: header.update(change)))
