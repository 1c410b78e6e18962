import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.record import RawRecords
from operators.control import RegisterAll, Withdraw, encode_control
from operators.operator import Answers
from operators.packed import Header, pack_registrations, pack_snapshot, pack_summary
from operators.reply import Later, Refused
from shard.bounds import Bounds
from shard.group import Group, alone
from shard.receiver import REASONS_KEPT
from shard.register import take_registrations
from shard.route import route
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.change_batch import ChangeBatch
from state.errors import StateError
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples, examples
from tests.fuzz.mutation import damaged
from tests.operators.test_packed import rewritten

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
NO_ANSWERS = Answers(np.zeros(0, np.int64), np.zeros(0, np.bool_), {})


def state() -> ShardState:
    """Two rows: (x, y) = (1, 10) and (5, 4)."""
    shard = ShardState(RELATION, RELATION.shard)
    ones = np.ones((4, 2), np.bool_)
    codes = np.array([[1, 2], [1, 5], [10, 4], [0, 0]], np.int64)
    where = np.zeros(2, np.int32), np.arange(2, dtype=np.int64)
    shard.table.apply(ChangeBatch([b'{"id":1}', b'{"id":2}'], ones[0], codes, ones, {3: ["a", "b"]}, *where))
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
    answered = take_registrations(shard, EPOCH, records(*ignored, None))
    assert [type(reply) for snapshot in answered.values() for reply in snapshot.replies.values()] == [Refused]
    assert shard.counters.ignored_registrations == len(ignored)
    assert list(shard.listeners[LOW]) == [0] and wants(shard, 0, 0, 2)


GOOD = Region(SHAPE, GROUP, 0, 2)
GROUPED = Shape("t", (Output("min", "y"),), ("s", "x"), None)


def shape(*outputs: tuple[str, str | None], relation: str = "t", equal: tuple[str, ...] = (), range_="x") -> Shape:
    return Shape(relation, tuple(Output(*output) for output in outputs), equal, range_)


UNFIT = {
    "unknown function": Region(shape(("topk", "y")), GROUP),
    "nameless function": Region(shape(("", "y")), GROUP),
    "sum of a text": Region(shape(("sum", "s")), GROUP),
    "average of a text": Region(shape(("min", "y"), ("avg", "s")), GROUP),
    "minimum of everything": Region(shape(("min", None)), GROUP),
    "unknown column": Region(shape(("max", "gone")), GROUP),
    "unknown column in an equality": Region(shape(("max", "y"), equal=("gone",)), b"[1]"),
    "unknown range": Region(shape(("max", "y"), range_="gone"), GROUP),
    "another table": Region(shape(("max", "y"), relation="u"), GROUP),
    "no outputs": Region(shape(), GROUP),
    "distinct beside others": Region(shape(("distinct", "y"), ("count", None)), GROUP),
    "a column twice": Region(shape(("min", "y"), equal=("y", "y")), b"[1,1]"),
    "a column in both": Region(shape(("min", "y"), equal=("x",)), b"[1]"),
    "empty of an unknown column": Region(shape(("max", "gone")), GROUP, empty=True),
    "group of nothing": Region(GROUPED, b"[]"),
    "group too short": Region(GROUPED, b'["a"]'),
    "group too long": Region(GROUPED, b'["a",1,1]'),
    "group where none is": Region(SHAPE, b'["a"]', 0, 2),
    "group of a wrong type": Region(GROUPED, b"[1,1]"),
    "group of a text for a code": Region(GROUPED, b'["a","b"]'),
    "group of a boolean": Region(GROUPED, b'["a",true]'),
    "group of a fraction": Region(GROUPED, b'["a",1.5]'),
    "group of null": Region(GROUPED, b'["a",null]'),
    "group beyond 64 bits": Region(GROUPED, b'["a",9223372036854775808]'),
    "group with blanks": Region(GROUPED, b'["a", 1]'),
    "group that is no array": Region(GROUPED, b'{"s":"a"}'),
    "group that is no JSON": Region(GROUPED, b"\xff"),
    "group of nothing at all": Region(GROUPED, b""),
    "group that is deep": Region(GROUPED, b"[" * 100_000),
    "bounds the wrong way round": Region(SHAPE, GROUP, 2, 0),
    "bounds of bytes for codes": Region(SHAPE, GROUP, b"a", b"b"),
    "bounds of codes for texts": Region(NAMED, GROUP, 0, 2),
    "bounds of texts the wrong way round": Region(NAMED, GROUP, b"b", b"a"),
    "bounds of bytes without a range": Region(GROUPED, b'["a",1]', b"a", b"b"),
}


def mixed(*regions: Region, ve: int = 3, catalog: int = 3, epoch: int = EPOCH) -> bytes:
    (value,) = pack_registrations(
        Header("register", epoch, "t/0", ve=ve, catalog=catalog), range(len(regions)), regions
    )
    return value


