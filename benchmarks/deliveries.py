"""How fast an edge tells one publication to 100,000 subscriptions, by form of delivery; and what a reader pays.

    python -m benchmarks --only deliveries

One virtual edge has 100,000 live subscriptions to the minimum of one column; each batch brings one message that changes
all of their answers. `edge`: from the message to records that are ready to be written. `broker`: the same, and
committed to an embedded broker as edges do it, deliveries and state in one transaction. `reader`: bytes to `Delivery`
objects, as `Client` does it. All are deliveries per second; the first and the last of processor time of one thread, the
broker's of wall time, all medians of several batches.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.edge_cost import CHANNEL, STOCK, TOPICS, control
from catalog.schema.catalog import Catalog
from connectors.kafka.admin import Admin, Place
from connectors.kafka.group import GroupConsumer
from connectors.kafka.producer import TransactionalProducer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from operators.control import EpochBegins, Progress, RegisterAll
from operators.operator import Answers, Messages
from operators.packed import Header, pack_messages, pack_snapshot
from overlay.index.subscription_index import warm
from overlay.machine.virtual_edge import VirtualEdge
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from tidewire.client.delivery_reader import DeliveryReader

COUNT = 100_000
BATCHES = 5
FORMS = ("records", "packed")


def subscribed(form: str, count: int = COUNT) -> VirtualEdge:
    """Return an edge with `count` live subscriptions that all ask the same."""
    edge = VirtualEdge(0, 1, TOPICS, lambda version: Catalog(version, {"stock": STOCK}))
    control(edge, EpochBegins(0, 0))
    control(edge, RegisterAll(0, 0))
    value = b'{"sql":"SELECT MIN(price) FROM stock WHERE x >= 1 DELIVER %s"}' % form.encode()
    edge.subscribe_all(range(count), [b"person-%07d" % i for i in range(count)], [value] * count)
    edge.take()
    header = Header("snapshot", 0, "stock/0", 0, chunk=0, of=1)
    answers = Answers(np.zeros(count, np.int64), np.ones(count, np.bool_), {})
    edge.notification(0, b"stock/0", pack_snapshot(header, np.arange(count), answers))
    control(edge, Progress(0, 0, 0, "t"))
    edge.take()
    return edge


def told(edge: VirtualEdge, batch: int) -> list[OutRecord]:
    """Return what an edge writes when one message changes all answers."""
    zero, nothing, known = np.zeros(1, np.int32), np.zeros(1, np.int64), np.ones(1, np.bool_)
    low, high = np.full(1, INT64_MIN), np.full(1, INT64_MAX)
    message = Messages(
        [CHANNEL], [b"[]"], zero, zero, zero, nothing, nothing, ~known, nothing + batch, known, low, high, low, high
    )
    header, causes = Header("messages", 0, "stock/0", batch), Causes(["stock"], zero, zero, nothing + batch)
    edge.notification(0, b"stock/0", pack_messages(header, message, nothing + batch, causes))
    control(edge, Progress(0, batch, 0, "t"))
    return edge.take()


def per_second(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return COUNT / (clock() - began)


def read(records: Sequence[OutRecord]) -> int:
    """Return how many deliveries a client makes of records."""
    reader = DeliveryReader()
    return sum(1 for record in records for _ in reader.read(record.key, record.value or b""))


def _tell(edge: VirtualEdge, batch: int, made: list[OutRecord]) -> None:
    made.extend(told(edge, batch))


def in_memory(form: str) -> dict[str, Any]:
    """Measure edge and reader."""
    edge, rates, reading, size = subscribed(form), [], [], 0
    for batch in range(1, BATCHES + 1):
        made: list[OutRecord] = []
        rates.append(per_second(partial(_tell, edge, batch, made), time.process_time))
        mine = [record for record in made if record.topic == TOPICS.deliveries]
        reading.append(per_second(partial(read, mine), time.process_time))
        assert read(mine) == COUNT + 1, "every subscription is told, and the progress"
        size = sum(len(record.value or b"") + len(record.key or b"") for record in mine)
    return {
        "edge": round(statistics.median(rates)),
        "reader": round(statistics.median(reading)),
        "bytes": round(size / COUNT, 1),
        "records": len(mine) - 1,
    }


def through_broker(kafka: KafkaProperties, form: str) -> float:
    """Measure from the message to the committed transaction."""
    consumed = [TOPICS.subscriptions, TOPICS.notifications]
    group = GroupConsumer(kafka, f"benchmark-{form}", consumed, "benchmark", 30.0)
    while not group.assignment.places:
        group.poll(0.1, 1)
    producer = TransactionalProducer(kafka, f"benchmark-{form}", 60.0)
    producer.prepare()
    edge, rates = subscribed(form), []
    for batch in range(1, BATCHES + 1):
        positions = {(TOPICS.notifications, 0): batch}

        def step(batch: int = batch, positions: dict[Place, int] = positions) -> None:
            producer.commit(told(edge, batch), positions, group.assignment.group)

        rates.append(per_second(step, time.monotonic))
    producer.close()
    group.close()
    return round(statistics.median(rates))


def measure(bench: Bench) -> dict[str, Any]:
    """Return the figures for `make bench`."""
    warm()
    figures: dict[str, Any] = {form: in_memory(form) for form in FORMS}
    with bench.broker() as broker:
        kafka = KafkaProperties(broker.bootstrap)
        Admin(kafka).ensure_topics(TOPICS, 1)
        for form in FORMS:
            figures[form]["broker"] = through_broker(kafka, form)
    for name in ("edge", "broker", "reader"):
        figures[f"{name}_packed_over_records"] = round(figures["packed"][name] / figures["records"][name], 1)
    return {"deliveries_100k": figures}
