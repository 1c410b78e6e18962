"""What registrations are answered with: each version once, of what it asked, and no more in a batch than was given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape
from catalog.query.value_set import ValueSet
from operators.answer import Members
from operators.reply import Asked, Digest, Later, Refused, Rows, decode_row
from shard import snapshot as module
from shard.snapshot import Questions, Snapshot, snapshots_of
from shard.state import ShardState
from state.row_digest import Digest as Told
from tests.effort import examples
from tests.shard.test_register import GROUP, SHAPE, state

PLENTY = 1_000_000
DISTINCT = Shape("t", (Output("distinct", "y"),), (), "x")
FILTER = FilterShape("t", ("y",), (), ("x",), (), ())
FIRST = BestShape("t", ("y",), (), "x", (Order("y", False, False), Order("id", False, False)), 2, ())
NO = Refused("quota", "too many")


def low(lo: int, hi: int) -> Region:
    return Region(SHAPE, GROUP, lo, hi, empty=lo > hi)


def distinct(lo: int = 0, hi: int = 9) -> Region:
    return Region(DISTINCT, GROUP, lo, hi)


def filtered(lo: int = 0, hi: int = 9) -> Region:
    return Region(FILTER, b"[]", terms=encode_terms([{0: ValueSet(((lo, hi),))}]))


def first(lo: int = 0, hi: int = 9) -> Region:
    return Region(FIRST, GROUP, lo, hi, empty=lo > hi)


def listened() -> ShardState:
    """A shard that has all channels that are asked for."""
    made = state()
    made.table.listen([channel for shape in (SHAPE, DISTINCT, FIRST) for channel in shape.channels])
    return made


def answered(*regions: tuple[int, Region], most: int = PLENTY, **more: object) -> Snapshot:
    """The snapshot of one virtual edge; rows of the state have (x, y) = (1, 10) and (5, 4)."""
    found = snapshots_of(listened(), {3: Questions(list(regions), **more)}, most)  # type: ignore[arg-type]
    assert list(found) == [3]
    return found[3]


def told(snapshot: Snapshot, i: int) -> object:
    """What is told of a registration: rows, members, a code, or what is said in its stead."""
    reply = snapshot.replies.get(i)
    if isinstance(reply, Rows):
        return sorted(decode_row(row) for row in reply.rows)
    if reply is not None:
        return reply
    if i in snapshot.answers.parts:
        (part,) = snapshot.answers.parts[i]
        assert isinstance(part, Members)
        return set(part.values)
    return int(snapshot.answers.new[i]) if snapshot.answers.has_new[i] else None


ASKED = [
    ((1, low(0, 2)), 10), ((2, low(0, 9)), 4), ((3, low(6, 9)), None), ((4, low(9, 0)), None),
    ((5, distinct()), {4, 10}), ((6, distinct(2, 9)), {4}), ((7, filtered(0, 2)), [[10]]),
    ((8, filtered()), [[4], [10]]), ((9, first()), [[4, 2], [10, 1]]),
    ((10, first(0, 2)), [[10, 1]]), ((11, first(9, 0)), []),
]  # fmt: skip


@settings(max_examples=examples(100), deadline=None)
@given(st.permutations(range(len(ASKED))), st.integers(0, len(ASKED)))
def test_answers_stand_where_they_were_asked_for_whatever_stands_beside_them(order: list[int], count: int) -> None:
    chosen = [ASKED[i] for i in order[:count]]
    found = answered(*(question for question, _ in chosen))
    assert found.version.tolist() == [version for (version, _), _ in chosen]
    for i, (_, wanted) in enumerate(chosen):
        assert told(found, i) == wanted


def test_what_is_refused_is_told_behind_the_others() -> None:
    found = answered((7, low(0, 9)), refused=[(5, NO), (9, NO)])
    assert found.version.tolist() == [7, 5, 9]
    assert [told(found, i) for i in range(3)] == [4, NO, NO]


def test_a_version_is_answered_once_as_it_stands_first() -> None:
    """An answer before a refusal."""
    twice = Questions([(7, low(0, 2)), (8, low(0, 9)), (7, low(0, 9))], [(8, NO), (5, NO), (5, Later())])
    found = twice.once()
    assert found.regions == [(7, low(0, 2)), (8, low(0, 9))]
    assert found.refused == [(5, NO)]
    assert found.asked is twice.asked
    apart = Questions([(7, low(0, 2))], [(8, NO)])
    assert apart.once() is apart


@pytest.mark.parametrize("ask", [distinct, filtered, first])
def test_what_may_be_of_any_size_is_told_until_it_is_enough_in_order_of_versions(
    ask: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FEW", 1)
    versions = [5, 3, 9, 1]
    found = answered(*((version, ask()) for version in versions), most=1)  # type: ignore[operator]
    later = {versions[i] for i, reply in found.replies.items() if isinstance(reply, Later)}
    assert later == {3, 5, 9}
    assert not any(isinstance(reply, Later) for reply in answered(*((v, ask()) for v in versions)).replies.values())  # type: ignore[operator]
    none = answered(*((version, ask()) for version in versions), most=0)  # type: ignore[operator]
    assert all(isinstance(none.replies[i], Later) for i in range(4))


def test_what_is_one_code_is_always_told() -> None:
    found = answered(*((version, low(0, 9)) for version in range(100)), most=0)
    assert found.answers.has_new.all() and not found.replies


def test_the_bytes_of_one_virtual_edge_count_for_those_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", 1)
    asked = {ve: Questions([(1, distinct())]) for ve in (5, 2, 7)}
    found = snapshots_of(listened(), asked, 1)
    assert list(found) == [2, 5, 7]
    assert [told(found[ve], 0) for ve in found] == [{4, 10}, Later(), Later()]


def test_rows_may_be_asked_for_by_their_digest_under_the_key_that_was_given() -> None:
    asked = {1: Asked(digest_only=True)}
    one = answered((1, filtered()), asked=asked).replies[0]
    assert isinstance(one, Digest) and one.count == 2
    questions = {3: Questions([(1, filtered())], asked=asked)}
    other = snapshots_of(listened(), questions, PLENTY, bytes(15) + b"\1")[3].replies[0]
    assert isinstance(other, Digest) and (other.low, other.high) != (one.low, one.high)
    same = answered((1, filtered()), asked={1: Asked(Told(one.count, one.low, one.high))}).replies[0]
    assert type(same).__name__ == "Same"


def test_nothing_asked_is_nothing_said() -> None:
    assert snapshots_of(listened(), {}, PLENTY) == {}
    found = answered()
    assert (len(found.version), found.replies, found.answers.parts) == (0, {}, {})
    assert found.version.dtype == np.int64
