"""A question on the past: what a subscriber would have been told, had they asked at a cut through the log.

The state at the cut is made from the log (shard/log_fold.py), the question is registered with it, and then the
log goes through the pure pipeline: the very operators, shards and edges that run live. Batches are cut where the
engine cut them, as far back as the topic `batches` says; before that, at the log's versions. So the deliveries are
those that the subscriber would have had, one for each publication that changed the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import numpy as np

from catalog.ddl.cell_ddl import create_join
from catalog.ddl.statements import to_ddl
from catalog.query.compiler import Compiled, Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import join_of_name
from catalog.schema.relation import Relation
from catalog.schema.view import View
from catalog.sql.errors import CellMissing, SubscriptionError
from connectors.log.cut import Cut, Place, earlier
from connectors.log.publication_log import Chunk, PublicationLog
from connectors.record import RawRecords
from operators.control import Offsets, Progress
from overlay.delivery.ack import Refusal
from overlay.intake.attributed_request import attributed
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


def tables_of(catalog: Catalog, value: bytes) -> tuple[Relation, ...]:
    """Return the tables that a subscription's record asks about: one, or those of a view or join.

    That nothing serves the join now does not matter. *Raises* SubscriptionError, also for views of a stream.
    """
    compiled, _, _ = compile_with_cell(catalog, value)
    name = compiled.region.shape.relation
    view, join = catalog.views.get(name), join_of_name(name)
    named = (name,) if join is None else join.base
    found = tuple([catalog.relations[table] for table in sorted(set(named if view is None else view.tables))])
    stream = next((relation.name for relation in found if relation.stream is not None), None)
    if stream is not None:
        what = f"a question about stream `{stream}` cannot be asked of the past: a back-test does not go through what "
        hint = (
            "`tidewire rows VIEW --at VERSION` has the rows of a view as they were; `tidewire verify` judges what was "
            "told; who subscribes now is told all that is kept, and what is final at once."
        )
        raise SubscriptionError("unsupported", f"{what}was said of its silences, on which finals hang", hint=hint)
    return found


def views_of(catalog: Catalog, value: bytes) -> tuple[View, ...]:
    """Return the views that a question goes through, each behind those that it reads. *Raises* SubscriptionError."""
    compiled, _, _ = compile_with_cell(catalog, value)
    name = compiled.region.shape.relation
    join = join_of_name(name)
    views = [catalog.views[each] for each in (join.tables if join else [name]) if each in catalog.views]
    return tuple(catalog.views_below(*views))


def compile_record(catalog: Catalog, value: bytes) -> Compiled:
    """Compile what a subscription's record asks, as an edge reads it. *Raises* SubscriptionError."""
    request = read_request(value)
    if isinstance(request, Refusal):
        raise SubscriptionError(request.code, request.message, hint=request.hint)
    request = attributed(request, catalog)
    if request.sql is not None:
        return Compiler(catalog).compile(request.sql)
    return Compiler(catalog).compile_template(request.template or "", list(request.params or ()))


def compile_with_cell(catalog: Catalog, value: bytes) -> tuple[Compiled, Catalog, CellMissing | None]:
    """Compile what a record asks, and, where a join lacks nothing but a cell, as if that were there.

    Return the catalog that it was compiled with, and what is missing. Raises SubscriptionError, also where the engine
    has refused the cell.
    """
    try:
        return compile_record(catalog, value), catalog, None
    except CellMissing as missing:
        if missing.reason:
            raise
        cell = Cell(missing.tables, catalog.version)
        supposed = replace(catalog, cells={**catalog.cells, cell.name: cell})
        return compile_record(supposed, value), supposed, missing


