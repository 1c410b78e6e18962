"""A population against what its records say, read as an edge would."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

from connectors.record import OutRecord
from tests.soak.population import Population, ttl_of


class Edge:
    """Which ids stand, as the records say, and until when."""

    def __init__(self) -> None:
        self.standing: dict[bytes, float] = {}

    def take(self, records: Iterable[OutRecord], now: float) -> None:
        for record in records:
            if record.value is None:
                del self.standing[record.key]
            else:
                self.standing[record.key] = now + (ttl_of(json.loads(record.value)) or 10**9)

    def expire(self, now: float) -> None:
        self.standing = {id: until for id, until in self.standing.items() if until > now}


def test_as_many_stand_as_were_asked_for_whatever_ends() -> None:
    choose = random.Random(5)
    population = Population(
        "s",
        200,
        5,
        lambda: {"sql": "SELECT 1" + choose.choice(["", " TTL 20 SECONDS"]), "ttl": choose.choice([30, None])},
    )
    edge = Edge()
    edge.take(population.first(0.0), 0.0)
    for second in range(1, 120):
        edge.expire(second - 5.0)
        edge.take(population.step(float(second), 7), float(second))
        assert len(population) == len(edge.standing) == 200
    assert population.counts["replaced"] + population.counts["ended"] == 7 * 119
    assert population.counts["came"] == 200 + population.counts["ended"] + population.counts["expired"]
    assert population.counts["expired"] > 200


def test_ids_come_again() -> None:
    population = Population("s", 8, 1, lambda: {"sql": "SELECT 1"})
    first = [record.key for record in population.first(0.0)]
    later = [record.key for second in range(100) for record in population.step(float(second), 2)]
    assert len(set(first)) == 8 and len({*first, *later}) <= 11
