"""A world around one virtual edge: logs, an engine with naive shards, and the naive twin that is told the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from catalog.query.channel import BestChannel, ImageChannel
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Control, EpochBegins, Progress, RegisterAll, Withdraw, decode_control, encode_control
from operators.packed import PackedRegistrations, PackedSummary, is_packed, unpack
from operators.reply import PLAINLY, Later
from overlay.machine.virtual_edge import VirtualEdge
from overlay.subscriptions.expiry import seconds
from overlay.subscriptions.summaries import Patience
from tests.oracle.naive_answer import Rows
from tests.oracle.naive_cell import NaiveCell
from tests.oracle.naive_channels import NaiveChannels, Publication, Registered, Taken
from tests.oracle.naive_edge import NaiveEdge, Wanted

TOPICS = Topics()
NOTHING: Mapping[str, Any] = MappingProxyType({})
BIGINT = ColumnType(Kind.BIGINT)
TEXT = ColumnType(Kind.VARCHAR)
TYPES = {
    "k": TEXT,
    "g": BIGINT,
    "x": BIGINT,
    "m": BIGINT,
    "s": TEXT,
    "d": ColumnType(Kind.DOUBLE),
    "w": ColumnType(Kind.DECIMAL, 20, 2),
    "e": BIGINT,
}
KEYS = {EpochBegins: b"@epoch", RegisterAll: b"@register", Progress: b"@progress"}


def table(name: str, born: int, extra: bool = False) -> Relation:
    """Return a relation as `naive_channels.full_row` fills it; `extra` appends a column."""
    columns = [Column(name, type_, name != "k") for name, type_ in TYPES.items() if extra or name != "e"]
    return Relation(name, tuple(columns), ("k",), name, born=born)


def moment(second: int) -> str:
    """Return a time of progress."""
    return f"2026-03-01T00:{second // 60:02}:{second % 60:02}.250Z"


class EdgeWorld:
    """Drives one virtual edge and its twin through the same events, as an edge process would."""

    def __init__(self) -> None:
        self.catalogs: list[Catalog] = []
        self.data: dict[tuple[str, int], Rows] = {}
        self.subscriptions: list[tuple[bytes, bytes | None, Wanted | None]] = []
        self.notifications: list[tuple[bytes, bytes]] = []
        self.registrations: list[tuple[bytes, bytes]] = []
        self.edge_state: list[bytes] = []
        self.truth: dict[tuple[int, int], list[Taken]] = {}
        self.announcements: list[int] = []
        self.registered: set[tuple[int, int]] = set()
        self.postponed: set[int] = set()
        self.most = 100
        self.heard: dict[str, list[dict]] = {}
        self.acks: dict[str, list[dict]] = {}
        self.twin = NaiveEdge()
        self.edge = self._new_edge()
        self.epoch, self.batch, self.announced, self.clock = -1, -1, -1, 0
        self.shards: dict[str, NaiveChannels] = {}
        self.cells: dict[str, NaiveCell] = {}
        self.read = 0
        self.offset = 0
        self.fed = {"subscriptions": 0, "notifications": 0}
        self.consumed = 0
        self.since_take: list[tuple[str, int]] = []

    # -- engine ---------------------------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        return self.catalogs[-1]

    def apply_catalog(
        self, relations: dict[str, Relation], cells: Mapping[str, Cell] = NOTHING, unserved: Mapping[str, str] = NOTHING
    ) -> None:
        self.catalogs.append(Catalog(len(self.catalogs), relations, cells=cells, unserved=unserved))

    def begin_epoch(self) -> None:
        """A fresh engine: shards are filled from the topics, nobody is registered."""
        self.epoch += 1
        self.batch, self.announced = -1, -1
        self.shards, self.cells = {}, {}
        self._control(EpochBegins(self.epoch, self.catalog.version))

    def register(self) -> None:
        self._control(RegisterAll(self.epoch, self.catalog.version))

    def run_batch(self, publications: list[Publication], chunk: int, ends: list[int], later: int = 0) -> None:
        """Run one batch; `ends` are lengths of earlier tries that broke off after so many chunks.

        `later`: how many filters each shard tells to come again.
        """
        self.batch += 1
        chunks, truth = [], []
        registered = self._registrations()
        before = {name: self._shard(relation).rows for name, relation in self.catalog.relations.items()}
        for cell in self.catalog.cells.values():
            mine, rows = self._cell(cell), [p for p in publications if p.relation in cell.tables]
            mine.later, mine.most = later, self.most
            made, told = mine.batch(self.batch, registered.get(cell.name, []), before, rows, chunk)
            chunks += [(cell.name.encode(), value) for value in made]
            truth += told
            self._postpone(told)
        for name in sorted(self.catalog.relations):
            shard = self._shard(self.catalog.relations[name])
            rows = [p for p in publications if p.relation == name]
            shard.later, shard.most = later, self.most
            made, taken = shard.batch(self.batch, registered.get(shard.relation.shard, []), rows, chunk)
            chunks += [(shard.relation.shard.encode(), value) for value in made]
            truth.append(taken)
            self._postpone([taken])
            self.data[name, shard.relation.born] = shard.rows
        self.truth[self.epoch, self.batch] = truth
        for end in [*ends, len(chunks)]:
            self.notifications += chunks[:end]

    def _postpone(self, taken: Sequence[Taken]) -> None:
        replies = [item for part in taken for item in part.replies.items()]
        self.postponed |= {version for version, reply in replies if isinstance(reply, Later)}

    def announce(self, repeat: bool) -> None:
        """Write the next progress record, or an old one again."""
        self.clock += 1
        if repeat and self.announced >= 0:
            self._control(Progress(self.epoch, self.announced, self.catalog.version, moment(self.clock)))
        elif self.announced < self.batch:
            self.announced += 1
            self._control(Progress(self.epoch, self.announced, self.catalog.version, moment(self.clock)))

    def zombie(self) -> None:
        """An older engine writes once more."""
        if self.epoch > 0:
            self._control(Progress(self.epoch - 1, 99, self.catalog.version, "t"))

    def _shard(self, relation: Relation) -> NaiveChannels:
        shard = self.shards.get(relation.name)
        if shard is None or shard.relation.born != relation.born:
            shard = NaiveChannels(relation, self.epoch, self.data.get((relation.name, relation.born), {}))
        self.shards[relation.name] = shard
        shard.relation = relation
        return shard

    def _cell(self, cell: Cell) -> NaiveCell:
        mine = self.cells.get(cell.name)
        if mine is None or mine.cell.born != cell.born:
            mine = self.cells[cell.name] = NaiveCell(cell, self.epoch)
        mine.catalog = self.catalog
        return mine

    def _registrations(self) -> dict[str, list[Registered]]:
        found: dict[str, list[Registered]] = {}
        for key, value in self.registrations[self.read :]:
            if not is_packed(value):
                self._withdraw(key.decode(), decode_control(value))
                continue
            packed = unpack(value)
            if isinstance(packed, PackedSummary):
                self._summarise(key.decode(), packed)
                continue
            assert isinstance(packed, PackedRegistrations) and packed.header.shard == key.decode()
            relation = self.catalog.relation(packed.regions[0].shape.relation)
            stale = relation is None or packed.header.catalog < relation.born
            if packed.header.epoch == self.epoch and not stale:
                asked = [packed.asked.get(i, PLAINLY) for i in range(len(packed.versions))]
                one = zip(packed.versions, packed.regions, asked, strict=True)
                found.setdefault(key.decode(), []).extend(one)
        self.read = len(self.registrations)
        return found

    def _summarise(self, name: str, packed: PackedSummary) -> None:
        """Take which columns are still needed."""
        shard = self.shards.get(name.split("/")[0])
        if packed.header.epoch == self.epoch and shard is not None and packed.header.catalog >= shard.relation.born:
            pairs = zip(packed.header.channels, packed.needed, strict=True)
            needed = [names for channel, names in pairs if isinstance(channel, ImageChannel | BestChannel)]
            shard.needed = {name for names in needed for name in names} if needed else shard.needed

    def _withdraw(self, name: str, record: Control) -> None:
        assert isinstance(record, Withdraw)
        shard, cell = self.shards.get(name.split("/")[0]), self.cells.get(name)
        if record.epoch == self.epoch and cell is not None:
            cell.withdraw(record.channels)
        elif record.epoch == self.epoch and shard is not None:
            shard.channels = [channel for channel in shard.channels if channel not in record.channels]

    def _control(self, record: Control) -> None:
        self.notifications.append((KEYS[type(record)], encode_control(record)))

    # -- edge process ---------------------------------------------------------------------------------------------

    def feed(self, topic: str, count: int) -> None:
        """Give the next records to the edge and, as events, to the twin."""
        log = self.subscriptions if topic == "subscriptions" else self.notifications
        for offset in range(self.fed[topic], min(self.fed[topic] + count, len(log))):
            self.since_take.append((topic, offset))
            self._give(topic, offset)
            self._tell(topic, offset)
            self.fed[topic] = offset + 1

    def refuse_held(self) -> None:
        self.since_take.append(("refuse_held", 0))
        self.edge.refuse_held()
        self.twin.refuse_held()

    def lose(self) -> None:
        """Lose all that was written so far and not applied, where that is batches and progress alone.

        What the edge registers by itself after a loss it may register again: an answer may be lost too.
        """
        unread = [value for _, value in self.notifications[self.fed["notifications"] :] if not is_packed(value)]
        controls = [decode_control(value) for value in unread]
        told = self.twin.catalog
        if self.twin.epoch != self.epoch or told is None or told.version != self.catalog.version:
            return
        if not all(isinstance(one, Progress) and one.catalog == told.version for one in controls):
            return
        self.fed["notifications"] = len(self.notifications)
        self.truth |= {at: [] for at in self.truth if at[0] == self.epoch}
        self.registered.clear()
        self.since_take.append(("lose", 0))
        self.edge.notifications_lost()
        self.twin.lose()

    def look(self, name: str) -> None:
        """Look at the rows of a subscription, if that may be."""
        number = -1 - len(self.twin.looks)
        if self.edge.look(number, name.encode()) is None:
            self.twin.looks[number] = name

    def take(self) -> None:
        """Commit a step: its records get to their readers, its positions are kept."""
        self._commit(self.edge.take(), self.edge.pushed)
        self.consumed = self.fed["notifications"]
        self.committed = self.edge.resume_offset
        self.since_take.clear()
        again = self._restored()
        assert again.dump() == self.edge.dump() and again.cells_wanted() == self.edge.cells_wanted()
        again.check()
        self.edge.check()

    def compact(self) -> None:
        """Write a full snapshot, trimming what is before it."""
        self.take()
        records = [record.value for record in self.edge.snapshot_records()]
        self.edge_state += [value for value in records if value is not None]

    def crash(self) -> None:
        """Lose the process; a new one reads its state and what was not committed, in the same order."""
        self.edge = self._restored()
        resume = getattr(self, "committed", None)
        start, kept = self.consumed if resume is None else resume, self.edge.window_offset
        for offset in range(start if kept is None else kept, start):
            self.edge.collect(offset, self.notifications[offset][1])
        for offset in range(start, self.consumed):
            self._give("notifications", offset)
        for topic, offset in self.since_take:
            if topic == "refuse_held":
                self.edge.refuse_held()
            elif topic == "lose":
                self.edge.notifications_lost()
            else:
                self._give(topic, offset)

    def _new_edge(self) -> VirtualEdge:
        return VirtualEdge(0, 1, TOPICS, lambda version: self.catalogs[version], Patience(floor=0, calm=1))

    def _restored(self) -> VirtualEdge:
        edge = self._new_edge()
        edge.restore(self.edge_state)
        return edge

    def _give(self, topic: str, offset: int) -> None:
        if topic == "subscriptions":
            self.edge.subscription(offset, *self.subscriptions[offset][:2])
        else:
            self.edge.notification(offset, *self.notifications[offset])

    def _tell(self, topic: str, offset: int) -> None:
        if topic == "subscriptions":
            key, value, wanted = self.subscriptions[offset]
            if value is None:
                self.twin.unsubscribe(offset, key.decode())
            elif wanted is not None:
                self.twin.subscribe(offset, key.decode(), wanted)
            return
        value = self.notifications[offset][1]
        if is_packed(value):
            return
        control = decode_control(value)
        assert not isinstance(control, Withdraw)
        if control.epoch < self.twin.epoch:
            return
        if control.epoch > self.twin.epoch:
            self.twin.begin(control.epoch)
        self.twin.announce(self.catalogs[control.catalog])
        if isinstance(control, Progress):
            passed = self.twin.applied is not None and control.batch < self.twin.applied
            self.twin.apply(control.batch, self.truth[control.epoch, control.batch])
            now = seconds(control.time)
            if now is not None and not passed:
                self.twin.expire(now)

    def _commit(self, records: list[OutRecord], pushed: list[OutRecord]) -> None:
        """Those who listen hear what is pushed among what is written, in the order of their numbers."""
        lengths = {name: len(log) for name, log in self.heard.items()}
        for record in [*records, *pushed]:
            assert record.partition == 0 and record.key is not None and record.value is not None
            if record.topic == TOPICS.registrations:
                self._check_registration(record.value)
                self.registrations.append((record.key, record.value))
            elif record.topic == TOPICS.edge_state:
                self.edge_state.append(record.value)
            elif record.key != b"@progress":
                log = self.heard if record.topic == TOPICS.deliveries else self.acks
                log.setdefault(record.key.decode(), []).append(msgspec.json.decode(record.value))
        for name, log in self.heard.items():
            start = lengths.get(name, 0)
            log[start:] = sorted(log[start:], key=lambda told: (told["version"], told["n"]))

    def _check_registration(self, value: bytes) -> None:
        """Each version is registered once an epoch."""
        if is_packed(value):
            packed = unpack(value)
            if isinstance(packed, PackedSummary):
                return
            assert isinstance(packed, PackedRegistrations)
            self.registered -= {(packed.header.epoch, version) for version in self.postponed & {*packed.versions}}
            self.postponed -= {*packed.versions}
            marks = {(packed.header.epoch, version) for version in packed.versions}
            assert len(marks) == len(packed.versions) and not marks & self.registered, (marks, self.registered)
            self.registered |= marks
