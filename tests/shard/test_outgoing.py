from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import BYTES_PER_MESSAGE, Header, pack_messages
from shard.outgoing import Outgoing, _middle
from state.byte_runs import RECORD_BYTES
from tests.effort import examples
from tests.streaming.outgoing_messages import NAMES, on_the_line, outgoing_of

TEXTS = ["a", "b", "c", "d"]
PLACE = st.integers(0, 3)
ROW = st.one_of(
    st.fixed_dictionaries(
        {"channel": st.just(2), "group": st.integers(0, 2), "has_old": st.booleans(), "has_new": st.booleans()}
        | dict.fromkeys(("old", "new"), PLACE)
        | {name: st.integers(-1, 3) for name in ("lo_min", "lo_max", "hi_min", "hi_max")}
    ),
    st.fixed_dictionaries(
        {"channel": st.integers(0, 1), "group": st.integers(0, 2), "has_new": st.booleans()}
        | {name: st.integers(-9, 9) for name in ("new", "lo_min", "lo_max", "hi_min", "hi_max")}
    ),
)


def said(outgoing: Outgoing) -> list[tuple]:
    """What each message says, with its texts and its group spelled out."""
    m, out = outgoing.messages, []
    for i in range(len(m)):
        text = m.channels[m.channel[i]] == NAMES

        def spelled(place: int, text: bool = text) -> object:
            return m.texts[place] if text and place >= 0 else place

        values = [spelled(int(c[i])) if has[i] else None for c, has in ((m.old, m.has_old), (m.new, m.has_new))]
        bounds = [spelled(int(column[i])) for column in (m.lo_min, m.lo_max, m.hi_min, m.hi_max)]
        out.append(
            (
                int(outgoing.seq[i]),
                int(m.cause[i]),
                int(m.channel[i]),
                m.groups[m.group[i]],
                *values,
                *bounds,
            )
        )
    return out


@given(rows=st.lists(ROW, min_size=1, max_size=8), data=st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_part_says_the_same_and_names_no_more_than_it_says(rows, data):
    whole = outgoing_of([row | {"cause": i} for i, row in enumerate(rows)], [b"[1]", b"[2]", b"[3]"], list(TEXTS))
    places = data.draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True).map(sorted))
    part = whole.take(np.array(places))
    everything = said(whole)
    assert said(part) == [everything[i] for i in places]
    m = part.messages
    assert len(m.groups) == len(set(m.group.tolist()))
    named = {text for row in said(part) for text in row if isinstance(text, str)}
    assert named == set(m.texts)
    assert said(whole) == everything


def test_a_slice_of_one_group_is_not_copied():
    whole = on_the_line([0] * 10)
    assert np.shares_memory(whole.take(slice(3, 6)).messages.new, whole.messages.new)


def test_messages_of_one_cause_stay_together_where_they_can():
    texts = ["x" * (RECORD_BYTES // 3)]
    rows = [{"cause": i // 5, "channel": 2, "has_new": 1} for i in range(15)]
    parts = list(outgoing_of(rows, texts=texts * 1).split())
    assert len(parts) == 1
    apart = [row | {"new": i // 5} for i, row in enumerate(rows)]
    parts = list(outgoing_of(apart, texts=[texts[0] + str(i) for i in range(3)]).split())
    assert [part.messages.cause.tolist() for part in parts] == [[0] * 5 + [1] * 5, [2] * 5] or [
        part.messages.cause.tolist() for part in parts
    ] == [[0] * 5, [1] * 5 + [2] * 5]


def halved(outgoing: Outgoing, most: int) -> Iterator[Outgoing]:
    """Cut as it ever was: each half is taken out, and its size is counted anew."""
    m = outgoing.messages
    size = len(outgoing.seq) * BYTES_PER_MESSAGE + sum(map(len, m.groups)) + sum(len(text.encode()) for text in m.texts)
    rows = len(outgoing.seq)
    if rows <= 1 or size <= most:
        yield outgoing
        return
    middle = _middle(m.cause)
    yield from halved(outgoing.take(slice(middle)), most)
    yield from halved(outgoing.take(slice(middle, rows)), most)


@given(
    rows=st.lists(st.tuples(ROW, st.booleans()), max_size=40),
    lengths=st.lists(st.integers(0, 150), min_size=4, max_size=4),
    most=st.integers(1, 2_000),
)
@settings(max_examples=examples(300), deadline=None)
def test_it_is_cut_where_it_ever_was(rows, lengths, most):
    """Engines of two versions may write one batch: its chunks have the same bytes."""
    causes = np.cumsum([starts for _, starts in rows]).tolist()
    texts = [text * length for text, length in zip("abé/", lengths, strict=True)]
    groups = [b"[1]", b"[" + b"2" * 90 + b"]", b"[3]"]
    whole = outgoing_of([row | {"cause": cause} for (row, _), cause in zip(rows, causes, strict=True)], groups, texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing.RECORD_BYTES", most)
        assert [packed(part) for part in whole.split()] == [packed(part) for part in halved(whole, most)]


def packed(part: Outgoing) -> bytes:
    header = Header("messages", 0, "t/0", 0, channels=part.messages.channels)
    return pack_messages(header, part.messages, part.seq, part.causes, part.several)


def test_what_is_too_big_within_one_cause_is_cut_there():
    none = {"lo_min": -1, "lo_max": -1, "hi_min": -1, "hi_max": -1}
    rows = [none | {"channel": 2, "has_new": 1, "new": i} for i in range(4)]
    parts = list(outgoing_of(rows, texts=[str(i) * (RECORD_BYTES // 2) for i in range(4)]).split())
    assert [len(part.seq) for part in parts] == [1, 1, 1, 1]
    assert all(len(part.messages.texts) == 1 for part in parts)
