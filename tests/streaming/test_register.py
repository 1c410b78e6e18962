import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import BEYOND_KEYS, Output, Region, Shape, group_key
from connectors.record import RawRecords
from operators.control import Withdraw, encode_control
from operators.packed import Header, pack_registrations, pack_summary
from state.boxes import Boxes, hashes_of
from state.change_batch import ChangeBatch
from streaming.register import take_registrations
from streaming.shard_state import ShardState
from tests.effort import examples

INTEGER = ColumnType(Kind.INTEGER)
COLUMNS = (
    Column("id", INTEGER, False),
    Column("x", INTEGER),
    Column("y", INTEGER),
    Column("s", ColumnType(Kind.VARCHAR)),
)
RELATION = Relation("t", COLUMNS, ("id",), "t", born=2)
SHAPE = Shape("t", (Output("min", "y"),), (), "x")
BOTH = Shape("t", (Output("min", "y"), Output("count", None)), (), "x")
NAMED = Shape("t", (Output("count", None),), (), "s")
(LOW,) = SHAPE.channels
ROWS = BOTH.channels[1]
GROUP = group_key(())
EPOCH = 7


def state() -> ShardState:
    """Two rows: (x, y) = (1, 10) and (5, 4)."""
    shard = ShardState(RELATION, RELATION.shard)
    ones = np.ones((4, 2), np.bool_)
    codes = np.array([[1, 2], [1, 5], [10, 4], [0, 0]], np.int64)
    where = np.zeros(2, np.int32), np.arange(2, dtype=np.int64)
    shard.operator.apply(ChangeBatch([b'{"id":1}', b'{"id":2}'], ones[0], codes, ones, {3: ["a", "b"]}, *where))
    return shard


def records(*values: bytes | None) -> RawRecords:
    m = len(values)
    zeros = np.zeros(m, np.int64)
    return RawRecords("registrations", [b"t/0"] * m, list(values), zeros.astype(np.int32), np.arange(m), zeros)


def registration(ve: int, *bounds: tuple, epoch: int = EPOCH, catalog: int = 3, shape: Shape = SHAPE) -> bytes:
    made = [Region(shape, GROUP, lo, hi, empty=lo > hi) for lo, hi in bounds]
    header = Header("register", epoch, "t/0", ve=ve, catalog=catalog)
    (value,) = pack_registrations(header, range(len(made)), made)
    return value


def summary(ve: int, *bounds: tuple[int, int], epoch: int = EPOCH, catalog: int = 3) -> bytes:
    lo, hi = (np.array([pair[i] for pair in bounds], np.int64) for i in (0, 1))
    boxes = Boxes.of(hashes_of([GROUP] * len(bounds)), lo, hi)
    return pack_summary(Header("summary", epoch, "t/0", ve=ve, catalog=catalog), {LOW: boxes})


def withdrawal(ve: int, epoch: int = EPOCH) -> bytes:
    return encode_control(Withdraw(epoch, ve, [LOW]))


def wants(shard: ShardState, ve: int, lo: int, hi: int, channel=LOW) -> bool:
    """Whether the shard would send the virtual edge a message about just the range [lo, hi]."""
    boxes = shard.listeners.get(channel, {}).get(ve, Boxes.none())
    point = (np.array([value]) for value in (lo, lo, hi, hi))
    return bool(boxes.meets(hashes_of([GROUP]), np.zeros(1, np.int32), *point)[0])


def test_each_virtual_edge_gets_the_current_answers_of_its_regions():
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(registration(3, (0, 2), (6, 9)), registration(1, (0, 9))))
    assert list(snapshots) == [1, 3]
    assert snapshots[3].answers.new[0] == 10 and snapshots[3].answers.has_new.tolist() == [True, False]
    assert snapshots[1].answers.new.tolist() == [4]
    assert {channel: sorted(edges) for channel, edges in shard.listeners.items()} == {LOW: [1, 3]}
    assert shard.counters.registrations == 3


def test_a_shape_listens_to_all_its_channels():
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(registration(3, (0, 2), shape=BOTH), registration(3, (6, 9))))
    assert set(shard.listeners) == {LOW, ROWS}
    assert [wants(shard, 3, *range_, channel=ROWS) for range_ in ((0, 2), (6, 9))] == [True, False]
    assert wants(shard, 3, 0, 2) and wants(shard, 3, 6, 9)
    assert [len(snapshots[3].answers.parts[0]), 1 in snapshots[3].answers.parts] == [2, False]


