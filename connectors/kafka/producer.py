"""Write to Kafka: a plain producer, and a transactional one whose every transaction carries consumed positions."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as Client

from connectors.kafka.admin import Place
from connectors.kafka.bounded_call import CallStuckError, bounded
from connectors.kafka.client import REQUEST_SECONDS, Ear, configuration
from connectors.kafka.failure import KafkaFailure, StepAborted
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord

T = TypeVar("T")
_OFFSETS_SECONDS, _STUCK_SECONDS = 4.0, 1.0
_ANY_PARTITION = -1
MESSAGE_MAX_BYTES = 16_777_216
_OWN = {"acks": "all", "enable.idempotence": True, "partitioner": "murmur2_random"}
_DEFAULTS = {
    "message.max.bytes": MESSAGE_MAX_BYTES,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 262_144,
    "linger.ms": 5,
}


class Producer:
    """An idempotent producer that waits for all replicas; keys go to the same partitions as with Java clients.

    *Cost*: about 7 us a record. What could not be written, since it was refused or nobody has acknowledged it for
    `timeout` seconds, is told by `flush` or `serve`, once.
    """

    def __init__(self, properties: KafkaProperties, timeout: float = 30.0, linger: float = 0.005) -> None:
        self._ear = Ear(properties.bootstrap)
        own = _OWN | {"delivery.timeout.ms": int(timeout * 1000)}
        defaults = _DEFAULTS | {"linger.ms": linger * 1000}
        self._client = Client(configuration(properties, self._ear, own, defaults))
        self._timeout = timeout
        self._problem: tuple[KafkaError, str] | None = None

    def send(self, record: OutRecord, on_offset: Callable[[int, int], None] | None = None, timestamp: int = 0) -> None:
        """Queue a record; waits while the queue is full. `on_offset(partition, offset)` is called when it is written.

        `timestamp` is in milliseconds since 1970; 0 takes the present.

        Raises:
            KafkaFailure: it is too large, or the queue has stayed full for the producer's `timeout`.
        """

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._problem = self._problem or (error, record.topic)
            elif on_offset is not None:
                on_offset(message.partition(), message.offset())

        try:
            self._queue(record, delivered, timestamp)
            self._client.poll(0)
        except KafkaException as error:
            raise self._ear.explain(error, f"writing to `{record.topic}`") from error
        except BufferError as full:
            raise self._explain(KafkaError(KafkaError._MSG_TIMED_OUT), record.topic) from full

    def _queue(self, record: OutRecord, delivered: Callable[..., None], timestamp: int) -> None:
        """Hand a record to the client; the plain case by position, which is twice as fast. *Raises* BufferError."""
        if timestamp <= 0:
            place = _ANY_PARTITION if record.partition is None else record.partition
            try:
                self._client.produce(record.topic, record.value, record.key, place, delivered)
                return
            except BufferError:
                pass
        _enqueue(self._client, record, delivered, time.monotonic() + self._timeout, timestamp)

    def serve(self, seconds: float) -> None:
        """Hear for up to `seconds` what became of records. *Raises* KafkaFailure for the first that was not written."""
        self._client.poll(seconds)
        problem, self._problem = self._problem, None
        if problem is not None:
            raise self._explain(*problem)

    def abandon(self) -> None:
        """Write nothing more of what is queued; of what is on its way nobody will hear."""
        self._client.purge()
        self._client.flush(1.0)
        self._problem = None

    def write(self, record: OutRecord) -> Future[int]:
        """Queue a record, and return the future of its offset or of a KafkaFailure: `serve` makes it come true.

        Raises KafkaFailure where it cannot even be queued.
        """
        offset: Future[int] = Future()
        offset.set_running_or_notify_cancel()  # from here on nobody can cancel it, as whoever waits for it might

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offset.set_result(message.offset())
            else:
                offset.set_exception(self._ear.explain(error, f"writing to `{record.topic}`"))

        try:
            _enqueue(self._client, record, delivered, time.monotonic() + self._timeout, 0)
        except KafkaException as error:
            raise self._ear.explain(error, f"writing to `{record.topic}`") from error
        except BufferError as full:
            raise self._explain(KafkaError(KafkaError._MSG_TIMED_OUT), record.topic) from full
        return offset

    def flush(self) -> None:
        """Return when everything sent is acknowledged. *Raises* KafkaFailure for the first that was not."""
        left = self._client.flush(self._timeout + 1)
        problem, self._problem = self._problem, None
        if problem is None and left:
            problem = KafkaError(KafkaError._TIMED_OUT), ""
        if problem is not None:
            raise self._explain(*problem)

    def _explain(self, error: KafkaError, topic: str) -> KafkaFailure:
        """Say why a record was not written; a topic that does not exist shows only as a time-out."""
        doing = f"writing to `{topic}`" if topic else "writing"
        if topic and error.code() == KafkaError._MSG_TIMED_OUT:
            try:
                error = self._client.list_topics(topic, timeout=min(2.0, self._timeout)).topics[topic].error or error
            except KafkaException as unavailable:
                error = unavailable.args[0]
        return self._ear.explain(error, doing)


class TransactionalProducer:
    """A producer whose records become visible together with the positions they were made from, or not at all.

    A transaction goes through `commit`, which always sends the consumer group's metadata as of the assignment
    under which the records were consumed. That is the fence: a process that was stopped while its partitions moved on
    finds its generation refused and its transaction aborted (without offsets and metadata its commit went
    through, tried).

    Args:
        name: the transactional id; of two producers of one name the older one is fenced.
        open_seconds: how long a transaction may stay open; then the broker aborts it.
    """

    def __init__(self, properties: KafkaProperties, name: str | None = None, open_seconds: float = 10.0) -> None:
        self._ear = Ear(properties.bootstrap)
        own = _OWN | {
            "transactional.id": name or f"tidewire-{uuid.uuid4()}",
            "transaction.timeout.ms": int(open_seconds * 1000),
            "delivery.timeout.ms": int(open_seconds * 1000),
        }
        self._client = Client(configuration(properties, self._ear, own, _DEFAULTS))
        self._open_seconds = open_seconds
        self._ready = False
        self._stuck = False

    def prepare(self) -> None:
        """End what a former producer of this name has left open; `commit` would do it, too. *Raises* KafkaFailure."""
        try:
            self._prepare()
        except KafkaException as problem:
            raise self._ear.explain(problem, "beginning transactions") from problem

    def commit(
        self, records: Iterable[OutRecord], positions: Mapping[Place, int], group: object, watch: str = ""
    ) -> dict[int, int]:
        """Write `records` and the consumed `positions` as one transaction.

        Args:
            records: what to write; in the order given within each partition.
            positions: next offset to consume of every partition owned, changed or not; never empty.
            group: `GroupConsumer.Assignment.group`, as it was when the records were consumed.
            watch: a topic whose offsets are wanted.

        Returns:
            The offset of the first record written to each partition of `watch`.

        Raises:
            StepAborted: nothing of it is visible, and the process must go back to what is committed.
        """
        first: dict[int, int] = {}

        def written(error: KafkaError | None, message: Message) -> None:
            if error is None:
                first.setdefault(message.partition(), message.offset())

        offsets = [TopicPartition(topic, number, offset) for (topic, number), offset in positions.items()]
        deadline = time.monotonic() + self._open_seconds
        try:
            self._prepare()
            self._client.begin_transaction()
            _enqueue_all(self._client, records, written, watch, deadline)
            self._persist(lambda: self._send_offsets(offsets, group), deadline)
            self._persist(lambda: self._client.commit_transaction(self._open_seconds), deadline + self._open_seconds)
        except (KafkaException, BufferError, CallStuckError) as problem:
            raise self._give_up(problem) from problem
        return first

    def _send_offsets(self, offsets: list[TopicPartition], group: object) -> None:
        """Add the positions to the transaction.

        Where the group's coordinator was started again meanwhile, the client now and then waits for ever, whatever
        its time-out (librdkafka's issues 5456 and 5511; as a rule after a broker was killed). Then this producer is
        given up. The broker aborts the transaction that it holds open when the next producer of its name begins.
        """
        send = self._client.send_offsets_to_transaction
        bounded(lambda: send(offsets, group, _OFFSETS_SECONDS), _OFFSETS_SECONDS + _STUCK_SECONDS)

    def _prepare(self) -> None:
        if not self._ready:
            self._persist(lambda: self._client.init_transactions(REQUEST_SECONDS), time.monotonic() + 30)
            self._ready = True

    def _persist(self, call: Callable[[], T], deadline: float) -> T:
        """Call again while the client says that this can help. *Raises* KafkaException."""
        while True:
            try:
                return call()
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise
            time.sleep(0.02)

    def _give_up(self, problem: KafkaException | BufferError | CallStuckError) -> StepAborted:
        """Abort, and say what happened; a producer whose abort fails as well is lost."""
        self._stuck = isinstance(problem, CallStuckError)
        explained = self._ear.explain(problem, "a transaction") if isinstance(problem, KafkaException) else problem
        aborted = StepAborted(f"the step was given up and will be done again: {explained}")
        aborted.producer_lost = self._stuck or (isinstance(problem, KafkaException) and problem.args[0].fatal())
        if not aborted.producer_lost:
            try:
                self._persist(lambda: self._client.abort_transaction(REQUEST_SECONDS), time.monotonic() + 10)
            except KafkaException:
                aborted.producer_lost = True
        return aborted

    def close(self) -> None:
        """Drop what is queued. A fenced client complains even of that; one that is stuck is left alone."""
        if self._stuck:
            return
        with contextlib.suppress(KafkaException):
            self._client.purge()
            self._client.flush(0)


def _enqueue_all(
    client: Client, records: Iterable[OutRecord], delivered: Callable[..., None], watch: str, deadline: float
) -> None:
    """Hand records to the client; those of topic `watch` are told to `delivered`. *Raises* BufferError at `deadline`.

    *Cost*: 0.4 us a record of the client's own time; arguments by position are half of that faster than by name.
    """
    produce = client.produce
    for record in records:
        watched = record.topic == watch
        if record.partition is not None and not watched:
            try:
                produce(record.topic, record.value, record.key, record.partition)
                continue
            except BufferError:
                pass
        _enqueue(client, record, delivered if watched else None, deadline)


def _enqueue(
    client: Client, record: OutRecord, delivered: Callable[..., None] | None, deadline: float, timestamp: int = 0
) -> None:
    """Hand a record to the client, serving callbacks while its queue is full. *Raises* BufferError at `deadline`."""
    place = {} if record.partition is None else {"partition": record.partition}
    place |= {"timestamp": timestamp} if timestamp > 0 else {}
    while True:
        try:
            client.produce(record.topic, record.value, record.key, on_delivery=delivered, **place)
            return
        except BufferError:
            if time.monotonic() > deadline:
                raise
            client.poll(0.05)
