"""An edge without Kafka, in a process of its own, that pushes to real sockets: what `benchmarks/push.py` measures.

    python -m benchmarks.push_edge SUBSCRIPTIONS [CONNECTIONS]

One virtual edge holds `SUBSCRIPTIONS` questions `r0`, `r1`, ... that every publication changes the answer of. Without
CONNECTIONS, which is how many it serves, its limits are those of any edge, and it also holds `wide`, a DISTINCT of `WIDE`
values of which every publication exchanges one. Commands come in on standard input, one a line, and are answered by one
line of JSON each:

    step N    a batch of N publications: applied, "committed", pushed; their values are microseconds of the monotonic
              clock of this machine when the batch came, counted up by one
    progress  a batch without publications
    state     resident memory, CPU seconds of this process, readers
    quiet N   a batch of N publications with nobody listening (`committed` is timed alone)
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil

from catalog.query.channel import channel_of
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.http.app import Edge, edge_app
from connectors.http.rules import HttpRules
from connectors.http.server import HttpServer
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.answer import Members, apart
from operators.control import Control, EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers, Messages
from operators.packed import Header, pack_messages, pack_snapshot
from overlay.index.subscription_index import warm
from overlay.machine.virtual_edge import VirtualEdge
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import RUNNING, EdgeAnswers
from overlay.process.lasting_objects import settle
from overlay.process.ownership import Ownership
from overlay.push.board import PushBoard
from state.byte_runs import RECORD_BYTES
from state.causes import Causes

TOPICS = Topics()
NUMBER = ColumnType(Kind.BIGINT)
TABLE = Relation("t", (Column("k", NUMBER, False), Column("v", NUMBER)), ("k",), "t")
CHANNELS = [channel_of("t", "min", "v", (), None), channel_of("t", "distinct", "v", (), None)]
WIDE = 50_000
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class PushEdge:
    """The edge. The thread that calls it is the edge's; HTTP has its own."""

    def __init__(self, subscriptions: int, connections: int | None) -> None:
        self._edge = VirtualEdge(0, 1, TOPICS, lambda version: Catalog(version, {"t": TABLE}))
        self._view = CommittedView()
        answers = EdgeAnswers(self._view, Ownership(list, TOPICS.subscriptions))
        rules = (
            HttpRules() if connections is None else HttpRules(connections=connections, address_connections=connections)
        )
        self.board = PushBoard(TOPICS, rules, answers.look, answers.epoch)
        self.board.partitions = 1
        self._batch, self._last = -1, 0
        self._oldest = 0
        self._wide = connections is None
        self._subscribe(subscriptions)
        answers.serve(SimpleNamespace(edges={0: self._edge}), 1, "here:1")  # type: ignore[arg-type]
        answers.state = RUNNING
        self.server = HttpServer(edge_app(Edge(answers, self.board), rules), rules=rules)

    def _subscribe(self, count: int) -> None:
        self._control(EpochBegins(0, 0))
        self._control(RegisterAll(0, 0))
        for i in range(count):
            self._edge.subscription(i, b"r%d" % i, b'{"sql":"SELECT MIN(v) FROM t"}')
        pieces = apart((Members(tuple(range(WIDE))),), RECORD_BYTES) if self._wide else []
        if pieces:
            self._edge.subscription(count, b"wide", b'{"sql":"SELECT DISTINCT v FROM t"}')
        self._edge.take()
        versions = np.concatenate([np.arange(count), np.full(len(pieces), count)])
        answers = Answers(
            np.zeros(len(versions), np.int64), versions < count, {count + i: piece for i, piece in enumerate(pieces)}
        )
        header = Header("snapshot", 0, "t/0", 0, chunk=0, of=1)
        self._edge.notification(0, b"t/0", pack_snapshot(header, versions, answers))
        self._finish()

    def step(self, publications: int) -> dict[str, Any]:
        """Apply a batch, commit it, push it."""
        began = time.monotonic()
        with self._view.changing():
            self._chunk(publications, int(began * 1e6))
            records = self._finish()
            self.board.committed(records)
        return {"deliveries": len(records), "ms": (time.monotonic() - began) * 1e3, "last": self._last}

    def quiet(self, publications: int) -> dict[str, Any]:
        """Apply a batch, and time only what pushing adds to it."""
        self._chunk(publications, int(time.monotonic() * 1e6))
        records = self._finish()
        began = time.perf_counter()
        self.board.committed(records)
        return {"deliveries": len(records), "ns": (time.perf_counter() - began) * 1e9}

    def state(self) -> dict[str, Any]:
        """Return what the process takes."""
        process = psutil.Process()
        times = process.cpu_times()
        return {"rss": process.memory_info().rss, "cpu": times.user + times.system, "readers": self.board.readers}

    def _chunk(self, count: int, stamp: int) -> None:
        if not count:
            return
        new, at = np.arange(stamp, stamp + count), np.arange(count, dtype=np.int64)
        self._last = int(new[-1])
        kinds = [(0, 0, np.zeros(count, np.int64), new)]
        if self._wide:
            gone = np.arange(self._oldest, self._oldest + count)
            kinds += [(1, -1, gone, np.zeros(count, np.int64)), (1, 1, np.zeros(count, np.int64), new)]
            self._oldest += count
        cause = np.tile(np.arange(count, dtype=np.int32), len(kinds))
        channel = np.repeat(np.array([kind[0] for kind in kinds], np.int32), count)
        rows = np.repeat(np.array([kind[1] for kind in kinds], np.int64), count)
        old, new = (np.concatenate([kind[which] for kind in kinds]) for which in (2, 3))
        order = np.argsort(cause, kind="stable")
        lowest, highest = np.full(len(cause), LOWEST, np.int64), np.full(len(cause), HIGHEST, np.int64)
        messages = Messages(
            CHANNELS, [b"[]"], cause[order], channel[order], np.zeros(len(cause), np.int32), rows[order],
            old[order], rows[order] < 0, new[order], rows[order] >= 0, lowest, highest, lowest, highest,
        )  # fmt: skip
        zeros = np.zeros(count, np.int32)
        header, causes = Header("messages", 0, "t/0", self._batch + 1), Causes(["t"], zeros, zeros, at)
        self._edge.notification(0, b"t/0", pack_messages(header, messages, np.arange(len(cause)), causes))

    def _finish(self) -> Sequence[OutRecord]:
        self._batch += 1
        self._control(Progress(0, self._batch, 0, "2026-03-01T00:00:00"))
        return self._edge.take()

    def _control(self, record: Control) -> None:
        self._edge.notification(0, b"@control", encode_control(record))


def main() -> None:
    """Serve commands until standard input ends."""
    warm()
    settle()
    edge = PushEdge(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
    print(json.dumps({"host": edge.server.host, "port": edge.server.port}), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "step":
            said = edge.step(int(rest[0]))
        elif word == "quiet":
            said = edge.quiet(int(rest[0]))
        else:
            said = edge.step(0) if word == "progress" else edge.state()
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
