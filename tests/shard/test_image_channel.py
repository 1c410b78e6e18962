"""The image channel from registration to records, over tiny domains: what an edge makes of it is what a WHERE finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape
from catalog.query.value_set import ValueSet
from connectors.record import RawRecords
from operators.answer import Tally
from operators.answer_quota import AnswerQuota
from operators.control import Withdraw, encode_control
from operators.first_rows import channels_of, columns_of
from operators.packed import Header, PackedImages, PackedSnapshot, pack_registrations, pack_summary, unpack
from operators.reply import PLAINLY, Asked, Digest, Later, Refused, Rows, Same, decode_row
from shard.bounds import Bounds, held
from shard.encode import Chunks, Encoder, add_images
from shard.group import Group, alone
from shard.member_batch import outgoing_of
from shard.moved import Moved
from shard.outgoing_images import OutgoingImages
from shard.register import take_registrations
from shard.route import viewers_of
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.causes import Causes
from state.row_digest import Digest as Told
from tests.effort import deep_examples
from tests.operators.filter_rows import REGIONS, ROW
from tests.operators.test_first_rows import KEY, digest_of
from tests.operators.watched import RELATION, Change, batch_of
from tests.oracle.naive_first_rows import Row, Scalar, bag_of, meets, shown, totals_of

EPOCH, EDGES, SHARD = 7, 3, "t/0"
CHANNEL = ImageChannel("t")
Cause = list[Change]


def records(ve: int, *values: bytes) -> RawRecords:
    m = len(values)
    zeros = np.zeros(m, np.int64)
    return RawRecords("registrations", [b"t/0"] * m, list(values), np.full(m, ve, np.int32), np.arange(m), zeros)


def registration(ve: int, versions: Sequence[int], regions: Sequence[Region], **how) -> bytes:
    (value,) = pack_registrations(Header("register", EPOCH, SHARD, ve=ve, catalog=0), versions, regions, **how)
    return value


def image_of(packed: PackedImages, i: int, which: str) -> dict[str, Scalar] | None:
    """Return the old or new image of a change, None where there is none."""
    if packed.rows[i] == (1 if which == "old" else -1):
        return None
    row: dict[str, Scalar] = {}
    for name, column in packed.columns.items():
        value = int(getattr(column, which)[i]) if getattr(column, f"{which}_known")[i] else None
        row[name] = value if value is None or column.texts is None else column.texts[value]
    return row


def packed_of(images: OutgoingImages | None) -> list[bytes]:
    """Return the records of images, as any virtual edge gets them."""
    chunks: Chunks = {}
    if images is not None:
        add_images(chunks, images, [0])
    return [record.value or b"" for record in Encoder("n", Header("messages", EPOCH, SHARD, 1)).encode({}, chunks)]


@dataclass
class Edge:
    """One virtual edge that holds bags, and applies images to them."""

    filters: dict[int, Region] = field(default_factory=dict)
    bags: dict[int, Counter] = field(default_factory=dict)
    totals: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def take(self, snapshot: PackedSnapshot, asked: dict[int, Region]) -> None:
        for i, version in enumerate(snapshot.version.tolist()):
            region, reply = asked[version], snapshot.replies.get(i)
            if version >= 0:
                self.filters[version] = region
            if reply is None:
                self.totals[version] = [
                    (part.count, part.total) for part in snapshot.parts[i] if isinstance(part, Tally)
                ]
                continue
            assert isinstance(reply, Rows)
            self.bags.setdefault(version, Counter()).update(tuple(decode_row(row)) for row in reply.rows)

    def hear(self, packed: PackedImages, i: int) -> None:
        for which, sign in (("old", -1), ("new", 1)):
            row = image_of(packed, i, which)
            for version, region in self.filters.items() if row is not None else ():
                if row is not None and meets(RELATION, region, row):
                    self._count(version, region, row, sign)

    def _count(self, version: int, region: Region, row: Row, sign: int) -> None:
        assert isinstance(region.shape, FilterShape)
        if version in self.bags:
            bag = self.bags[version]
            bag[shown(region.shape, row)] += sign
            assert bag[shown(region.shape, row)] >= 0 or sign < 0
            return
        for k, channel in enumerate(channels_of(region.shape)):
            count, total = totals_of(RELATION, channel.column, channel.kind == "values", [row])
            self.totals[version][k] = (
                self.totals[version][k][0] + sign * count,
                self.totals[version][k][1] + sign * total,
            )

    def check(self, rows: Sequence[Row]) -> None:
        for version, region in self.filters.items():
            assert isinstance(region.shape, FilterShape)
            if version in self.bags:
                assert +self.bags[version] == self.bags[version] or min(self.bags[version].values()) >= 0
                assert +self.bags[version] == bag_of(RELATION, region, rows), region
            else:
                mine = [row for row in rows if meets(RELATION, region, row)]
                truth = [totals_of(RELATION, c.column, c.kind == "values", mine) for c in channels_of(region.shape)]
                assert self.totals[version] == truth, region


class World:
    """A shard with its rows by a twin, and the virtual edges that listen."""

    def __init__(self) -> None:
        self.member = ShardState(RELATION, SHARD)
        self.rows: dict[int, Row] = {}
        self.edges = [Edge() for _ in range(EDGES)]
        self.version = 0
        self.offset = 0

    def register(self, ve: int, regions: Sequence[Region], looks: bool) -> None:
        versions = [-(self.version + i + 1) if looks else self.version + i for i in range(len(regions))]
        self.version += len(regions)
        before = Group(SHARD, [self.member]).dump() if looks else b""
        taken = take_registrations(self.member, EPOCH, records(ve, registration(ve, versions, regions)), EDGES)
        for chunk in self.sent(taken, {}, ve):
            assert isinstance(chunk, PackedSnapshot)
            look = Edge()
            (look if looks else self.edges[ve]).take(chunk, dict(zip(versions, regions, strict=True)))
            look.filters = dict(zip(versions, regions, strict=True)) if looks else {}
            look.check(list(self.rows.values()))
        if looks:
            assert Group(SHARD, [self.member]).dump() == before, "a look leaves something behind"

    def summarise(self, ve: int) -> None:
        filters = [region for region in self.edges[ve].filters.values() if not region.empty]
        needed = {name for region in filters for name in columns_of(region.shape)}  # type: ignore[arg-type]
        boxes = Boxes.of(hashes_of([b"[]"] * bool(filters)))
        header = Header("summary", EPOCH, SHARD, ve=ve, catalog=0)
        value = pack_summary(header, {CHANNEL: boxes}, {CHANNEL: sorted(needed)})
        take_registrations(self.member, EPOCH, records(ve, value), EDGES)

    def withdraw(self, ve: int) -> None:
        self.edges[ve] = Edge()
        take_registrations(self.member, EPOCH, records(ve, encode_control(Withdraw(EPOCH, ve, [CHANNEL]))), EDGES)

    def publish(self, causes: Sequence[Cause]) -> None:
        causes = [cause for cause in causes if cause]
        changes = batch_of([change for cause in causes for change in cause])
        changes.cause = np.repeat(np.arange(len(causes), dtype=np.int32), [len(cause) for cause in causes])
        table = Causes(["t"], *(np.zeros(len(causes), np.int32),) * 2, np.arange(len(causes)) + self.offset)
        seq = self.member.seq
        again = alone(RELATION, SHARD, Group(SHARD, [self.member]).dump())
        images, same = (
            outgoing_of(each, Moved(changes, each.table.replay(changes), changes.cause, table))[1] if causes else None
            for each in (self.member, again)
        )
        assert packed_of(same) == packed_of(images), "other bytes after dump and load"
        needed = {
            name for edge in self.edges for r in edge.filters.values() if not r.empty for name in columns_of(r.shape)
        }  # type: ignore[arg-type]
        told: list[list[PackedImages]] = [[] for _ in self.edges]
        if images is not None:
            assert images.seq.tolist() == list(range(seq + 1, self.member.seq + 1))
            assert needed <= {*images.images.columns}
            chunks = {}
            add_images(chunks, images, viewers_of(self.member.listeners, CHANNEL, EDGES))
            told = [list(self.sent({}, chunks, ve)) for ve in range(EDGES)]
        for number, cause in enumerate(causes):
            self._take(cause)
            for edge, records_ in zip(self.edges, told, strict=True):
                for packed in records_:
                    mine = np.flatnonzero(packed.offset == number + self.offset).tolist()
                    assert not mine or (packed.several is not None and packed.several[mine[0]]) == (len(cause) > 1)
                    for i in mine:
                        edge.hear(packed, i)
                edge.check(list(self.rows.values()))
        self.offset += len(causes)

    def _take(self, cause: Cause) -> None:
        for pk, row in cause:
            self.rows.pop(pk, None)
            if row is not None:
                self.rows[pk] = {"id": pk, **row}

    def sent(self, snapshots, chunks, ve: int) -> Iterator[PackedImages | PackedSnapshot]:
        out = list(Encoder("n", Header("messages", EPOCH, SHARD, 1)).encode(snapshots, chunks))
        mine = [unpack(record.value) for record in out if record.partition == ve]
        assert [packed.header.chunk for packed in mine] == list(range(len(mine)))
        last = -1
        for packed in mine:
            assert packed.header.of == len(mine)
            if isinstance(packed, PackedImages):
                assert last < packed.header.first_seq == packed.seq[0] and packed.seq[-1] == packed.header.last_seq
                assert (np.diff(packed.seq) > 0).all() and (np.diff(packed.cause) >= 0).all()
                last = packed.header.last_seq
            yield packed

    def reopen(self) -> None:
        stored = Group(SHARD, [self.member]).dump()
        self.member = alone(RELATION, SHARD, stored)
        assert Group(SHARD, [self.member]).dump() == stored


@st.composite
def causes(draw: st.DrawFn) -> list[Cause]:
    """Draw causes: single changes, changed keys, and truncates of whatever rows there may be."""
    made: list[Cause] = []
    for kind in draw(
        st.lists(st.sampled_from(["upsert", "upsert", "upsert", "delete", "key", "truncate"]), max_size=6)
    ):
        pk, other = draw(st.integers(0, 5)), draw(st.integers(0, 5))
        if kind == "truncate":
            made.append([(each, None) for each in range(6)])
        elif kind == "delete":
            made.append([(pk, None)])
        else:
            made.append([*([(other, None)] if kind == "key" else []), (pk, draw(ROW))])
    return made


STEPS = st.lists(
    st.one_of(
        causes(),
        causes(),
        st.tuples(st.integers(0, EDGES - 1), st.lists(REGIONS, min_size=1, max_size=4), st.sampled_from([0, 0, 0, 1])),
        st.tuples(st.sampled_from(["summarise", "withdraw", "reopen"]), st.integers(0, EDGES - 1)),
    ),
    max_size=10,
)


@pytest.mark.deep
@given(steps=STEPS, most=st.sampled_from([1, 10_000_000]))
@settings(max_examples=deep_examples(250), deadline=None)
def test_images_applied_to_first_rows_give_what_each_where_finds_after_every_cause(steps, most):
    world = World()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing_images.RECORD_BYTES", most)
        for step in steps:
            match step:
                case list():
                    world.publish(step)
                case (int(), regions, looks):
                    world.register(step[0], regions, bool(looks))
                case ("reopen", _):
                    world.reopen()
                case (name, ve):
                    getattr(world, name)(ve)
        world.member.table.check()


SOME = FilterShape("t", ("id", "s"), (), ("x",), (), (0,))
COUNT = FilterShape("t", (), (Output("count", None),), (), (), ())
KEYLESS = FilterShape("t", ("s",), (), (), (), ())


def where(shape: FilterShape, **tested: ValueSet) -> Region:
    box = {shape.tested.index(name): values for name, values in tested.items()}
    return Region(shape, b"[]", terms=encode_terms([box]))


ALL, NOBODY = where(SOME), Region(SOME, b"[]", empty=True, terms=encode_terms([]))
FEW = where(SOME, x=ValueSet(((1, 2),)))


def world(*rows: tuple[int, dict[str, Scalar]]) -> World:
    made = World()
    made.publish([[(pk, dict.fromkeys("efxyswd") | row)] for pk, row in rows])
    return made


def taken(shard: ShardState, ve: int, versions: Sequence[int], regions: Sequence[Region], bounds=None, **how):
    asked = records(ve, registration(ve, versions, regions, **how))
    return take_registrations(shard, EPOCH, asked, EDGES, bounds or Bounds(), KEY)[ve]


def test_what_was_told_is_the_same_or_told_anew():
    made = world((1, {"s": "a", "x": 1}), (2, {"s": "b", "x": 3}))
    rows = list(made.rows.values())
    whole, by_key = digest_of(["id", "s"], rows), digest_of(["id"], rows)
    asked = [PLAINLY, Asked(whole), Asked(by_key), Asked(by_key, by_keys=True), Asked(whole, True), Asked(None, True)]
    snapshot = taken(made.member, 0, range(6), [ALL] * 6, asked=asked, live=[False, *[True] * 5])
    assert [type(snapshot.replies[i]).__name__ for i in range(6)] == ["Rows", "Same", "Rows", "Same", "Same", "Digest"]
    snapshot = taken(made.member, 0, [7, 8, 9], [NOBODY] * 3, asked=[PLAINLY, Asked(Told()), Asked(None, True)])
    assert [snapshot.replies[i] for i in range(3)] == [Rows(()), Same(0, 0, 0), Digest(0, 0, 0)]


def test_a_column_is_needed_from_its_registration_to_the_summary_without_it():
    made = world((1, {"s": "a", "x": 1}))
    made.register(0, [FEW], looks=False)
    made.register(1, [where(COUNT)], looks=False)
    assert made.member.needed_columns == ["id", "x", "s"] and made.member.needed == {0: {"id", "s", "x"}, 1: set()}
    made.edges[0] = Edge()
    made.reopen()
    assert made.member.needed_columns == ["id", "x", "s"]
    made.summarise(0)
    assert made.member.needed_columns == [] and viewers_of(made.member.listeners, CHANNEL, EDGES) == [1]
    made.publish([[(1, dict.fromkeys("efxyswd"))], [(2, dict.fromkeys("efxyswd"))]])
    assert made.edges[1].totals == {1: [(2, 0)]}
    made.withdraw(1)
    assert CHANNEL not in made.member.listeners or not made.member.listeners[CHANNEL].get(1)


def test_a_column_that_the_table_does_not_have_is_not_told():
    made = world((1, {"x": 1}))
    made.register(0, [FEW], looks=False)
    header = Header("summary", EPOCH, SHARD, ve=0, catalog=0)
    value = pack_summary(header, {CHANNEL: Boxes.of(hashes_of([b"[]"]))}, {CHANNEL: ["id", "s", "x", "gone"]})
    take_registrations(made.member, EPOCH, records(0, value), EDGES)
    assert made.member.needed_columns == ["id", "x", "s"]


def test_a_filter_that_no_row_can_meet_is_answered_and_hears_nothing():
    made = world((1, {"x": 1}))
    made.register(0, [NOBODY], looks=False)
    assert viewers_of(made.member.listeners, CHANNEL, EDGES) == [] and made.member.needed == {}
    made.publish([[(1, None)]])


def test_all_filters_together_are_one_channel_of_the_bounds():
    made = world((1, {"x": 1}))
    taken(made.member, 0, range(3), [ALL, FEW, where(COUNT)], bounds=Bounds(channels=1, orderings=0))
    assert held(made.member, Bounds())["shard_channels"] == (1, 1_000) and made.member.table.orderings == 0
    refused = taken(world().member, 0, [0], [ALL], bounds=Bounds(channels=0)).replies[0]
    assert isinstance(refused, Refused) and refused.code == "quota"
    look = taken(made.member, 1, [-5], [ALL], bounds=Bounds(channels=0)).replies[0]
    assert isinstance(look, Rows) and list(made.member.listeners[CHANNEL]) == [0]


def test_rows_beyond_the_budget_come_later_in_order_of_versions():
    made = world(*((i, {"s": "a" * 50, "x": 1}) for i in range(5)))
    snapshot = taken(made.member, 0, range(40, 0, -1), [ALL] * 40, bounds=Bounds(batch_bytes=1))
    later = {int(snapshot.version[i]) for i, reply in snapshot.replies.items() if reply == Later()}
    assert later == set(range(17, 41))


def test_one_quota_bounds_first_answers_looks_and_what_is_told_anew():
    made = world(*((i, {"x": 1}) for i in range(3)))
    asked, live = [PLAINLY, PLAINLY, Asked(Told(3, 1, 1))], [False, False, True]
    for rows, code in ((2, "quota"), (3, None)):
        bounds = Bounds(whole=AnswerQuota(rows))
        replies = taken(made.member, 0, [1, -5, 2], [ALL] * 3, bounds=bounds, asked=asked, live=live).replies
        assert [reply.code if isinstance(reply, Refused) else None for reply in replies.values()] == [code] * 3


UNFIT = {
    "unknown column shown": where(FilterShape("t", ("gone",), (), (), (), ())),
    "unknown column compared": where(FilterShape("t", ("id",), (), ("gone",), (), ())),
    "unknown column summed": where(FilterShape("t", (), (Output("sum", "gone"),), (), (), ())),
    "other table": where(FilterShape("u", ("id",), (), (), (), ())),
    "a sum of texts": where(FilterShape("t", (), (Output("sum", "s"),), (), (), ())),
    "a minimum": where(FilterShape("t", (), (Output("min", "x"),), (), (), ())),
    "a sum of nothing": where(FilterShape("t", (), (Output("sum", None),), (), (), ())),
    "rows and totals": where(FilterShape("t", ("id",), (Output("count", None),), (), (), ())),
    "neither": where(FilterShape("t", (), (), (), (), ())),
    "buckets where none are": Region(FilterShape("t", ("id",), (), (), ("id",), ()), b"[1]", terms=encode_terms([{}])),
    "a column compared twice": where(FilterShape("t", ("id",), (), ("x", "x"), (), ())),
    "keys that are none": where(FilterShape("t", ("id", "s"), (), (), (), (1,))),
    "keys beyond": where(FilterShape("t", ("id",), (), (), (), (3,))),
    "a group": Region(SOME, b"[1]", terms=encode_terms([{}])),
    "bounds": Region(SOME, b"[]", 0, 5, terms=encode_terms([{}])),
    "terms that cannot be read": Region(SOME, b"[]", terms=b"\xc1"),
    "no terms": Region(SOME, b"[]"),
    "terms of a column beyond": Region(SOME, b"[]", terms=encode_terms([{1: ValueSet(((1, 2),))}])),
    "terms of another kind": where(SOME, x=ValueSet(((b"a", b"b"),))),
    "a best list": Region(BestShape("t", ("id",), (), None, (), 3, (0,)), b"[]"),
}


@pytest.mark.parametrize("what", UNFIT)
def test_a_filter_that_does_not_fit_is_refused_and_all_others_take_effect(what):
    made = world((1, {"s": "a", "x": 1}))
    snapshot = taken(made.member, 0, range(3), [ALL, UNFIT[what], FEW])
    codes = {int(snapshot.version[i]): getattr(reply, "code", "") for i, reply in snapshot.replies.items()}
    assert codes == {0: "", 1: "unfit", 2: ""} and made.member.needed == {0: {"id", "s", "x"}}
    assert made.member.counters.unfit_registrations == 1 and len(made.member.counters.unfit_reasons) == 1


def test_any_question_is_looked_at_and_only_filters_have_digests():
    made = world((1, {"s": "a", "x": 1}))
    range_ = Region(Shape("t", (Output("count", None),), (), None), b"[]")
    asked = [PLAINLY, Asked(Told()), Asked(None, True, True), PLAINLY]
    snapshot = taken(made.member, 0, [-1, 2, 3, 4], [range_, range_, where(KEYLESS), range_], asked=asked)
    codes = {int(snapshot.version[i]): getattr(reply, "code", "") for i, reply in snapshot.replies.items()}
    assert codes == {2: "unfit", 3: "unfit"} and snapshot.version.tolist()[:2] == [-1, 4]
    assert [parts[0].count for parts in map(snapshot.answers.parts.__getitem__, (0, 1))] == [1, 1]


def test_rows_that_are_too_long_for_a_record_stand_in_several_and_the_last_says_so():
    made = world(*((i, {"s": "a" * 300_000, "x": 1}) for i in range(7)))
    snapshot = taken(made.member, 0, [3, 4], [FEW, NOBODY])
    chunks = list(made.sent({0: snapshot}, {}, 0))
    assert len(chunks) > 2
    pieces = [
        (reply.last, len(reply.rows))
        for chunk in chunks
        if isinstance(chunk, PackedSnapshot)
        for i, reply in sorted(chunk.replies.items())
        if chunk.version[i] == 3 and isinstance(reply, Rows)
    ]
    assert sum(rows for _, rows in pieces) == 7 and [last for last, _ in pieces] == [*[False] * (len(pieces) - 1), True]
