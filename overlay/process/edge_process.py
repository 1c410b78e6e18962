"""The edge process: waits for Kafka, answers HTTP, and takes part in the group that shares the virtual edges.

What it does with the virtual edges it owns is `overlay/process/edge_member.py`.
"""

from __future__ import annotations

import threading

import structlog

from connectors.http.address import HttpAddress, canonical_host
from connectors.http.app import Edge, edge_app
from connectors.http.server import HttpServer
from connectors.kafka.admin import Admin, TopicsDisagree
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.reader import Reader
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import EdgeAnswers
from overlay.process.edge_config import EdgeConfig
from overlay.process.edge_member import EdgeMember
from overlay.process.jit_warmup import warm
from overlay.process.lasting_objects import settle
from overlay.process.ownership import Ownership
from overlay.process.shard_looks import ShardLooks
from overlay.process.subscription_gateway import SubscriptionGateway
from overlay.push.board import PushBoard

WAIT_SECONDS = 0.5
_ADMIN_SECONDS = 5.0


class EdgeProcess:
    """One edge; `run` returns when it is told to stop."""

    def __init__(self, config: EdgeConfig) -> None:
        self._config = config
        self._topics = config.topics
        self._admin = Admin(config.kafka, _ADMIN_SECONDS)
        self._view = CommittedView()
        ownership = Ownership(lambda: self._admin.members(config.group), config.topics.subscriptions)
        self.answers = EdgeAnswers(self._view, ownership)
        self._board = PushBoard(config.topics, config.rules, self.answers.look, self.answers.epoch)
        self._looks = self._board.row_looks.rows = ShardLooks(self.answers)
        self.answers.readers = lambda: self._board.readers
        self.answers.processes = config.processes
        self._log = structlog.get_logger("tidewire.edge")

    def run(self, stop: threading.Event) -> None:
        """Serve until `stop` is set; then leave the group at once.

        Waits, saying for what, while the broker or its topics are not there.

        Raises:
            TidewireError: what trying again does not mend; nothing uncommitted was made visible.
        """
        http = self._listen()
        listens = HttpAddress("http", canonical_host(http.host), http.port)
        address = (self._config.rules.served.advertised or listens).label
        self._log = self._log.bind(edge=address)
        self._log.info("listening", http=http.address)
        if self._config.rules.is_open_at(self._config.http_host):
            self._log.warning("whoever reaches this address may read and end all subscriptions: set [tenants]")
        warm()  # before joining: compiling within a step would outlast its transaction
        settle()
        try:
            partitions = self._await_topics(stop)
            if partitions:
                self._serve(partitions, address, stop)
        finally:
            self.answers.state = "stopped"
            self._board.owned(())
            http.close()
        self._log.info("stopped")

    def _listen(self) -> HttpServer:
        config = self._config
        gateway = SubscriptionGateway(config.kafka, config.topics, self.answers, self._board)
        app = edge_app(Edge(self.answers, self._board, gateway, self._board.row_looks), config.rules)
        return HttpServer(app, config.http_host, config.http_port, config.rules)

    def _await_topics(self, stop: threading.Event) -> int:
        """Return the number of virtual edges once every topic is there, 0 when told to stop before.

        Raises:
            TopicsDisagree: co-partitioned topics have different numbers of partitions.
        """
        said = ""
        while not stop.is_set():
            try:
                present = self._admin.topics()
                missing = [spec.name for spec in self._topics.specs() if not present.get(spec.name)]
                if not missing:
                    return self._virtual_edges(present)
                waiting = f"topic `{missing[0]}`"
            except KafkaFailure as failure:
                if not failure.retry_helps:
                    raise
                waiting = f"the broker: {failure}"
            if waiting != said:
                said = waiting
                self._log.warning("waiting", waiting_for=waiting)
            self.answers.state = "waiting for " + waiting
            stop.wait(WAIT_SECONDS)
        return 0

    def _virtual_edges(self, present: dict[str, int]) -> int:
        number = present[self._topics.subscriptions]
        for spec in self._topics.specs():
            if spec.per_virtual_edge and present[spec.name] != number:
                raise TopicsDisagree(
                    f"`{spec.name}` and `{self._topics.subscriptions}` must have the same partitions: expected "
                    f"{number}, got {present[spec.name]}. Use another `prefix`, or delete the topics of this one."
                )
        return number

    def _serve(self, partitions: int, address: str, stop: threading.Event) -> None:
        reader = Reader(self._config.kafka)
        self._board.partitions = partitions
        member = EdgeMember(
            self._config, partitions, address, reader, self._view, self.answers, self._board, self._looks, self._log
        )
        try:
            while not stop.is_set():
                member.turn(stop)
        finally:
            member.leave()