class Backtest:
    """The question in `value` (a subscription's record) about `tables`, between two cuts of a log.

    `progress` are the records of the topic `batches`, `bounds` those of the engine's shards, `views` those that the
    question goes through (`views_of`): they are made of the rows at the first cut. *Cost*: that of the fold,
    then 1-2 ms a batch. *Raises* Refused where a shard would have refused the question.
    """

    def __init__(
        self,
        log: PublicationLog,
        tables: Sequence[Relation],
        value: bytes,
        after: Cut,
        upto: Cut,
        progress: Iterable[Progress],
        bounds: Bounds = _BOUNDS,
        views: Sequence[View] = (),
    ) -> None:
        self._log = log
        self._topics = sorted(relation.topic for relation in tables)
        self._after = {name: place for topic in self._topics for name, place in log.lifted(after, upto, topic).items()}
        self._upto = {topic: upto[topic] for topic in self._topics if topic in upto}
        self._cuts = cuts_of(log, self._topics, progress)
        self._pipeline = PurePipeline(1, bounds=bounds)
        for relation in tables:
            self._fold(relation)
        for view in views:
            self._pipeline.apply(to_ddl(view))
        _, _, missing = compile_with_cell(self._pipeline.catalog, value)
        if missing is not None:
            self._pipeline.apply(create_join(missing.tables))
        self._pipeline.append(self._pipeline.topics.subscriptions, _ID, value)
        self._pipeline.settle()
        _check_taken(self._pipeline)
        self._several = frozenset(topic for topic, place in self._upto.items() if len(place.ends) > 1)
        self._taken = 0
        self._reader = DeliveryReader()
        self._held = HeldAnswer()
        self.publications = 0

    def _fold(self, relation: Relation) -> None:
        """Let the pipeline have the table as it was, in one shard."""
        own = self._pipeline.apply(to_ddl(replace(relation, buckets=1, bucket_by=()))).relations[relation.name]
        fold = fold_log(self._log, own, self._after, self._pipeline.topics)
        self._pipeline.seed(own.shard, Group(own.shard, [fold]).dump())

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
        yield from (_told(delivery, {}) for delivery in self._deliveries())
        for chunk in self._log.read(self._after, self._upto, between=self._cuts):
            for records in _batches(chunk, self._topics):
                self.publications += sum(map(len, records.values()))
                self._pipeline.feed(list(records.values()), self._several)
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


def cuts_of(log: PublicationLog, topics: Collection[str], progress: Iterable[Progress]) -> list[Cut]:
    """Return where to cut the log into batches: at the engine's, and before the first known of those at its versions.

    A topic that was created again has had several lives, which the engine's records do not tell apart: versions only.
    """
    versions = [one.cut for one in log.versions]
    if any(log.lives.count(topic) > 1 for topic in topics):
        return versions
    batches: list[Cut] = []
    first: Cut = {}
    for one in progress:
        cut = _cut(one.end, topics)
        if cut and not batches:
            first = _cut(one.start, topics)
        if cut and (not batches or (earlier(batches[-1], cut) and not earlier(cut, batches[-1]))):
            batches.append(cut)
    if not batches:
        return versions
    whole = [own for cut in versions if (own := {topic: cut[topic] for topic in topics if topic in cut})]
    return [*(cut for cut in whole if not earlier(first, cut)), first, *batches]


def _cut(offsets: Offsets, topics: Iterable[str]) -> Cut:
    """Return a cut at the offsets of a batch, through those topics that it read."""
    found = {topic: offsets[topic] for topic in topics if offsets.get(topic)}
    return {topic: Place(0, {int(partition): end for partition, end in ends.items()}) for topic, ends in found.items()}


def _batches(chunk: Chunk, topics: Iterable[str]) -> Iterator[dict[str, RawRecords]]:
    """Yield the records of each batch by topic, of those that it has."""
    edges = [0, *(np.flatnonzero(np.diff(chunk.step)) + 1).tolist(), len(chunk)]
    for start, end in pairwise(edges):
        where = np.arange(start, end)
        found = {topic: chunk.records(topic, where) for topic in topics}
        yield {topic: records for topic, records in found.items() if len(records)}


def _told(delivery: Delivery, batch: Mapping[str, RawRecords]) -> Told:
    at = delivery.at
    facts = {name: getattr(delivery, name) for name in _FACTS}
    records = None if at.topic is None else batch.get(at.topic)
    if records is None or at.offset is None:
        return Told(**facts)
    row = int(np.flatnonzero((records.partition == at.partition) & (records.offset == at.offset))[0])
    stamp = datetime.fromtimestamp(int(records.timestamp[row]) / 1e6, UTC)
    time = stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Told(**facts, topic=at.topic, partition=at.partition, offset=at.offset, time=time)
