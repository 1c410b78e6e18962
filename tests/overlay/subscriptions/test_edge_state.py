"""Records of edge-state: bounded, read back in order, strangers refused."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from overlay.subscriptions import edge_state
from overlay.subscriptions.edge_state import (
    Delta,
    Digests,
    EdgeStateError,
    Head,
    HeldState,
    ShapeState,
    columns_of,
    digest_columns,
    digests_of,
    encode_deltas,
    encode_snapshot,
    read_back,
    values_of,
)
from overlay.table.slot_rows import states_of
from state.byte_runs import RECORD_BYTES
from tests.overlay.table.test_slot_rows import many


def big() -> Delta:
    n = np.arange(50_000)
    held = [HeldState(i, b"k" * 500, b"v" * 1_000) for i in range(2_000)]
    shape = ShapeState(0, "[]", 0, "t/0", "t", (("BIGINT", 0, 0), None))
    answers = [(i, b"a" * 700) for i in range(2_000)]
    digests = digests_of(n, n, n.astype(np.uint64), n.astype(np.uint64))
    values = values_of(n, n, n > 0, n, n)
    return Delta(Head(3), [1], [shape], [9, 8], many(3_000, 500), values, [4], held, answers, digests)


def merged(parts: list[Delta]) -> dict[str, object]:
    columns = [
        np.concatenate(column).tolist() for column in zip(*(columns_of(part.values) for part in parts), strict=True)
    ]
    names = ("shapes", "freed", "held", "unheld", "answers")
    lists = {name: [x for part in parts for x in getattr(part, name)] for name in names}
    lists["slots"] = [state for part in parts for state in states_of(part.slots)]
    digests = zip(*(digest_columns(part.digests) for part in parts), strict=True)
    columns += [np.concatenate(column).tolist() for column in digests]
    return {"columns": columns, "head": [part.head for part in parts if part.head], **lists}


def test_large_deltas_and_snapshots_are_cut_into_records_of_bounded_size() -> None:
    for records in (encode_deltas(big()), encode_snapshot(0, big())):
        assert len(records) > 3 and max(map(len, records)) <= RECORD_BYTES
        stored, _ = read_back(records)
        assert merged([delta for _, delta in stored]) == merged([big()])


def test_only_the_last_complete_snapshot_and_what_follows_count() -> None:
    def delta(epoch: int) -> list[bytes]:
        return encode_deltas(Delta(Head(epoch)))

    first, second = encode_snapshot(0, Delta(Head(10))), encode_snapshot(1, Delta(Head(20)))
    epochs = lambda values: [part.head.epoch for _, part in read_back(values)[0] if part.head]  # noqa: E731
    assert epochs(delta(1) + first + delta(2)) == [10, 2]
    assert epochs(first + delta(2) + second + delta(3)) == [20, 3]
    assert epochs(first + delta(2) + second[:-1] + delta(3)) == [10, 2, 3]
    assert epochs(second[:-1] + second + delta(3)) == [20, 3]
    assert epochs(first[1:] + delta(3)) == [3]
    assert read_back(first + second)[1] == 1 and read_back(delta(1))[1] == -1


def test_the_deltas_say_which_record_they_stand_in() -> None:
    first, more = encode_snapshot(0, Delta(Head(10))), encode_deltas(Delta(Head(11)))
    assert [number for number, _ in read_back(more + first + more)[0]] == [1, 3]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "expected msgpack of format 2"),
        (b"", "expected msgpack of format 2"),
        (b"{}", "expected msgpack of format 2"),
        (b"\x91" * 100_000, "expected msgpack of format 2"),
        (encode_deltas(Delta(Head(3)))[0][:-1], "expected msgpack of format 2"),
        (msgspec.msgpack.encode(edge_state.Record(99, "delta")), "another format: expected 2, got 99"),
        (msgspec.msgpack.encode([1, {"of": "old"}]), "another format: expected 2, got 1"),
        (msgspec.msgpack.encode(edge_state.Record(2, "images")), "another kind: .*got `images`"),
    ],
)
def test_records_of_others_are_refused_and_told_by_number(value: bytes | None, says: str) -> None:
    with pytest.raises(EdgeStateError, match=says) as refused:
        read_back([*encode_deltas(Delta(Head(3))), value])
    assert refused.value.record == 1


def test_a_delta_of_before_there_were_filters_is_read() -> None:
    delta = Delta(Head(3), [1], [], [9], many(3))
    (written,) = (record for record in encode_deltas(delta) if b"id-" in record)
    old = msgspec.msgpack.decode(written)
    old[4] = old[4][:9]
    old[4][4] = old[4][4][:6]
    for terms in old[4][4][4]:
        del terms[6:]
    (stored,), _ = read_back([msgspec.msgpack.encode(old)])
    assert states_of(stored.delta.slots) == states_of(many(3)) and stored.delta.digests == Digests()
