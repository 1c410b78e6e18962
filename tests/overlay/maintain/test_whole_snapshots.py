"""Answers that came in several pieces are in one place afterwards, all others where they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from operators.answer import Members, Tally, apart
from operators.packed import Header, PackedSnapshot
from overlay.maintain.whole_snapshots import whole_snapshots

Answer = frozenset[str] | int | None


def chunks_of(answers: list[Answer], most: int, rows: int) -> list[PackedSnapshot]:
    """Return answers to the versions 0, 1, ... as a shard sends them: `rows` a chunk, members cut to `most` bytes."""
    sent = []
    for version, answer in enumerate(answers):
        if answer is None:
            sent.append((version, None))
        elif isinstance(answer, int):
            sent.append((version, (Tally.of(answer, 0),)))
        else:
            sent += [(version, parts) for parts in apart((Members(tuple(sorted(answer))),), most)]
    made = []
    for start in range(0, len(sent), rows):
        part = sent[start : start + rows]
        versions = np.array([version for version, _ in part], np.int64)
        parts = {i: parts for i, (_, parts) in enumerate(part) if parts is not None}
        made.append(PackedSnapshot(Header("snapshot", 0, "t/0"), versions, versions * 10, versions >= 0, parts))
    return made


@given(
    st.lists(st.none() | st.integers(0, 9) | st.frozensets(st.text("ab", max_size=9), max_size=9), max_size=9),
    st.integers(16, 60),
    st.integers(1, 5),
)
def test_each_version_has_one_answer(answers: list[Answer], most: int, rows: int) -> None:
    found: dict[int, Answer] = {}
    for snapshot in whole_snapshots(chunks_of(answers, most, rows)):
        for i, version in enumerate(snapshot.version.tolist()):
            assert version not in found and snapshot.new[i] == version * 10
            parts = snapshot.parts.get(i)
            if parts is None:
                found[version] = None
            else:
                (part,) = parts
                found[version] = frozenset(part.values) if isinstance(part, Members) else part.count  # type: ignore
    assert found == dict(enumerate(answers))


def test_a_registration_that_was_answered_twice_has_its_answer_once() -> None:
    twice = chunks_of([frozenset({"a", "b"})], 1_000, 1) * 2
    first, second = whole_snapshots(twice)
    assert first.version.tolist() == [0] and len(second.version) == 0
    (members,) = first.parts[0]
    assert isinstance(members, Members) and sorted(members.values) == ["a", "b"]
