"""The image channel from registration to records, over tiny domains: what an edge makes of it is what a WHERE finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from connectors.record import RawRecords
from operators.answer import Tally
from operators.control import Withdraw, encode_control
from operators.first_rows import channels_of, columns_of
from operators.packed import Header, PackedImages, PackedSnapshot, pack_registrations, pack_summary, unpack
from operators.reply import Rows, decode_row
from shard.encode import Encoder, add_images
from shard.group import Group, alone
from shard.pipeline import apply
from shard.register import take_registrations
from shard.resolve import Resolved
from shard.route import viewers_of
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.causes import Causes
from tests.effort import examples
from tests.operators.filter_rows import REGIONS, ROW
from tests.operators.watched import RELATION, Change, batch_of
from tests.oracle.naive_first_rows import Row, Scalar, bag_of, meets, shown, totals_of

EPOCH, EDGES, SHARD = 7, 3, "t/0"
CHANNEL = ImageChannel("t")
KEY = bytes(range(16))
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
        resolved = Resolved(changes, table, np.zeros(len(changes), np.bool_))
        seq = self.member.seq
        _, images = apply(self.member, resolved)
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


@given(steps=STEPS, most=st.sampled_from([1, 10_000_000]))
@settings(max_examples=examples(250), deadline=None)
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