def test_a_channel_is_forgotten_when_the_last_edge_withdraws():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2)), registration(1, (0, 2))))
    take_registrations(shard, EPOCH, records(withdrawal(0)))
    assert list(shard.listeners[LOW]) == [1]
    take_registrations(shard, EPOCH, records(withdrawal(1)))
    assert shard.listeners == {}


def test_withdraw_then_register_in_one_batch_listens():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2))))
    snapshots = take_registrations(shard, EPOCH, records(withdrawal(0), registration(0, (0, 9))))
    assert list(shard.listeners[LOW]) == [0] and snapshots[0].answers.new.tolist() == [4]
    assert not wants(shard, 0, 0, 2)


def test_a_summary_replaces_what_stands_before_it_and_nothing_after():
    shard = state()
    taken = records(
        registration(0, (0, 2), (5, 6)), registration(1, (0, 2)), summary(0, (5, 6)), registration(0, (8, 9))
    )
    take_registrations(shard, EPOCH, taken)
    assert [wants(shard, 0, *range_) for range_ in ((0, 2), (5, 6), (8, 9))] == [False, True, True]
    assert wants(shard, 1, 0, 2)


def test_a_summary_after_a_withdrawal_does_not_listen_again():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2)), withdrawal(0), summary(0, (0, 2))))
    assert shard.listeners == {}


def test_a_subscription_that_no_row_can_meet_gets_a_snapshot_and_no_messages():
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(registration(0, (2, 0))))
    assert len(snapshots[0].version) == 1 and len(shard.listeners[LOW][0]) == 0


def test_ranges_of_texts_are_wanted_whole():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (b"a", BEYOND_KEYS), shape=NAMED)))
    assert wants(shard, 0, -1, 0, channel=NAMED.channels[0])


def test_what_is_not_of_this_epoch_this_table_or_readable_is_counted_and_ignored():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2))))
    other = Shape("t", (Output("min", "gone"),), (), "x")
    ignored = [
        registration(1, (0, 2), epoch=EPOCH - 1),
        registration(1, (0, 2), catalog=RELATION.born - 1),
        registration(1, (0, 2), shape=other),
        summary(0, epoch=EPOCH - 1),
        summary(0, catalog=RELATION.born - 1),
        withdrawal(0, EPOCH + 1),
        b"\xffgarbage",
        b"{}",
    ]
    assert take_registrations(shard, EPOCH, records(*ignored, None)) == {}
    assert shard.counters.ignored_registrations == len(ignored)
    assert list(shard.listeners[LOW]) == [0] and wants(shard, 0, 0, 2)


def test_no_records_no_snapshots():
    assert take_registrations(state(), EPOCH, None) == {}


RANGE = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted).map(tuple)
STEP = st.one_of(
    st.tuples(st.just("register"), st.integers(0, 1), st.lists(RANGE, min_size=1, max_size=20)),
    st.tuples(st.just("summary"), st.integers(0, 1), st.randoms(use_true_random=False)),
    st.tuples(st.just("withdraw"), st.integers(0, 1), st.none()),
    st.tuples(st.just("batch"), st.none(), st.none()),
)


@given(steps=st.lists(STEP, max_size=14))
@settings(max_examples=examples(60), deadline=None)
def test_whatever_comes_when_no_wanted_range_is_missed(steps):
    """Edges drop some of their subscriptions and say so by summaries, in the order in which shards read it."""
    shard, wanted, values = ShardState(RELATION, RELATION.shard), {0: set(), 1: set()}, []
    for what, ve, how in [*steps, ("batch", None, None)]:
        if what == "register":
            wanted[ve] |= set(how)
            values.append(registration(ve, *how))
        elif what == "summary":
            wanted[ve] = {kept for kept in sorted(wanted[ve]) if how.random() < 0.5}
            values.append(summary(ve, *sorted(wanted[ve])))
        elif what == "withdraw":
            wanted[ve] = set()
            values.append(withdrawal(ve))
        else:
            take_registrations(shard, EPOCH, records(*values))
            shard, values = ShardState.open(RELATION, RELATION.shard, shard.dump()), []
            assert all(wants(shard, edge, lo, hi) for edge, ranges in wanted.items() for lo, hi in ranges)
