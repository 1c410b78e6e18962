"""A member of the edges' consumer group: owns virtual edges and moves them on, step by step.

One step is one Kafka transaction: deliveries, acks, registrations, `edge-state`, and the positions consumed. What a
restart promises rests on this order, whose numbers stand again in the code:

1. An assignment arrives: forget what was owned. Nothing is consumed yet.
2. Get the committed positions, again and again while a transaction that carries some is still open.
3. Read `edge-state` to its very end, waiting for open transactions: now memory equals the log.
   Where cells may still name rows that they sent before, read these in `notifications` again.
4. Consume from the committed positions; feed what comes, of a poll notifications before subscriptions. A turn feeds
   for `FEED_SECONDS` and leaves the rest to the next ones, which take hardly anything new before it is fed.
5. Write everything that came out, with the positions of every place owned and the group as of the assignment. What is
   left is not among them: it is consumed again by whoever comes after.
6. Committed: people may see it. Snapshots that were written make older state superfluous: trim it. For what waits for
   a cell, ask for the cell.
7. Not committed, for whatever reason: forget memory, and go on at 2. A process that was stopped while its virtual
   edges moved on learns it here, since the broker refuses the generation of its group.

So memory is ahead of the log only within a step, and no step of a former owner can become visible.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import uuid
from collections.abc import Iterator, Mapping

from structlog.typing import FilteringBoundLogger

from connectors.digest_key import digest_key
from connectors.kafka.admin import Place
from connectors.kafka.catalog_versions import CatalogVersions
from connectors.kafka.failure import KafkaFailure, StepAborted
from connectors.kafka.group import GroupConsumer
from connectors.kafka.producer import Producer, TransactionalProducer
from connectors.kafka.reader import OffsetTrimmed, Reader
from connectors.kafka.record import KafkaRecord
from overlay.intake.open_time import OpenTime
from overlay.process.cell_requests import CellRequests
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import RUNNING, EdgeAnswers
from overlay.process.edge_config import EdgeConfig
from overlay.process.memory_trim import Rests, give_back
from overlay.process.owned_edges import OwnedEdges, Step
from overlay.process.ownership import client_id
from overlay.process.shard_looks import ShardLooks
from overlay.push.board import PushBoard
from overlay.subscriptions.edge_state import EdgeStateError
from state.errors import UserError

POLL_SECONDS = 0.1
POLL_RECORDS = 10_000
FEED_SECONDS = 1.0
"""So long a turn feeds records, and the last of them for as long as it takes: readers wait for the end of a turn, and
so does whoever stops the edge."""
OPEN_SECONDS = 10.0
RETRY_SECONDS = 0.5
HOMELESS_SECONDS = 3.0
"""So long the readers of an edge that owns nothing wait: what is revoked mostly comes back with the next assignment."""


class SubscriptionsRecreated(UserError):
    """The topic `subscriptions` ends before what was already read of it."""

    code = "subscriptions_recreated"


class EdgeMember:
    """The loop body of an edge process. `address` is where others find its HTTP server."""

    def __init__(
        self,
        config: EdgeConfig,
        partitions: int,
        address: str,
        reader: Reader,
        view: CommittedView,
        answers: EdgeAnswers,
        board: PushBoard,
        looks: ShardLooks,
        log: FilteringBoundLogger,
    ) -> None:
        self._config = config
        self._topics = config.topics
        self._reader = reader
        self._view = view
        self._answers = answers
        self._board = board
        self._looks = looks
        self._log = log
        catalogs = CatalogVersions(reader, self._topics)
        ends = self._notification_ends
        asked = self._topics.subscriptions
        key = digest_key(reader.admin.topic_ids([asked]).get(asked, ""))
        floor, on_demand = config.snapshot_floor, config.joins_on_demand
        self._owned = OwnedEdges(self._topics, partitions, catalogs.at, ends, floor, key, on_demand)
        answers.serve(self._owned, partitions, address)
        consumed = [self._topics.subscriptions, self._topics.notifications]
        self._group = GroupConsumer(config.kafka, config.group, consumed, client_id(address), config.session_seconds)
        self._assignment = self._group.assignment
        self._adopted = False
        self._forgot = time.monotonic()
        self._committed: dict[Place, int | None] = {}
        self._left: list[KafkaRecord] = []
        self._open_time = OpenTime(OPEN_SECONDS)
        self._rests = Rests()
        self._cells = CellRequests(self._topics, lambda: Producer(config.kafka, linger=0), log)
        self._name = f"tidewire-{uuid.uuid4()}"
        self._producer = self._new_producer()

    def turn(self, stop: threading.Event) -> None:
        """Take what a poll brings, or is left of one, one or more steps further; about 0.1 s when there is nothing.

        Cost: `FEED_SECONDS`, one record (or the subscriptions of one poll), and the commits of it all.

        Raises:
            TidewireError: what trying again does not mend.
        """
        try:
            records = self._group.poll(0.0, 1) if self._left else self._group.poll(POLL_SECONDS, POLL_RECORDS)
            if self._group.assignment is not self._assignment:
                self._forget()
            if self._adopted:
                worked = self._steps(records)
                self._cells.ask(self._owned.cells_wanted())
                self._rests.turn(worked, time.monotonic())
            elif self._assignment.places:
                self._adopt()
            elif time.monotonic() > self._forgot + HOMELESS_SECONDS:
                self._board.owned(())
        except KafkaFailure as failure:
            if not (failure.retry_helps or isinstance(failure, OffsetTrimmed)):
                raise
            self._recover(failure)
            stop.wait(RETRY_SECONDS)

    def leave(self) -> None:
        """Leave the group, so that others take over at once."""
        with self._view.changing():
            self._owned.clear()
        self._looks.lost()
        self._group.close()
        self._producer.close()
        self._cells.close()

    def _forget(self) -> None:
        """1. Drop what was owned; note the assignment that holds from now on."""
        with self._view.changing():
            self._owned.clear()
        self._looks.lost()
        self._cells.forget()
        self._adopted, self._left = False, []
        self._assignment = self._group.assignment
        self._forgot = time.monotonic()
        if self._assignment.places:
            self._board.owned({number for _, number in self._assignment.places})
        self._answers.state = "waiting for virtual edges"

    def _adopt(self) -> None:
        """2 to 4. Make memory equal to the log for everything assigned, and consume from there."""
        self._answers.state = "restoring"
        began = time.monotonic()
        self._committed = self._group.committed(self._assignment.places)
        numbers = sorted({number for _, number in self._assignment.places})
        with self._view.changing():
            self._owned.clear()
            for number in numbers:
                self._restore(number)
            starts = self._starts(numbers)
            self._collect(starts)
            self._owned.begin(starts)
            self._board.adopted(numbers, self._answers.find)
        self._group.start(starts)
        self._adopted = True
        give_back()
        self._answers.state = RUNNING
        self._log.info("owns", virtual_edges=numbers, seconds=round(time.monotonic() - began, 3))

    def _restore(self, number: int) -> None:
        """3. Read what `edge-state` holds of a virtual edge, undecided transactions waited for.

        Raises:
            EdgeStateError: something of it cannot be taken.
        """
        offsets: list[int] = []

        def values() -> Iterator[bytes | None]:
            for record in self._reader.read_to_end(self._topics.edge_state, [number]):
                offsets.append(record.offset)
                yield record.value

        try:
            self._owned.restore(number, values())
        except EdgeStateError as error:
            at = "" if error.record is None else f" offset {offsets[error.record]}"
            raise EdgeStateError(
                f"`{self._topics.edge_state}` [{number}]{at} cannot be taken: {error}. No edge goes on without what is "
                "subscribed: run the version of tidewire that wrote it, or begin with a new `prefix`.",
                error.record,
            ) from error

    def _collect(self, starts: Mapping[Place, int]) -> None:
        """3. Read the rows again that cells may still name, as far as they are kept: what is missing is told as lost.

        Cost: as to consume what the last batches of the window told, without applying it.
        """
        topic = self._topics.notifications
        kept = {number: edge.window_offset for number, edge in self._owned.edges.items()}
        wanted = {number: offset for number, offset in kept.items() if offset is not None}
        first = self._reader.admin.begin_offsets(topic, list(wanted)) if wanted else {}
        ranges = {number: (max(offset, first[number]), starts[topic, number]) for number, offset in wanted.items()}
        for record in self._reader.read_ranges(topic, ranges):
            self._owned.edges[record.partition].collect(record.offset, record.value)

    def _starts(self, numbers: list[int]) -> dict[Place, int]:
        """Return from where to consume: what is committed, if the topics still hold that."""
        starts: dict[Place, int] = {}
        for topic in (self._topics.subscriptions, self._topics.notifications):
            first = self._reader.admin.begin_offsets(topic, numbers)
            end = self._reader.admin.end_offsets(topic, numbers)
            for number in numbers:
                committed = self._committed[topic, number]
                known = committed is not None and first[number] <= committed <= end[number]
                if committed is not None and not known:
                    self._lost(topic, number, committed, end[number])
                starts[topic, number] = committed if committed is not None and known else first[number]
        return starts

    def _lost(self, topic: str, number: int, committed: int, end: int) -> None:
        """Go on where records were trimmed before they were read; never in silence.

        Raises:
            SubscriptionsRecreated: nothing says any more which subscriptions there are.
        """
        if topic == self._topics.notifications:
            self._log.warning("notifications lost, registering all again", virtual_edge=number, read_to=committed)
            self._owned.edges[number].notifications_lost()
        elif committed > end:
            raise SubscriptionsRecreated(
                f"`{topic}` [{number}] ends at offset {end}, expected at least {committed}, which was read before: it "
                "was deleted and created again. Use another `prefix`, or delete all topics of this one."
            )
        else:
            self._log.warning("subscriptions trimmed before they were read", virtual_edge=number, read_to=committed)

    def _steps(self, records: list[KafkaRecord]) -> bool:
        """4 to 6. Feed in what there is time for, and commit in as many transactions as it takes; whether any."""
        notifications, subscriptions = self._topics.notifications, self._topics.subscriptions
        self._left += sorted(records, key=lambda record: record.topic != notifications)
        before, until = len(self._left), time.monotonic() + FEED_SECONDS
        with self._view.changing():
            self._feed(notifications, until)
            for number, why in self._owned.losses():
                self._log.warning("notifications lost, registering all again", virtual_edge=number, reason=why)
            for number, found in self._owned.contradictions():
                self._log.warning("a final answer is contradicted", virtual_edge=number, **found._asdict())
            self._owned.refuse_held()
            self._feed(subscriptions, until)
            self._owned.raise_fences()
            self._owned.refuse_held()
            self._looks.ask(self._owned.look, self._owned.forget_look)
            self._commit()
        self._answers.counters.consumed += before - len(self._left)
        return before > len(self._left)

    def _feed(self, topic: str, until: float) -> None:
        """Feed in the records of `topic` that come first, if any do, while there is time; note how far it was read."""
        mine = list(itertools.takewhile(lambda record: record.topic == topic, self._left))
        if topic == self._topics.subscriptions:
            self._owned.feed_subscriptions(mine)
            fed = len(mine)
        else:
            fed = self._feed_notifications(mine, until)
        del self._left[:fed]
        behind = {(record.topic, record.partition) for record in self._left}
        positions = {place: offset for place, offset in self._group.positions.items() if place not in behind}
        self._owned.moved(positions, topic)

    def _feed_notifications(self, records: list[KafkaRecord], until: float) -> int:
        for fed, record in enumerate(records, 1):
            if self._owned.feed(record):
                self._commit()
            if time.monotonic() >= until:
                return fed
        return len(records)

    def _commit(self) -> None:
        """5 and 6. Make one transaction of what came out, unless nothing came out and nothing moved."""
        step = self._owned.step()
        if not step.records and step.positions == self._committed:
            return
        began = time.monotonic()
        try:
            state = self._topics.edge_state
            written = self._producer.commit(step.records, step.positions, self._assignment.group, watch=state)
        except StepAborted as aborted:
            self._after_abort(aborted, time.monotonic() - began)
            raise
        if self._open_time.committed(time.monotonic() - began):
            self._replace_producer()
        self._looks.told(step.looked)
        self._board.committed([*step.records, *step.pushed] if step.pushed else step.records)
        self._committed = dict(step.positions)
        self._answers.counters.transactions += 1
        self._answers.counters.written += len(step.records)
        self._trim(step, written)

    def _trim(self, step: Step, written: dict[int, int]) -> None:
        """6. Delete state below new snapshots; if that fails, it is only read in vain later."""
        below = {(self._topics.edge_state, number): written[number] for number in step.snapshots if number in written}
        if not below:
            return
        self._answers.counters.snapshots += len(below)
        try:
            self._reader.admin.delete_records(below)
        except KafkaFailure as failure:
            self._log.warning("old state could not be trimmed", reason=str(failure))

    def _recover(self, failure: KafkaFailure) -> None:
        """7. Forget memory; the next turn sees a new assignment, or adopts this one again."""
        self._log.warning("going back to what is committed", reason=str(failure))
        self._answers.state = "recovering"
        with self._view.changing():
            self._owned.clear()
        self._looks.lost()
        self._cells.forget()
        self._group.pause()
        self._adopted, self._left = False, []

    def _after_abort(self, aborted: StepAborted, seconds: float) -> None:
        """Replace the producer where it is lost, or where a step needs longer than its transaction may be open.

        The new one has the same name, so that what the old one has left open is aborted now, and not by its time-out.
        """
        self._answers.counters.aborted += 1
        if self._open_time.aborted(seconds) or aborted.producer_lost:
            self._replace_producer()
            with contextlib.suppress(KafkaFailure):
                self._producer.prepare()

    def _replace_producer(self) -> None:
        self._producer.close()
        self._producer = self._new_producer()

    def _new_producer(self) -> TransactionalProducer:
        return TransactionalProducer(self._config.kafka, self._name, self._open_time.seconds)

    def _notification_ends(self, numbers: list[int]) -> dict[int, int]:
        return self._reader.admin.end_offsets(self._topics.notifications, numbers)
