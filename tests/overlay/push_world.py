"""An edge with its HTTP side on a real socket, without Kafka: steps are taken by hand, a transaction is a list.

Everything between the records of `notifications` and the reader's socket is real.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from types import SimpleNamespace

from connectors.http.app import Edge, edge_app
from connectors.http.rules import HttpRules
from connectors.http.server import HttpServer
from connectors.kafka.admin import Member, Place
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import RUNNING, EdgeAnswers
from overlay.process.owned_edges import OwnedEdges
from overlay.process.ownership import Ownership, client_id
from overlay.process.subscription_gateway import SubscriptionGateway
from overlay.push.board import PushBoard
from tests.overlay.hand_engine import SQL, HandEngine
from tests.overlay.process.test_owned_edges import CATALOG

TOPICS = Topics("p.")
PARTITIONS = 2


class MemoryLog:
    """Topics as lists, with the verbs of a producer and of a reader that are used here."""

    def __init__(self) -> None:
        self.records: dict[Place, list[KafkaRecord]] = defaultdict(list)
        self._lock = threading.Lock()

    def send(self, record: OutRecord, on_offset: object = None) -> None:
        assert record.partition is not None
        with self._lock:
            place = self.records[record.topic, record.partition]
            offset = len(place)
            place.append(KafkaRecord(record.topic, record.partition, offset, 0, record.key, record.value))
        if callable(on_offset):
            on_offset(record.partition, offset)

    def write(self, record: OutRecord) -> Future[int]:
        offset: Future[int] = Future()
        self.send(record, lambda _, at: offset.set_result(at))
        return offset

    def serve(self, seconds: float) -> None:
        """Nothing waits."""
        time.sleep(0.001)

    def flush(self) -> None:
        """Nothing waits."""

    def read_to_end(self, topic: str, start: Mapping[int, int]) -> Iterator[KafkaRecord]:
        for number in range(PARTITIONS):
            yield from self.records[topic, number][start.get(number, 0) :]

    def ends(self, numbers: list[int]) -> dict[int, int]:
        return {number: len(self.records[TOPICS.notifications, number]) for number in numbers}


class MemoryEngine(HandEngine):
    """The engine by hand, writing into a MemoryLog."""

    def __init__(self, log: MemoryLog) -> None:
        self.epoch, self.batch, self.value, self.partitions = 0, -1, 0, PARTITIONS
        self._topics, self._producer, self._reader = TOPICS, log, log  # type: ignore[assignment]
        self._read, self._listening, self._seq = {}, set(), 0


class LiveEdge:
    """One edge. `others`: virtual edges that another one has, at address `far:1`."""

    def __init__(self, rules: HttpRules | None = None, others: tuple[int, ...] = ()) -> None:
        self.log, rules = MemoryLog(), rules or HttpRules()
        self.engine = MemoryEngine(self.log)
        self.engine.begin()
        self.view = CommittedView()
        far = Member(client_id("far:1"), "", frozenset((TOPICS.subscriptions, number) for number in others))
        self.answers = EdgeAnswers(self.view, Ownership(lambda: [far], TOPICS.subscriptions))
        self.board = PushBoard(TOPICS, rules, self.answers.look, self.answers.epoch)
        self.board.partitions = PARTITIONS
        self.gateway = SubscriptionGateway(SimpleNamespace(), TOPICS, self.answers, self.board)  # type: ignore[arg-type]
        self.gateway._producer = self.log  # type: ignore[assignment]
        self.server = HttpServer(edge_app(Edge(self.answers, self.board, self.gateway), rules), rules=rules)
        self.url = f"http://{self.server.address}"
        self.numbers = [number for number in range(PARTITIONS) if number not in others]
        self._owned = OwnedEdges(TOPICS, PARTITIONS, lambda version: CATALOG, self.log.ends, 10**9)
        self._fed: dict[Place, int] = {}
        self._adopt(self.numbers)
        self.answers.serve(self._owned, PARTITIONS, "here:1")
        self.answers.state = RUNNING
        self.step()

    def _adopt(self, numbers: list[int]) -> None:
        """Take virtual edges up out of the log, as `EdgeMember` does."""
        with self.view.changing():
            self._owned.clear()
            for number in numbers:
                stored = self.log.records[TOPICS.edge_state, number]
                self._owned.restore(number, [record.value for record in stored if record.value])
            topics = (TOPICS.subscriptions, TOPICS.notifications)
            self._owned.begin({(topic, number): 0 for topic in topics for number in numbers})
            self.board.adopted(numbers, self.answers.find)

    def again(self) -> None:
        """Lose memory and take it up again."""
        self._adopt(self.numbers)

    def step(self, tell: bool = True) -> int:
        """Feed what is new and commit; return how many records came out. `tell`: whether the edge learns of it."""
        with self.view.changing():
            for topic in (TOPICS.notifications, TOPICS.subscriptions):
                for number in self.numbers:
                    fed = self._fed.get((topic, number), 0)
                    fresh = self.log.records[topic, number][fed:]  # more may be written meanwhile, for the next step
                    for record in fresh:
                        self._owned.feed(record)
                    self._fed[topic, number] = fed + len(fresh)
            self._owned.raise_fences()
            self._owned.refuse_held()
            step = self._owned.step()
            for record in step.records:
                self.log.send(record)
            if tell:
                self.board.committed([*step.records, *step.pushed])
        return len(step.records)

    def subscribe(self, *names: str, sql: str = SQL) -> None:
        """Make subscriptions live."""
        self.engine.subscribe(*names, sql=sql)
        self.step()
        self.publish()

    def publish(self, *values: int, tell: bool = True) -> None:
        """Run a batch with these values, one change after the other."""
        self.engine.run_batch(*values)
        self.step(tell)

    def close(self) -> None:
        self.board.owned(())
        self.server.close()
