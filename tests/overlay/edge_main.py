"""Run one edge as a process: `edge_main.py BOOTSTRAP PREFIX [STOP_AT [COUNT]]`.

With STOP_AT (`begin_transaction`, `send_offsets_to_transaction` or `commit_transaction`) the process stops itself with
SIGSTOP just before its COUNT-th call of that name: the most awkward moments for another to take over.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from connectors.kafka.producer import TransactionalProducer
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from overlay.process import edge_member
from overlay.process.edge_config import EdgeConfig
from overlay.process.edge_process import EdgeProcess

SESSION_SECONDS = 2.0
OPEN_SECONDS = 5.0


class StoppingClient:
    """Forwards everything to the real client; stops the process once, also where a producer is replaced by another."""

    left = 0

    def __init__(self, client: object, stop_at: str) -> None:
        self._client = client
        self._stop_at = stop_at

    def __getattr__(self, name: str) -> object:
        if name == self._stop_at:
            StoppingClient.left -= 1
            if StoppingClient.left == 0:
                print("stopping", flush=True)
                os.kill(os.getpid(), signal.SIGSTOP)
        return getattr(self._client, name)


class StoppingProducer(TransactionalProducer):
    def __init__(self, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]
        self._client = StoppingClient(self._client, sys.argv[3])


def main() -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if len(sys.argv) > 3:
        StoppingClient.left = int(sys.argv[4])
        edge_member.TransactionalProducer = StoppingProducer  # type: ignore[misc]
    edge_member.OPEN_SECONDS = OPEN_SECONDS
    config = EdgeConfig(KafkaProperties(sys.argv[1]), Topics(sys.argv[2]), session_seconds=SESSION_SECONDS)
    EdgeProcess(config).run(stop)


if __name__ == "__main__":
    main()
