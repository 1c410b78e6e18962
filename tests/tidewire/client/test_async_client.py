"""The client for asyncio: the same answers, calls side by side, and waits that lose nothing when cancelled."""

from __future__ import annotations

import asyncio
import inspect
import json
import time

import pytest

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tests.tidewire.client.test_client import delivery, write
from tidewire import AsyncClient, Client, Delivery
from tidewire.client.async_client import AsyncDeliveryStream
from tidewire.client.delivery_stream import DeliveryStream
from tidewire.client.records import At, Progress

ONE, TWO, THREE = (Delivery("s", "change", 0, n, At(1, 0)) for n in (1, 2, 3))


class Polled:
    """Gives its portions out, one a poll; each takes 50 ms."""

    def __init__(self, *portions: list[Delivery | Progress]) -> None:
        self.portions = list(portions)
        self.closed = False

    def poll(self, timeout: float = 0.2) -> list[Delivery | Progress]:
        time.sleep(0.05)
        return self.portions.pop(0) if self.portions else []

    def close(self) -> None:
        self.closed = True


def stream(polled: Polled) -> AsyncDeliveryStream:
    def opened() -> DeliveryStream:
        return polled  # type: ignore[return-value]

    return AsyncDeliveryStream(opened, follow=True)


def test_it_has_the_same_names_and_arguments() -> None:
    def public(cls: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(cls, inspect.isfunction)
            if not name.startswith("_")
        }

    assert public(AsyncClient) == public(Client)


def test_deliveries_come_in_order() -> None:
    polled = Polled([ONE], [], [TWO, THREE])

    async def scene() -> None:
        async with stream(polled) as deliveries:
            assert [await anext(deliveries) for _ in range(3)] == [ONE, TWO, THREE]

    asyncio.run(scene())
    assert polled.closed


def test_a_cancelled_wait_loses_nothing() -> None:
    async def scene() -> None:
        async with stream(Polled([ONE], [TWO])) as deliveries:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(deliveries), 0.01)
            assert await anext(deliveries) == ONE
            assert await anext(deliveries) == TWO

    asyncio.run(scene())


@pytest.mark.broker
def test_against_a_broker(broker: str, topics: Topics, kafka: KafkaProperties) -> None:
    async def scene() -> None:
        async with AsyncClient(broker, topics.prefix) as client:
            write(kafka, delivery(topics, "s", n=1))
            async with client.deliveries(["s"]) as following:
                write(kafka, delivery(topics, "s", n=2, old=1, new=2))
                told = await asyncio.wait_for(anext(following), 20)
                assert isinstance(told, Delivery)
                assert (told.n, told.new) == (2, 2)
            async with client.deliveries(follow=False, from_beginning=True) as all_:
                assert [one.n async for one in all_ if isinstance(one, Delivery)] == [1, 2]
            newest, none, _ = await asyncio.gather(client.answer("s"), client.answer("x"), client.unsubscribe("s"))
            assert newest is not None
            assert (newest.n, none) == (2, None)
            keys = [record.key async for record in client.read(topics.subscriptions)]
            assert keys == [b"s"]
            assert json.loads(json.dumps(sorted((await client.catalog()).relations))) == []

    asyncio.run(scene())
