"""Takes subscriptions at an edge's door: writes them to the topic, and waits for what the edge says of them.

The record goes the way of all others, so what a person registers here is refused, kept, moved and restored like any
other; nothing is remembered here but whom to tell.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future

import msgspec

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.ack import WRONG_PARTITION
from overlay.process.edge_answers import EdgeAnswers
from overlay.push.board import PushBoard

ANSWER_SECONDS = 10.0
_SERVE_SECONDS = 0.1
_TRIES = 10_000


class SubscriptionGateway:
    """One edge's. A producer is made when the first subscription comes."""

    def __init__(self, kafka: KafkaProperties, topics: Topics, answers: EdgeAnswers, board: PushBoard) -> None:
        self._kafka = kafka
        self._topic = topics.subscriptions
        self._answers = answers
        self._board = board
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._unwritten = 0
        self._serving: asyncio.Task[None] | None = None

    async def submit(self, identifier: str | None, prefix: str, value: bytes) -> Mapping[str, object] | Answer:
        """Register; return the first acknowledgement, or `written` where none comes within 10 s.

        Raises KafkaFailure and EdgeBusy.
        """
        if not self._board.partitions:
            return NotNow("the edge is starting")
        name = identifier if identifier is not None else self._make_up(prefix)
        if name is None:
            return NotNow("this edge owns no virtual edge now")
        where = (await asyncio.to_thread(self._answers.look, [name]))[0]
        if isinstance(where, Elsewhere | NotNow):
            return where
        acks: asyncio.Queue[bytes] = asyncio.Queue()
        key, hear = name.encode(), acks.put_nowait
        self._board.await_acks(key, hear)
        try:
            version = await self._write(key, value)
            return await _first_ack(acks, version, {"id": name, "version": version, "status": "written"})
        finally:
            self._board.forget_acks(key, hear)

    async def withdraw(self, identifier: str) -> Answer:
        """Unsubscribe; return the answer that ends, or Unknown, Elsewhere, NotNow where none is known here.

        What is unknown is ended all the same: its record may be on its way to this edge. Raises KafkaFailure and
        EdgeBusy.
        """
        if not self._board.partitions:
            return NotNow("the edge is starting")
        where = (await asyncio.to_thread(self._answers.look, [identifier]))[0]
        if isinstance(where, Found | Unknown):
            await self._write(identifier.encode(), None)
        return where

    def _make_up(self, prefix: str) -> str | None:
        """Return a new id whose home is here, so that its stream is here as well."""
        mine = self._answers.virtual_edges
        for _ in range(_TRIES if mine else 0):
            name = f"{prefix}q-{secrets.token_hex(6)}"
            if home_partition(name.encode(), self._board.partitions) in mine:
                return name
        return None

    async def _write(self, key: bytes, value: bytes | None) -> int:
        """Return the offset of the record once the broker has it. Those who wait at the same time wait together."""
        offset = await asyncio.to_thread(self._send, OutRecord(self._topic, self._home(key), key, value))
        self._unwritten += 1
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        try:
            return await asyncio.wrap_future(offset)
        finally:
            self._unwritten -= 1

    def _send(self, record: OutRecord) -> Future[int]:
        with self._lock:
            if self._producer is None:
                self._producer = Producer(self._kafka, timeout=ANSWER_SECONDS, linger=0)
        return self._producer.write(record)

    async def _serve(self) -> None:
        """Let the producer tell what it has written for as long as anybody waits for it."""
        while self._unwritten and self._producer is not None:
            await asyncio.to_thread(self._producer.serve, _SERVE_SECONDS)

    def _home(self, key: bytes) -> int | None:
        return home_partition(key, self._board.partitions) if self._board.partitions else None


async def _first_ack(acks: asyncio.Queue[bytes], version: int, otherwise: Mapping[str, object]) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                ack: dict[str, object] = msgspec.json.decode(await acks.get())
                if ack["version"] == version and ack.get("code") != WRONG_PARTITION:
                    return ack
    except TimeoutError:
        return otherwise
