"""Topics and groups of a Kafka cluster: which there are, make those that are missing, where they begin and end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ConfigResource,
    ConsumerGroupDescription,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from connectors.kafka.client import REQUEST_SECONDS, Ear, configuration
from connectors.kafka.failure import BrokerUnavailable, KafkaFailure, TopicUnknown
from connectors.kafka.properties import KafkaProperties
from connectors.topics import VIRTUAL_EDGES, Topics, TopicSpec
from state.errors import UserError

T = TypeVar("T")
Place = tuple[str, int]
"""A topic and a partition of it."""

_HEAR_SECONDS = 0.2
_CREATE_SECONDS = 30.0


class TopicsDisagree(UserError):
    """The topics under a prefix do not have the partitions that tidewire made them with."""

    code = "topics_disagree"


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a topic keeps records, in seconds; None: for ever, or (compacted) the newest of each key.

    `by_size` says that it may forget them earlier, since its size is limited too.
    """

    seconds: float | None
    by_size: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a consumer group and what it owns."""

    client_id: str
    host: str
    owns: frozenset[Place]


class Admin:
    """Ask and change what a cluster holds. One connection, made when first used; safe to use from several threads.

    Every method raises BrokerUnavailable after about `timeout` seconds without an answer, and NotAuthorised.
    """

    def __init__(self, properties: KafkaProperties, timeout: float = REQUEST_SECONDS) -> None:
        self._ear = Ear(properties.bootstrap)
        self._client = AdminClient(configuration(properties, self._ear, {}))
        self._timeout = timeout

    def partitions(self, topic: str) -> int:
        """Return how many partitions `topic` has. *Raises* TopicUnknown."""
        try:
            found = self._client.list_topics(topic, timeout=self._timeout).topics[topic]
        except KafkaException as error:
            raise self._explain(error, f"looking for the topic `{topic}`") from error
        if found.error is not None:
            raise self._ear.explain(found.error, f"looking for the topic `{topic}`")
        return len(found.partitions)

    def topics(self) -> dict[str, int]:
        """Return all topics with the number of their partitions."""
        try:
            found = self._client.list_topics(timeout=self._timeout).topics
        except KafkaException as error:
            raise self._explain(error, "listing topics") from error
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def ensure_topics(self, topics: Topics, virtual_edges: int = VIRTUAL_EDGES) -> int:
        """Create what is missing of `topics`; return the number of virtual edges. Doing it again changes nothing.

        The number is fixed when the prefix is created: where `subscriptions` exists, its partitions count and
        `virtual_edges` does not.

        Raises:
            TopicsDisagree: a topic exists with another number of partitions.
        """
        specs = sorted(topics.specs(), key=lambda spec: spec.name != topics.subscriptions)
        self._create(specs[:1], virtual_edges)
        number = self._await(specs[:1])[topics.subscriptions]
        self._create(specs[1:], number)
        _check_partitions(specs, self._await(specs), number)
        return number

    def create_topic(self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Create one topic, and wait until it can be used; one that exists stays as it is."""
        self._create([TopicSpec(name, True, dict(config or {}))], partitions)
        self._await([TopicSpec(name, True, {})])

    def delete_topics(self, names: Sequence[str]) -> None:
        """Delete topics, and wait until nobody sees them; those that do not exist are no error."""
        for future in self._client.delete_topics(list(names)).values() if names else ():
            with contextlib.suppress(TopicUnknown):
                self._result(future, "deleting topics")
        deadline = time.monotonic() + self._timeout
        while not self.topics().keys().isdisjoint(names) and time.monotonic() < deadline:
            time.sleep(0.05)

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the id that each topic got when it was created; topics that do not exist are left out."""
        wanted = list(names)
        out: dict[str, str] = {}
        for name, future in self._client.describe_topics(TopicCollection(wanted)).items() if wanted else ():
            with contextlib.suppress(TopicUnknown):
                out[name] = str(self._result(future, f"describing the topic `{name}`").topic_id)
        return out

    def may_write(self, topic: str) -> bool:
        """Return whether whoever asks may write to `topic`. *Raises* TopicUnknown."""
        asked = self._client.describe_topics(TopicCollection([topic]), include_authorized_operations=True)
        allowed = self._result(asked[topic], f"asking for rights on the topic `{topic}`").authorized_operations
        return AclOperation.WRITE in allowed or AclOperation.ALL in allowed

    def begin_offsets(self, topic: str, partitions: Iterable[int] | None = None) -> dict[int, int]:
        """Return the first offset still kept of each partition (all of them by default)."""
        return self._offsets(topic, partitions, OffsetSpec.earliest(), committed=False)

    def end_offsets(
        self, topic: str, partitions: Iterable[int] | None = None, committed: bool = False
    ) -> dict[int, int]:
        """Return the offset after the newest record of each partition.

        Records of transactions that are still open count, unless `committed`: then it is where a read_committed
        reader gets to now. *Cost*: one round trip to each broker, about 2 ms.
        """
        return self._offsets(topic, partitions, OffsetSpec.latest(), committed)

    def delete_records(self, below: Mapping[Place, int]) -> None:
        """Delete the records below an offset of each place."""
        request = [TopicPartition(topic, partition, offset) for (topic, partition), offset in below.items()]

        def ask() -> None:
            for place, future in self._client.delete_records(request).items():
                self._result(future, f"trimming `{place.topic}`")

        if request:
            self._persist(ask)

    def retention(self, topics: Iterable[str]) -> dict[str, Retention]:
        """Return how long each topic keeps its records; topics that do not exist are left out."""
        asked = {ConfigResource(ResourceType.TOPIC, topic): topic for topic in topics}
        found: dict[str, Retention] = {}
        for resource, future in self._client.describe_configs(list(asked)).items() if asked else ():
            with contextlib.suppress(TopicUnknown):
                entries = self._result(future, f"describing the topic `{asked[resource]}`")
                millis, size = (int(entries[name].value) for name in ("retention.ms", "retention.bytes"))
                kept = "delete" not in entries["cleanup.policy"].value or millis < 0
                found[asked[resource]] = Retention(None if kept else millis / 1000, size >= 0)
        return found

    def compacted(self, topics: Iterable[str]) -> set[str]:
        """Return those topics of which records are deleted that a later one of the same key has replaced.

        Topics that do not exist are left out. *Raises* NotAuthorised.
        """
        asked = {ConfigResource(ResourceType.TOPIC, topic): topic for topic in topics}
        found = set[str]()
        for resource, future in self._client.describe_configs(list(asked)).items() if asked else ():
            with contextlib.suppress(TopicUnknown):
                entries = self._result(future, f"describing the topic `{asked[resource]}`")
                if "compact" in entries["cleanup.policy"].value:
                    found.add(asked[resource])
        return found

    def committed(self, group: str) -> dict[Place, int]:
        """Return the positions that a consumer group has committed; none if it does not exist."""
        [future] = self._client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
        places = self._result(future, f"asking for the positions of the group `{group}`").topic_partitions
        return {(place.topic, place.partition): place.offset for place in places if place.offset >= 0}

    def members(self, group: str) -> list[Member]:
        """Return the members of a consumer group; none if the group does not exist."""

        def ask() -> ConsumerGroupDescription:
            futures = self._client.describe_consumer_groups([group], request_timeout=self._timeout)
            return self._result(futures[group], f"describing the group `{group}`")

        described = self._persist(ask)
        if described.state == ConsumerGroupState.DEAD:
            return []
        return [
            Member(
                member.client_id,
                member.host,
                frozenset((place.topic, place.partition) for place in member.assignment.topic_partitions),
            )
            for member in described.members
            if member.assignment is not None
        ]

    def _offsets(
        self, topic: str, partitions: Iterable[int] | None, spec: OffsetSpec, committed: bool
    ) -> dict[int, int]:
        numbers = range(self.partitions(topic)) if partitions is None else partitions
        request = {TopicPartition(topic, number): spec for number in numbers}
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        if not request:
            return {}

        def ask() -> dict[int, int]:
            futures = self._client.list_offsets(request, isolation_level=level, request_timeout=self._timeout)
            doing = f"asking for the offsets of `{topic}`"
            return {place.partition: self._result(future, doing).offset for place, future in futures.items()}

        return self._persist(ask)

    def _explain(self, error: KafkaException, doing: str) -> KafkaFailure:
        """Explain a request that failed at once: why, the client may have to tell yet."""
        self._client.poll(_HEAR_SECONDS)
        return self._ear.explain(error, doing)

    def _create(self, specs: Sequence[TopicSpec], virtual_edges: int) -> None:
        present = self.topics()
        new = [
            NewTopic(spec.name, virtual_edges if spec.per_virtual_edge else 1, -1, config=dict(spec.config))
            for spec in specs
            if spec.name not in present
        ]
        for name, future in self._client.create_topics(new).items() if new else ():
            try:
                future.result(self._timeout)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise self._ear.explain(error, f"creating the topic `{name}`") from error

    def _await(self, specs: Sequence[TopicSpec]) -> dict[str, int]:
        """Return the partitions of the topics once the cluster's metadata shows them all."""
        deadline = time.monotonic() + _CREATE_SECONDS
        while True:
            present = self.topics()
            missing = [spec.name for spec in specs if not present.get(spec.name)]
            if not missing:
                return present
            if time.monotonic() > deadline:
                raise KafkaFailure(f"the topic `{missing[0]}` was created but did not appear within 30 s. Try again.")
            time.sleep(0.05)

    def _persist(self, ask: Callable[[], T]) -> T:
        """Ask again, for `timeout` seconds, while the answer is one that passes (a leader being elected).

        Trap: after a restart of the broker librdkafka's admin client goes on with the leader it remembers, and
        is refused for ever (FENCED_LEADER_EPOCH); asking for all topics makes it learn the new one.
        """
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                return ask()
            except KafkaFailure as failure:
                passing = failure.retry_helps and not isinstance(failure, BrokerUnavailable | TopicUnknown)
                if not passing or time.monotonic() > deadline:
                    raise
            self.topics()
            time.sleep(0.05)

    def _result(self, future: Future[T], doing: str) -> T:
        try:
            return future.result(self._timeout + 1)
        except KafkaException as error:
            raise self._ear.explain(error, doing) from error
        except TimeoutError as error:
            raise self._ear.explain(KafkaError(KafkaError._TIMED_OUT), doing) from error


def _check_partitions(specs: Sequence[TopicSpec], present: Mapping[str, int], virtual_edges: int) -> None:
    for spec in specs:
        expected = virtual_edges if spec.per_virtual_edge else 1
        if present[spec.name] != expected:
            raise TopicsDisagree(
                f"the topic `{spec.name}` does not fit the others of its prefix: expected {expected} partitions, got "
                f"{present[spec.name]}. The number is fixed when a prefix is created: use another `prefix`."
            )