@pytest.mark.parametrize("what", UNFIT)
def test_a_registration_that_does_not_fit_is_counted_and_all_others_take_effect(what):
    shard, alone = state(), state()
    asked = records(registration(1, (0, 9)), mixed(GOOD, UNFIT[what], GOOD), registration(1, (6, 9)))
    snapshots = take_registrations(shard, EPOCH, asked)
    take_registrations(alone, EPOCH, records(registration(1, (0, 9)), registration(3, (0, 2)), registration(1, (6, 9))))
    assert snapshots[3].version.tolist() == [0, 2, 1] and snapshots[3].answers.new.tolist() == [10, 10, 0]
    assert [(at, type(reply), reply.code) for at, reply in snapshots[3].replies.items()] == [(2, Refused, "unfit")]
    assert snapshots[1].answers.has_new.tolist() == [True]
    counters = shard.counters
    assert (counters.registrations, counters.unfit_registrations, counters.ignored_registrations) == (4, 1, 1)
    assert len(counters.unfit_reasons) == 1 and counters.unreadable_registrations == 0 and not shard.hurt
    assert set(shard.listeners) == set(alone.listeners) == set(shard.table.channels)
    assert [wants(shard, 3, 0, 2), wants(shard, 1, 6, 9)] == [True, True]
    shard.table.check()
    assert take_registrations(state(), EPOCH, asked).keys() == snapshots.keys()


def test_an_unfit_registration_alone_is_refused_and_leaves_no_trace_but_counts():
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(mixed(*UNFIT.values())))
    assert [type(reply) for reply in snapshots[3].replies.values()] == [Refused] * len(UNFIT)
    assert shard.listeners == {} and shard.table.channels == () and shard.table.orderings == 0
    assert shard.counters.unfit_registrations == len(UNFIT) and len(shard.counters.unfit_reasons) == REASONS_KEPT
    again = state()
    take_registrations(again, EPOCH, records(mixed(*UNFIT.values())))
    assert Group("t/0", [shard]).dump() == Group("t/0", [again]).dump()


def test_a_shape_number_out_of_range_is_one_registration_that_does_not_fit():
    wrong = rewritten(mixed(GOOD, Region(NAMED, GROUP, b"a", b"b"), GOOD), lambda header, *_: header["shapes"].pop())
    shard = state()
    snapshots = take_registrations(shard, EPOCH, records(wrong))
    assert snapshots[3].version.tolist() == [0, 2] and shard.counters.unfit_registrations == 1


@pytest.mark.parametrize("ve", [-1, 4, 2**40])
def test_a_virtual_edge_that_is_not_there_is_not_written_to(ve):
    shard = state()
    assert list(take_registrations(shard, EPOCH, records(mixed(GOOD, GOOD, ve=ve), mixed(GOOD)), 4)) == [3]
    assert shard.counters.unfit_registrations == 2 and list(shard.listeners[LOW]) == [3]


def test_a_registration_under_a_newer_catalog_is_taken_where_it_fits():
    shard = state()
    asked = records(mixed(GOOD, catalog=99), mixed(UNFIT["unknown column"], catalog=99))
    assert list(take_registrations(shard, EPOCH, asked)) == [3] and shard.counters.unfit_registrations == 1


UNREADABLE = [
    b"",
    b"{}",
    b"\xffgarbage",
    registration(1, (0, 2))[:200],
    registration(1, (0, 2))[:-40],
    pack_snapshot(Header("snapshot", EPOCH, "t/0", 4), np.zeros(0, np.int64), NO_ANSWERS),
    encode_control(RegisterAll(EPOCH, 3)),
]


@pytest.mark.parametrize("value", UNREADABLE)
def test_the_virtual_edge_of_an_unreadable_record_is_told(value):
    shard = state()
    asked = records(registration(1, (0, 9)), value)
    asked.partition[1] = 2
    assert list(take_registrations(shard, EPOCH, asked)) == [1] and shard.hurt == {2}
    assert (shard.counters.unreadable_registrations, shard.counters.ignored_registrations) == (1, 1)
    assert shard.counters.unfit_registrations == 0


@pytest.mark.parametrize("value", [b'{"kind":"images","epoch":7}', b'{"kind":"withdraw","format":7}'])
def test_a_record_of_a_newer_edge_ends_the_engine_with_a_sentence(value):
    packed = rewritten(registration(1, (0, 2)), lambda header, *_: header.update(format=7, epoch={}))
    for newer in (value, packed):
        with pytest.raises(StateError, match=r"`registrations` \[0\] offset 1 cannot be taken: a newer tidewire wrote"):
            take_registrations(state(), EPOCH, records(registration(1, (0, 2)), newer))


VALUES = st.one_of(st.none(), st.sampled_from(["x", "y", "s", "id", "gone", ""]))
SHAPES = st.builds(
    Shape,
    st.sampled_from(["t", "u"]),
    st.lists(
        st.builds(Output, st.sampled_from(["min", "max", "sum", "avg", "count", "distinct", "topk"]), VALUES),
        max_size=3,
    ).map(tuple),
    st.lists(VALUES.filter(bool), max_size=2).map(tuple),
    VALUES,
)
GROUPS = st.sampled_from([b"[]", b"[1]", b'["a"]', b'["a",1]', b'[1,"a"]', b"[1,1]", b"[ 1]", b"\xff"])
BOUND = st.sampled_from([INT64_MIN, -1, 0, 9, INT64_MAX, LOWEST_KEY, b"a", b"\xfe\xff", BEYOND_KEYS])
REGIONS = st.builds(Region, SHAPES, GROUPS, BOUND, BOUND, st.booleans())
ASKED = st.lists(REGIONS, min_size=1, max_size=4).map(lambda regions: mixed(*regions))


