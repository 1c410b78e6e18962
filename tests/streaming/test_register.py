import numpy as np

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import Region, Shape, group_key
from connectors.record import RawRecords
from operators.control import Withdraw, encode_control
from operators.packed import Header, pack_registrations
from state.change_batch import ChangeBatch
from streaming.register import take_registrations
from streaming.shard_state import ShardState

INTEGER = ColumnType(Kind.INTEGER)
RELATION = Relation(
    "t", (Column("id", INTEGER, False), Column("x", INTEGER), Column("y", INTEGER)), ("id",), "t", born=2
)
SHAPE = Shape("t", "min", "y", (), "x")
EPOCH = 7


def state() -> ShardState:
    """Two rows: (x, y) = (1, 10) and (5, 4)."""
    shard = ShardState(RELATION)
    ones = np.ones((3, 2), np.bool_)
    codes = np.array([[1, 2], [1, 5], [10, 4]], np.int64)
    where = np.zeros(2, np.int32), np.arange(2, dtype=np.int64)
    shard.operator.apply(ChangeBatch([b'{"id":1}', b'{"id":2}'], ones[0], codes, ones, {}, *where))
    return shard


def records(*values: bytes | None) -> RawRecords:
    m = len(values)
    zeros = np.zeros(m, np.int64)
    return RawRecords("registrations", [b"t/0"] * m, list(values), zeros.astype(np.int32), np.arange(m), zeros)


def registration(
    ve: int, *regions: tuple[int, int], epoch: int = EPOCH, catalog: int = 3, shape: Shape = SHAPE
) -> bytes:
    header = Header("register", epoch, "t/0", ve=ve, catalog=catalog)
    made = [Region(shape, group_key(()), lo, hi) for lo, hi in regions]
    (value,) = pack_registrations(header, range(len(made)), made)
    return value


def withdrawal(ve: int, epoch: int = EPOCH) -> bytes:
    return encode_control(Withdraw(epoch, ve, [SHAPE]))


def test_each_virtual_edge_gets_the_current_answers_of_its_regions():
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(registration(3, (0, 2), (6, 9)), registration(1, (0, 9))))
    assert list(snapshots) == [1, 3]
    assert snapshots[3].new[0] == 10 and snapshots[3].has_new.tolist() == [True, False]
    assert snapshots[1].new.tolist() == [4]
    assert shard.listeners == {SHAPE: 0b1010}
    assert shard.counters.registrations == 3


def test_a_shape_is_forgotten_when_the_last_edge_withdraws():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2)), registration(1, (0, 2))))
    take_registrations(shard, EPOCH, records(withdrawal(0)))
    assert shard.listeners == {SHAPE: 0b10}
    take_registrations(shard, EPOCH, records(withdrawal(1)))
    assert shard.listeners == {}


def test_withdraw_then_register_in_one_batch_listens():
    shard = state()
    take_registrations(shard, EPOCH, records(registration(0, (0, 2))))
    snapshots = take_registrations(shard, EPOCH, records(withdrawal(0), registration(0, (0, 9))))
    assert shard.listeners == {SHAPE: 1} and snapshots[0].new.tolist() == [4]


def test_what_is_not_of_this_epoch_this_table_or_readable_is_counted_and_ignored():
    shard = state()
    other = Shape("t", "min", "gone", (), "x")
    ignored = [
        registration(0, (0, 2), epoch=EPOCH - 1),
        registration(0, (0, 2), catalog=RELATION.born - 1),
        registration(0, (0, 2), shape=other),
        withdrawal(0, EPOCH + 1),
        b"\xffgarbage",
        b"{}",
    ]
    assert take_registrations(shard, EPOCH, records(*ignored, None)) == {}
    assert shard.counters.ignored_registrations == len(ignored) and shard.listeners == {}


def test_no_records_no_snapshots():
    assert take_registrations(state(), EPOCH, None) == {}
