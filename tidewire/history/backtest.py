"""A question on the past: what a subscriber would have been told, had they asked at a cut through the log.

The state at the cut is made from the log (shard/log_fold.py), the question is registered with it, and then the
log goes through the pure pipeline: the very operators, shards and edges that run live. Batches are cut where the
engine cut them, as far back as the topic `batches` says; before that, at the log's versions. So the deliveries are
those that the subscriber would have had, one for each publication that changed the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import numpy as np

from catalog.query.compiler import Compiled, Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.ddl import to_ddl
from catalog.schema.relation import Relation
from catalog.sql.errors import SubscriptionError
from connectors.log.cut import Cut, Place, earlier
from connectors.log.publication_log import Chunk, PublicationLog
from connectors.record import RawRecords
from operators.control import Progress
from overlay.delivery.ack import Refusal
from overlay.intake.subscription_request import read_request
from shard.bounds import Bounds
from shard.group import Group
from shard.log_fold import fold_log
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Answer, Delivery, Member, Refused, read_ack
from tidewire.pure_pipeline import PurePipeline

_ID = b"backtest"
_BOUNDS = Bounds()
_FACTS = ("n", "kind", "old", "new", "removed", "added", "changes", "form", "key", "snapshot")


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """One delivery that there would have been. The first is the snapshot, without a cause.

    `topic`, `partition`, `offset` and `time` (UTC) are those of the publication that caused it; the others as in a
    delivery.
    """

    n: int
    kind: str
    old: Answer = None
    new: Answer = None
    removed: list[Member] | None = None
    added: list[Member] | None = None
    changes: int = 1
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    time: str | None = None
    form: str | None = None
    key: tuple[int, ...] | None = None
    snapshot: str | None = None


def relation_of(catalog: Catalog, value: bytes) -> Relation:
    """Return the table that a subscription's record asks about. *Raises* SubscriptionError."""
    return catalog.relations[compile_record(catalog, value).region.shape.relation]


def compile_record(catalog: Catalog, value: bytes) -> Compiled:
    """Compile what a subscription's record asks, as an edge reads it. *Raises* SubscriptionError."""
    request = read_request(value)
    if isinstance(request, Refusal):
        raise SubscriptionError(request.code, request.message, hint=request.hint)
    if request.sql is not None:
        return Compiler(catalog).compile(request.sql)
    return Compiler(catalog).compile_template(request.template or "", list(request.params or ()))


class Backtest:
    """The question in `value` (a subscription's record) about `relation`, between two cuts of a log.

    `progress` are the records of the topic `batches`, `bounds` those of the engine's shards. *Cost*: that of the fold,
    then 1-2 ms a batch. *Raises* Refused where a shard would have refused the question.
    """

    def __init__(
        self,
        log: PublicationLog,
        relation: Relation,
        value: bytes,
        after: Cut,
        upto: Cut,
        progress: Iterable[Progress],
        bounds: Bounds = _BOUNDS,
    ) -> None:
        self._log = log
        self._topic = relation.topic
        self._after = log.lifted(after, upto, self._topic)
        self._upto = {self._topic: upto[self._topic]} if self._topic in upto else {}
        self._cuts = cuts_of(log, self._topic, progress)
        self._pipeline = PurePipeline(1, bounds=bounds)
        own = self._pipeline.apply(to_ddl(replace(relation, buckets=1, bucket_by=()))).relations[relation.name]
        fold = fold_log(log, own, self._after, self._pipeline.topics)
        self._pipeline.seed(own.shard, Group(own.shard, [fold]).dump())
        self._pipeline.append(self._pipeline.topics.subscriptions, _ID, value)
        self._pipeline.settle()
        _check_taken(self._pipeline)
        self._several = frozenset({self._topic} if any(len(place.ends) > 1 for place in self._upto.values()) else ())
        self._taken = 0
        self._reader = DeliveryReader()
        self._held = HeldAnswer()
        self.publications = 0

    @property
    def answer(self) -> object:
        """The answer at the point that has been reached: of rows what was told, as an edge keeps none of a bag."""
        return self._pipeline.answer(_ID.decode()) if self._held.form is None else self._held.answer

    @property
    def rows(self) -> int | None:
        """How many rows a bag has at the point that has been reached; None of another answer."""
        view = self._pipeline.edges[0].find(_ID)
        return None if view is None else view.rows

    def run(self) -> Iterator[Told]:
        """Yield the snapshot, then every delivery."""
        yield from (_told(delivery, None) for delivery in self._deliveries())
        for chunk in self._log.read(self._after, self._upto, between=self._cuts):
            for records in _batches(chunk, self._topic):
                self.publications += len(records)
                self._pipeline.feed(records, self._several)
                yield from (_told(delivery, records) for delivery in self._deliveries())

    def _deliveries(self) -> list[Delivery]:
        log = self._pipeline.logs[self._pipeline.topics.deliveries][0]
        new, self._taken = log[self._taken :], len(log)
        found = [one for key, value in new if value is not None for one in self._reader.read(key, value)]
        told = [one for one in found if isinstance(one, Delivery)]
        for one in told:
            self._held.take(one)
        return told


def _check_taken(pipeline: PurePipeline) -> None:
    """Raise Refused where the only subscription of `pipeline` was refused."""
    for _, value in pipeline.logs[pipeline.topics.acks][0]:
        ack = read_ack(value or b"")
        if ack.status == "refused":
            raise Refused(ack)


def cuts_of(log: PublicationLog, topic: str, progress: Iterable[Progress]) -> list[Cut]:
    """Return where to cut the log into batches: at the engine's, and before the first known of those at its versions.

    A topic that was created again has had several lives, which the engine's records do not tell apart: versions only.
    """
    versions = [one.cut for one in log.versions]
    if log.lives.count(topic) > 1:
        return versions
    batches: list[Cut] = []
    first: Cut = {}
    for one in progress:
        ends = {int(partition): end for partition, end in one.end.get(topic, {}).items()}
        cut: Cut = {topic: Place(0, ends)}
        if ends and not batches:
            first = {topic: Place(0, {int(p): begin for p, begin in one.start.get(topic, {}).items()})}
        if ends and (not batches or (earlier(batches[-1], cut) and not earlier(cut, batches[-1]))):
            batches.append(cut)
    if not batches:
        return versions
    whole = [{topic: cut[topic]} for cut in versions if topic in cut]
    return [*(cut for cut in whole if not earlier(first, cut)), first, *batches]


def _batches(chunk: Chunk, topic: str) -> Iterator[RawRecords]:
    edges = [0, *(np.flatnonzero(np.diff(chunk.step)) + 1).tolist(), len(chunk)]
    for start, end in pairwise(edges):
        yield chunk.records(topic, np.arange(start, end))


def _told(delivery: Delivery, records: RawRecords | None) -> Told:
    at = delivery.at
    facts = {name: getattr(delivery, name) for name in _FACTS}
    if records is None or at.offset is None:
        return Told(**facts)
    row = int(np.flatnonzero((records.partition == at.partition) & (records.offset == at.offset))[0])
    stamp = datetime.fromtimestamp(int(records.timestamp[row]) / 1e6, UTC)
    time = stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Told(**facts, topic=at.topic, partition=at.partition, offset=at.offset, time=time)
