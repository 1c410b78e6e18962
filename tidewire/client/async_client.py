"""`AsyncClient`: the client for asyncio, name for name the same as `Client`.

    async with AsyncClient("localhost:9092") as client:
        await client.subscribe("cheapest", "SELECT MIN(price) FROM stock")
        async with client.deliveries(["cheapest"], from_beginning=True) as deliveries:
            async for delivery in deliveries:
                print(delivery.old, "->", delivery.new)

It is `Client` in threads: one implementation, and kafka-python, which waits for the network most of the time. Calls may
run side by side (`asyncio.gather`). A call that is cancelled may still have been carried out, as anywhere in Kafka.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import ParamSpec, TypeVar

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.types.column_type import JsonValue
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from tidewire.client.client import EMBEDDED_BROKER, Client
from tidewire.client.delivery_stream import DeliveryStream
from tidewire.client.records import Ack, Delivery, Progress

P = ParamSpec("P")
T = TypeVar("T")
_THREADS = 8
_CHUNK = 500


class AsyncClient:
    """A connection to one tidewire, for one event loop. See `Client` for what each call does, raises and costs."""

    def __init__(self, bootstrap: str = EMBEDDED_BROKER, prefix: str = "tw.", **kafka: object) -> None:
        """Take client properties in Kafka's own names. Nothing is connected yet."""
        self._client = Client(bootstrap, prefix, **kafka)
        self._pool = ThreadPoolExecutor(_THREADS, "tidewire-client")

    @property
    def topics(self) -> Topics:
        """The names of the topics."""
        return self._client.topics

    async def apply(
        self, ddl: str, timeout: float = 60.0, *, create_topics: bool = True, partitions: int | None = None
    ) -> int:
        """See `Client.apply`."""
        return await self._run(self._client.apply, ddl, timeout, create_topics=create_topics, partitions=partitions)

    async def publish(self, table: str, rows: Iterable[Mapping[str, object]]) -> int:
        """See `Client.publish`."""
        return await self._run(self._client.publish, table, rows)

    async def delete(self, table: str, keys: Iterable[object]) -> int:
        """See `Client.delete`."""
        return await self._run(self._client.delete, table, keys)

    async def silence(self, stream: str, upto: dt.datetime, timeout: float = 60.0) -> dict[int, int]:
        """See `Client.silence`."""
        return await self._run(self._client.silence, stream, upto, timeout)

    async def subscribe(
        self,
        id: str,
        sql: str | None = None,
        *,
        template: str | None = None,
        params: Sequence[JsonValue] = (),
        notify: str | None = None,
        ttl: int | None = None,
        deliver: str | None = None,
        attributes: Mapping[str, JsonValue] | None = None,
        timeout: float = 60.0,
    ) -> Ack:
        """See `Client.subscribe`."""
        call = partial(self._client.subscribe, id, sql, template=template, params=params)
        return await self._run(call, notify=notify, ttl=ttl, deliver=deliver, attributes=attributes, timeout=timeout)

    async def subscribe_all(self, queries: Mapping[str, str | bytes], timeout: float = 60.0) -> dict[str, Ack]:
        """See `Client.subscribe_all`."""
        return await self._run(self._client.subscribe_all, queries, timeout)

    async def unsubscribe(self, id: str) -> None:
        """See `Client.unsubscribe`."""
        await self._run(self._client.unsubscribe, id)

    def deliveries(
        self,
        ids: Iterable[str] | None = None,
        *,
        follow: bool = True,
        from_beginning: bool = False,
        progress: bool = False,
    ) -> AsyncDeliveryStream:
        """See `Client.deliveries`. The position is fixed when the stream is entered (`async with`)."""
        wanted = None if ids is None else list(ids)
        opened = partial(
            self._client.deliveries, wanted, follow=follow, from_beginning=from_beginning, progress=progress
        )
        return AsyncDeliveryStream(opened, follow)

    async def answer(self, id: str) -> Delivery | None:
        """See `Client.answer`."""
        return await self._run(self._client.answer, id)

    async def read(self, topic: str) -> AsyncIterator[KafkaRecord]:
        """See `Client.read`."""
        records = self._client.read(topic)
        while chunk := await self._run(list, islice(records, _CHUNK)):
            for record in chunk:
                yield record

    async def catalog(self) -> Catalog:
        """See `Client.catalog`."""
        return await self._run(self._client.catalog)

    async def relation(self, table: str) -> Relation:
        """See `Client.relation`."""
        return await self._run(self._client.relation, table)

    async def close(self) -> None:
        """Flush and leave the broker."""
        await self._run(self._client.close)
        self._pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(call, *args, **kwargs))


class AsyncDeliveryStream:
    """Iterate with `async for`, best within `async with`. One thread of its own, while it is open.

    A wait that is cancelled loses nothing: what came meanwhile is given next.
    """

    def __init__(self, opened: Callable[[], DeliveryStream], follow: bool) -> None:
        self._opened = opened
        self._follow = follow
        self._pool = ThreadPoolExecutor(1, "tidewire-deliveries")
        self._stream: DeliveryStream | None = None
        self._waiting: deque[Delivery | Progress] = deque()
        self._polling: asyncio.Future[list[Delivery | Progress]] | None = None

    async def open(self) -> None:
        """Connect and fix the position, unless that was done."""
        if self._stream is None:
            self._stream = await asyncio.get_running_loop().run_in_executor(self._pool, self._opened)

    def __aiter__(self) -> AsyncDeliveryStream:
        return self

    async def __anext__(self) -> Delivery | Progress:
        while not self._waiting:
            came = await self._poll()
            if not came and not self._follow:
                raise StopAsyncIteration
            self._waiting.extend(came)
        return self._waiting.popleft()

    async def close(self) -> None:
        """Leave the broker; waits for a poll that is under way (0.2 s)."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await asyncio.get_running_loop().run_in_executor(self._pool, stream.close)
        self._pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncDeliveryStream:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _poll(self) -> list[Delivery | Progress]:
        await self.open()
        if self._polling is None:
            self._polling = asyncio.get_running_loop().run_in_executor(self._pool, self._take)
        came = await asyncio.shield(self._polling)
        self._polling = None
        return came

    def _take(self) -> list[Delivery | Progress]:
        assert self._stream is not None, "it is open"
        return self._stream.poll() if self._follow else list(islice(self._stream, _CHUNK))
