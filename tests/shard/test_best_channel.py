"""The channel of first rows from registration to records, over tiny domains: every range's list, after every cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Region, group_key
from catalog.types.order_key import after, order_key
from operators.control import Withdraw, encode_control
from operators.packed import Header, PackedBest, PackedSnapshot, pack_summary, unpack
from operators.reply import Refused, Rows, decode_row
from shard.bounds import Bounds, held
from shard.encode import Encoder, add_best
from shard.group import Group, alone
from shard.member_batch import outgoing_of
from shard.moved import Moved
from shard.register import take_registrations
from shard.route import route
from shard.state import ShardState
from state.best_tree import STAY
from state.boxes import Boxes, hashes_of
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples
from tests.operators.watched import RELATION, TEXTS, WIDES, batch_of
from tests.oracle.naive_best import first_of
from tests.oracle.naive_best_list import BestMessage
from tests.oracle.naive_first_rows import Row, Scalar
from tests.shard.test_image_channel import EPOCH, SHARD, Cause, causes, records, registration

EDGES = 2
Image = tuple[Scalar, ...]


def by(*columns: tuple[str, bool, bool]) -> tuple[Order, ...]:
    return tuple(Order(*column) for column in columns)


ID, DOWN = ("id", False, False), ("id", True, True)
RANGES = [(lo, hi) for lo in (INT64_MIN, 0, 1, 2) for hi in (0, 1, 2, INT64_MAX) if lo <= hi]
KEYS = sorted({order_key(RELATION.column("s").type, text) for text in TEXTS[:3]})
WIDE_KEYS = sorted(order_key(RELATION.column("w").type, text) for text in WIDES[:4])


def text_ranges(keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    ends = [each for key in keys for each in (key, after(key))]
    return [(lo, hi) for lo in (LOWEST_KEY, *ends) for hi in (*ends, BEYOND_KEYS) if lo <= hi]


ASKED = [
    (("id", "d"), (), "x", by(("f", False, False), ID), RANGES),
    (("s",), ("e",), "x", by(("s", True, True), ("x", False, False), DOWN), RANGES),
    (("w", "w"), (), "s", by(("w", True, False), ID), text_ranges(KEYS)),
    (("id",), (), "w", by(ID), text_ranges(WIDE_KEYS)),
    (("x",), ("f",), None, by(("x", False, True), ID), [(INT64_MIN, INT64_MAX)]),
    (("id",), (), "x", by(("x", True, True), DOWN), RANGES),
]
GROUPS = {(): [b"[]"], ("e",): [group_key(("a",)), group_key(("",))], ("f",): [group_key((0,)), group_key((1,))]}


@st.composite
def regions(draw: st.DrawFn) -> list[Region]:
    """Draw a shape with a limit, and all its ranges and groups; or one that no row can meet."""
    shown, equal, range_, order, ranges = draw(st.sampled_from(ASKED))
    shape = BestShape("t", shown, equal, range_, order, draw(st.integers(0, 6)), ())
    if draw(st.integers(0, 9)) == 0:
        return [Region(shape, b"[]", empty=True)]
    ranges = draw(st.lists(st.sampled_from(ranges), min_size=1, max_size=4)) if draw(st.booleans()) else ranges
    return [Region(shape, group, lo, hi) for group in GROUPS[equal] for lo, hi in ranges]


def message_of(packed: PackedBest, i: int, shape: BestShape) -> BestMessage:
    """Return a message as a subscriber of `shape` reads it."""
    m = packed.messages
    bound, cand = int((m.lefts + m.rights)[:i].sum()), int(m.cands[:i].sum())
    rows = list(zip(*(m.images[name].some(slice(None)) for name in shape.images), strict=True))
    ends = bound + int(m.lefts[i]), bound + int(m.lefts[i] + m.rights[i])
    left, right = m.bounds[bound : ends[0]].tolist(), m.bounds[ends[0] : ends[1]].tolist()
    xs = m.cand_x[cand : cand + int(m.cands[i])].tolist()
    moving = [rows[c] for c in m.cand[cand : cand + int(m.cands[i])].tolist()]
    box = [int(getattr(m, name)[i]) for name in ("lo_min", "lo_max", "hi_min", "hi_max")]
    highs = xs
    if shape.range is not None and not RELATION.column(shape.range).type.coded:
        type_ = RELATION.column(shape.range).type
        named = {x for x in (*box, *left, *right, *xs) if x >= 0}
        keys = {x: order_key(type_, m.texts[x]) for x in named}
        box = [
            LOWEST_KEY if box[0] < 0 else after(keys[box[0]]), keys[box[1]], after(keys[box[2]]),
            BEYOND_KEYS if box[3] < 0 else keys[box[3]],
        ]  # fmt: skip
        left, right = [keys[x] for x in left], [after(keys[x]) for x in right]
        xs, highs = [keys[x] for x in xs], [after(keys[x]) for x in xs]
    old, new = (rows[n] if n >= 0 else None for n in (int(m.old[i]), int(m.new[i])))
    cands = list(zip(xs, highs, moving, strict=True))
    return BestMessage(int(m.kind[i]), *box, int(m.base[i]), left, right, cands, old, new)


@dataclass
class Edge:
    """One virtual edge that holds lists, and applies messages to them."""

    asked: dict[int, Region] = field(default_factory=dict)
    lists: dict[int, list[Image]] = field(default_factory=dict)

    def take(self, snapshot: PackedSnapshot, asked: dict[int, Region]) -> None:
        for i, version in enumerate(snapshot.version.tolist()):
            reply = snapshot.replies[i]
            assert isinstance(reply, Rows)
            self.asked[version] = asked[version]
            self.lists[version] = self.lists.get(version, []) + [tuple(decode_row(row)) for row in reply.rows]

    def hear(self, packed: PackedBest, cause: Sequence[int], single: bool) -> None:
        """Apply the messages of one cause; of one row change a list hears at most one, and not in vain."""
        by_shape: dict[BestShape, list[tuple[bytes, BestMessage]]] = {}
        for version, region in self.asked.items():
            shape, rows, heard = region.shape, self.lists[version], 0
            assert isinstance(shape, BestShape)
            if region.empty:
                continue
            if shape not in by_shape:
                mine = [i for i in cause if packed.messages.channels[packed.messages.channel[i]] in shape.channels]
                by_shape[shape] = [
                    (packed.messages.groups[packed.messages.group[i]], message_of(packed, i, shape)) for i in mine
                ]
            for group, message in by_shape[shape]:
                if group == region.group and message.place(region.lo, region.hi, shape.limit) >= 0:
                    now = message.applied(rows, region.lo, region.hi, shape.limit)
                    assert now != rows or message.kind == STAY, f"not silent: {region}, {message}"
                    rows, heard = now, heard + 1
            assert heard < 2 or not single, f"not single: {region}"
            self.lists[version] = rows

    def check(self, rows: Sequence[Row]) -> None:
        for version, region in self.asked.items():
            assert self.lists[version] == first_of(RELATION, region, rows), f"not exact: {region}, {rows}"


class World:
    """A shard with its rows by a twin, and the virtual edges that listen."""

    def __init__(self) -> None:
        self.member = ShardState(RELATION, SHARD)
        self.rows: dict[int, Row] = {}
        self.edges = [Edge() for _ in range(EDGES)]
        self.version = 0

    def register(self, ve: int, asked: Sequence[Region]) -> None:
        versions = range(self.version, self.version + len(asked))
        self.version += len(asked)
        taken = take_registrations(self.member, EPOCH, records(ve, registration(ve, versions, asked)), EDGES)
        for chunk in self.sent(taken, {}, ve):
            assert isinstance(chunk, PackedSnapshot)
            self.edges[ve].take(chunk, dict(zip(versions, asked, strict=True)))
        self.edges[ve].check(list(self.rows.values()))

    def summarise(self, ve: int) -> None:
        """Tell exactly what the edge wants; the columns of rows once for each channel."""
        wanted: dict = {}
        needed: dict = {}
        for region in self.edges[ve].asked.values():
            (channel,) = region.shape.channels
            if not region.empty:
                wanted.setdefault(channel, []).append(region)
                needed.setdefault(channel, set()).update(region.shape.images)
        boxes = {}
        for channel, asked in wanted.items():
            hashes = hashes_of([region.group for region in asked])
            boxes[channel] = Boxes.of(hashes)
            if isinstance(asked[0].lo, int):
                boxes[channel] = Boxes.of(hashes, *np.array([(r.lo, r.hi) for r in asked]).T)
        header = Header("summary", EPOCH, SHARD, ve=ve, catalog=0)
        value = pack_summary(header, boxes, {channel: sorted(names) for channel, names in needed.items()})
        take_registrations(self.member, EPOCH, records(ve, value), EDGES)

    def withdraw(self, ve: int) -> None:
        channels = sorted({c for r in self.edges[ve].asked.values() for c in r.shape.channels}, key=lambda c: c.key)
        self.edges[ve] = Edge()
        take_registrations(self.member, EPOCH, records(ve, encode_control(Withdraw(EPOCH, ve, channels))), EDGES)
        assert ve not in self.member.needed

    def publish(self, made: Sequence[Cause]) -> None:
        made = [cause for cause in made if cause]
        changes = batch_of([change for cause in made for change in cause])
        changes.cause = np.repeat(np.arange(len(made), dtype=np.int32), [len(cause) for cause in made])
        table = Causes(["t"], *(np.zeros(len(made), np.int32),) * 2, np.arange(len(made)))
        seq = self.member.seq
        moved = Moved(changes, self.member.table.replay(changes), changes.cause, table)
        _, images, best = outgoing_of(self.member, moved) if made else (None, None, None)
        assert images is None
        told: list[list[PackedBest]] = [[] for _ in self.edges]
        if best is not None:
            assert best.seq.tolist() == list(range(seq + 1, self.member.seq + 1))
            chunks: dict = {}
            add_best(chunks, best, route(self.member.listeners, best.messages, EDGES))
            told = [list(self.sent({}, chunks, ve)) for ve in range(EDGES)]
        for number, cause in enumerate(made):
            for pk, row in cause:
                self.rows.pop(pk, None)
                if row is not None:
                    self.rows[pk] = {"id": pk, **row}
            for edge, packed in zip(self.edges, told, strict=True):
                for each in packed:
                    edge.hear(each, np.flatnonzero(each.offset == number).tolist(), len(cause) == 1)
                edge.check(list(self.rows.values()))

    def sent(self, snapshots, chunks, ve: int) -> Iterator[PackedBest | PackedSnapshot]:
        out = list(Encoder("n", Header("messages", EPOCH, SHARD, 1)).encode(snapshots, chunks))
        mine = [unpack(record.value) for record in out if record.partition == ve]
        assert [packed.header.chunk for packed in mine] == list(range(len(mine)))
        for packed in mine:
            assert packed.header.of == len(mine)
            if isinstance(packed, PackedBest):
                assert packed.header.first_seq == packed.seq[0] and packed.seq[-1] == packed.header.last_seq
                assert (np.diff(packed.seq) > 0).all() and (np.diff(packed.messages.cause) >= 0).all()
            yield packed

    def reopen(self, _ve: int) -> None:
        stored = Group(SHARD, [self.member]).dump()
        self.member = alone(RELATION, SHARD, stored)
        assert Group(SHARD, [self.member]).dump() == stored


STEPS = st.lists(
    st.one_of(
        causes(),
        causes(),
        causes(),
        st.tuples(st.just("register"), st.integers(0, EDGES - 1), regions()),
        st.tuples(st.sampled_from(["summarise", "withdraw", "reopen"]), st.integers(0, EDGES - 1)),
    ),
    max_size=10,
)


@pytest.mark.deep
@given(first=regions(), steps=STEPS)
@settings(max_examples=deep_examples(200), deadline=None)
def test_messages_applied_to_first_rows_give_what_sorting_gives_after_every_cause(first, steps):
    world = World()
    world.register(0, first)
    for step in steps:
        if isinstance(step, list):
            world.publish(step)
        else:
            getattr(world, step[0])(*step[1:])
        world.member.table.check()


SHAPE = BestShape("t", ("id",), (), "x", by(("y", False, False), ID), 3, (0,))


def fit(shape: BestShape, **how) -> object:
    """Return what a new shard replies to a region of the shape."""
    member = ShardState(RELATION, SHARD)
    value = registration(0, [1], [Region(shape, b"[]", **how)])
    return take_registrations(member, EPOCH, records(0, value), EDGES)[0].replies[0]


def test_what_cannot_be_asked_is_refused_and_what_can_is_answered():
    wrong = [
        msgspec.structs.replace(SHAPE, limit=101),
        msgspec.structs.replace(SHAPE, shown=()),
        msgspec.structs.replace(SHAPE, shown=("nowhere",)),
        msgspec.structs.replace(SHAPE, order=by(("y", False, False))),
        msgspec.structs.replace(SHAPE, order=by(ID, ("y", False, False))),
        msgspec.structs.replace(SHAPE, order=by(ID, ID)),
        msgspec.structs.replace(SHAPE, order=by(("nowhere", False, False), ID)),
        msgspec.structs.replace(SHAPE, equal=("x",)),
        msgspec.structs.replace(SHAPE, range="nowhere"),
    ]
    for shape in wrong:
        assert isinstance(fit(shape), Refused), shape
    assert isinstance(fit(SHAPE, lo=2, hi=1), Refused) and isinstance(fit(SHAPE, lo=b"", hi=b"\xff"), Refused)
    assert fit(SHAPE) == fit(SHAPE, empty=True) == Rows(())


def test_an_order_of_rows_counts_as_an_ordering_of_the_bounds():
    member = ShardState(RELATION, SHARD)
    value = registration(0, [1], [Region(SHAPE, b"[]")])
    bounds = Bounds(orderings=1)
    (reply,) = take_registrations(member, EPOCH, records(0, value), EDGES, bounds)[0].replies.values()
    assert isinstance(reply, Refused) and "shard_orderings" in reply.hint
    (reply,) = take_registrations(member, EPOCH, records(0, value), EDGES, Bounds(orderings=2))[0].replies.values()
    assert reply == Rows(()) and held(member, bounds)["shard_orderings"] == (2, 1)


def test_a_change_that_nobody_can_see_is_not_told():
    made = World()
    made.register(0, [Region(SHAPE, b"[]", lo, hi) for lo, hi in RANGES])
    row = dict.fromkeys("efxyswd") | {"x": 1}
    made.publish([[(1, row)], [(2, row)]])
    seq = made.member.seq
    made.publish([[(1, row | {"w": "0.50"})], [(2, row | {"s": "a"})]])
    assert made.member.seq == seq
    made.publish([[(1, row | {"y": 3})]])
    assert made.member.seq == seq + 1
