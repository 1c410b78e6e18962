"""Answers that came in several pieces are in one place afterwards, all others where they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from operators.answer import Members, Tally, apart
from operators.packed import Header, PackedSnapshot
from operators.reply import Later, Reply, Rows, Same
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


def replied(*replies: tuple[int, Reply]) -> PackedSnapshot:
    versions = np.array([version for version, _ in replies], np.int64)
    nothing = np.zeros(len(versions), np.int64)
    header = Header("snapshot", 0, "t/0")
    return PackedSnapshot(header, versions, nothing, nothing > 0, {}, {i: one for i, (_, one) in enumerate(replies)})


def test_rows_end_with_their_last_piece_and_only_the_first_answer_counts() -> None:
    pieces = [
        replied((1, Rows((b"a",), last=False)), (2, Later()), (3, Rows((b"x",)))),
        replied((1, Rows((b"b",), last=False)), (2, Rows((b"c",)))),
        replied((1, Rows((b"a",))), (3, Same()), (4, Same())),
        replied((1, Rows((b"z",)))),
    ]
    first, second, third, fourth = whole_snapshots(pieces)
    assert first.replies == {0: Rows((b"a", b"b", b"a")), 1: Later(), 2: Rows((b"x",))}
    assert second.replies == {} and third.version.tolist() == [4] and third.replies == {0: Same()}
    assert len(fourth.version) == 0


def test_rows_without_a_last_piece_are_not_taken_for_all() -> None:
    first, _ = whole_snapshots([replied((1, Rows((b"a",), last=False)))] * 2)
    assert first.replies == {0: Rows((b"a", b"a"), last=False)}