@pytest.mark.deep
@given(st.lists(st.one_of(ASKED, damaged(ASKED)), min_size=1, max_size=4))
@settings(max_examples=deep_examples(400), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_whatever_stands_in_registrations_the_batch_ends_and_good_ones_are_answered(values):
    taken, results = records(mixed(GOOD), *values, mixed(GOOD, ve=1)), []
    for _ in range(2):
        shard = alone(RELATION, RELATION.shard, Group(RELATION.shard, [state()]).dump())
        try:
            snapshots = take_registrations(shard, EPOCH, taken, 4)
        except StateError as newer:  # damage that makes a record look like one of another format or kind
            assert "a newer tidewire wrote" in str(newer)
            return
        assert snapshots[3].version[0] == 0 and snapshots[3].answers.new[0] == 10
        assert snapshots[1].answers.new[-1] == 10 and set(snapshots) <= set(range(4))
        shard.table.check()
        results.append(Group("t/0", [shard]).dump())
        shard.table.snapshot([GOOD])
        codes, valid = np.array([[1], [1], [3], [0]]), np.ones((4, 1), np.bool_)
        one = np.ones(1, np.bool_), codes, valid, {3: ["z"]}, np.zeros(1, np.int32), np.full(1, 9)
        route(shard.listeners, shard.table.apply(ChangeBatch([b'{"id":1}'], *one)).messages, 4)
    assert results[0] == results[1]


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
            shard, values = alone(RELATION, RELATION.shard, Group(RELATION.shard, [shard]).dump()), []
            assert all(wants(shard, edge, lo, hi) for edge, ranges in wanted.items() for lo, hi in ranges)


def asked_of(shape: Shape, *versions: int, live: bool = False) -> RawRecords:
    regions = [Region(shape, GROUP) for _ in versions]
    header = Header("register", EPOCH, "t/0", ve=3, catalog=3)
    return records(*pack_registrations(header, versions, regions, [live] * len(versions)))


def test_a_version_that_is_registered_twice_in_a_batch_is_answered_once():
    named = Shape("t", (Output("distinct", "s"),), (), "x")
    twice = asked_of(named, 5, 4, 5, 6, 5)
    assert take_registrations(state(), EPOCH, twice)[3].version.tolist() == [5, 4, 6]
    no_room = take_registrations(state(), EPOCH, twice, bounds=Bounds(orderings=0))[3]
    assert no_room.version.tolist() == [4, 5, 6] and len(no_room.replies) == 3
    short = take_registrations(state(), EPOCH, asked_of(named, *range(40), *range(40)), bounds=Bounds(batch_bytes=1))[3]
    assert sorted(short.version.tolist()) == list(range(40)) and len(short.answers.parts) == 16


@pytest.mark.parametrize("shape", [SHAPE, BOTH, Shape("t", (Output("distinct", "s"),), (), "x")])
def test_a_look_has_the_answer_of_a_registration_and_leaves_nothing_behind(shape):
    shard = state()
    looked = take_registrations(shard, EPOCH, asked_of(shape, -5), bounds=Bounds(channels=0))[3]
    assert not shard.listeners and not list(shard.table.channels) and shard.table.orderings == 0
    registered = take_registrations(shard, EPOCH, asked_of(shape, 5))[3]
    assert looked.version.tolist() == [-5] and registered.version.tolist() == [5]
    assert not looked.replies and looked.answers.parts == registered.answers.parts
    assert (looked.answers.new == registered.answers.new).all()
    before = Group(RELATION.shard, [shard]).dump()
    take_registrations(shard, EPOCH, asked_of(shape, -6))
    assert Group(RELATION.shard, [shard]).dump() == before and list(shard.listeners) == list(shape.channels)


def test_a_version_that_is_refused_and_then_taken_has_its_answer():
    shard = state()
    take_registrations(shard, EPOCH, asked_of(SHAPE, 1))
    new, begun = asked_of(BOTH, 2), asked_of(BOTH, 2, live=True)
    both = records(*new.values, *begun.values)
    snapshot = take_registrations(shard, EPOCH, both, bounds=Bounds(channels=1))[3]
    assert snapshot.version.tolist() == [2] and not snapshot.replies


def test_answers_beyond_the_budget_come_later_in_order_of_versions():
    named = Shape("t", (Output("distinct", "s"),), (), "x")
    asked = asked_of(named, *range(40, 0, -1))
    snapshot = take_registrations(state(), EPOCH, asked, bounds=Bounds(batch_bytes=1))[3]
    later = {int(snapshot.version[i]) for i, reply in snapshot.replies.items() if reply == Later()}
    assert later == set(range(17, 41)) and len(snapshot.answers.parts) == 16
    assert not take_registrations(state(), EPOCH, asked)[3].replies
