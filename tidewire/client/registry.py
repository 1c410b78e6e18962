"""Which subscriptions are registered, put together from the topics `subscriptions`, `acks` and `deliveries`.

One virtual edge after the other, so that what is held in memory is a virtual edge's share of them, or if only the
first few are wanted, those.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from connectors.json.reader import UnreadableJson, read_json
from connectors.kafka.partitioner import home_partition
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.packed_deliveries import PACKED_KEY
from tidewire.client.records import Ack, Answer, Delivery, Row, read_ack

_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Registered(msgspec.Struct):
    """One registered subscription. `status` is live, accepted, refused, or `unanswered` where no edge has spoken.

    `version` and `query` are those of the newest record, `live_version` of what delivers now: they differ while a
    replacement is on its way, or was refused. `answer` is the newest delivered, None as well where none was read, or
    not all of it.
    """

    id: str
    status: str
    version: int
    query: str
    live_version: int | None = None
    n: int | None = None
    answer: Answer | list[Row] = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """Reads what is registered: those whose id or query contains `search`, in whatever case.

    `answers`: read deliveries, too, for the newest answer of each.
    """

    reader: Reader
    topics: Topics
    search: str = ""
    answers: bool = True

    def all(self) -> Iterator[Registered]:
        """Yield all, virtual edge after virtual edge, within one by id. *Cost*: reads the topics whole."""
        for edge in self._edges():
            found = self._registered(edge)
            self._add_states(edge, found)
            yield from (found[id] for id in sorted(found))

    def first(self, limit: int) -> tuple[list[Registered], int]:
        """Return the first `limit` by id, and how many there are. *Cost*: acks and deliveries only of their edges."""
        count, chosen = 0, list[tuple[str, int, Registered]]()
        for edge in self._edges():
            found = self._registered(edge)
            count += len(found)
            mine = ((id, edge, one) for id, one in found.items())
            chosen = heapq.nsmallest(limit, [*chosen, *mine], key=lambda entry: entry[:2])
        for edge in sorted({edge for _, edge, _ in chosen}):
            self._add_states(edge, {id: one for id, home, one in chosen if home == edge})
        return [one for _, _, one in chosen], count

    def find(self, id: str) -> Registered | None:
        """Return the subscription `id`, None where nobody asked for it or it was unsubscribed.

        One that has ended by itself is there with the status `ended`, and why, as long as its record is kept.
        *Cost*: reads `subscriptions` and `acks` of its virtual edge, 5 us a record.
        """
        key, newest = id.encode(), None
        home = home_partition(key, len(self._edges()))
        for record in self.reader.read_to_end(self.topics.subscriptions, [home]):
            if record.key == key:
                newest = record
        if newest is None or newest.value is None:
            return None
        found = Registered(id, "unanswered", newest.offset, query_text(newest.value))
        for record in self.reader.read_to_end(self.topics.acks, [home]):
            if record.key == key and record.value is not None:
                _acknowledge(found, read_ack(record.value))
        return found

    def _edges(self) -> range:
        return range(self.reader.admin.partitions(self.topics.subscriptions))

    def _registered(self, edge: int) -> dict[str, Registered]:
        found: dict[str, Registered] = {}
        wanted = self.search.casefold()
        for record in self.reader.read_to_end(self.topics.subscriptions, [edge]):
            id = (record.key or b"").decode(errors="replace")
            query = None if record.value is None else query_text(record.value)
            if query is not None and (wanted in id.casefold() or wanted in query.casefold()):
                found[id] = Registered(id, "unanswered", record.offset, query)
            else:
                found.pop(id, None)
        return found

    def _add_states(self, edge: int, found: dict[str, Registered]) -> None:
        if not found:
            return
        for record in self.reader.read_to_end(self.topics.acks, [edge]):
            ack = read_ack(record.value) if record.value is not None else None
            if ack is not None and ack.id in found:
                _acknowledge(found[ack.id], ack)
        if self.answers:
            self._add_answers(edge, found)

    def _add_answers(self, edge: int, found: dict[str, Registered]) -> None:
        keys = {PACKED_KEY, *(id.encode() for id in found)}
        deliveries, held = DeliveryReader(), dict[str, HeldAnswer]()
        for record in self.reader.read_to_end(self.topics.deliveries, [edge]):
            if record.key not in keys or record.value is None:
                continue
            for told in deliveries.read(record.key, record.value):
                if isinstance(told, Delivery) and told.kind != "ended" and told.id in found:
                    _tell(found[told.id], held.setdefault(told.id, HeldAnswer()), told)
        for id, answer in held.items():
            found[id].answer = answer.answer


def query_text(value: bytes) -> str:
    """Return the query of a subscription record as a person reads it; the bytes themselves if it is none."""
    try:
        body = read_json(value)
        if "template" in body:
            return f"{body['template']}  {_ENCODER.encode(body.get('params', [])).decode()}"
        return str(body["sql"])
    except (UnreadableJson, KeyError, TypeError):
        return repr(value[:200])


def _acknowledge(one: Registered, ack: Ack) -> None:
    if ack.status == "live":
        one.live_version = ack.version
    if ack.version == one.version:
        one.status = ack.status
        one.reason = ack.message or ack.reason


def _tell(one: Registered, held: HeldAnswer, told: Delivery) -> None:
    one.live_version, one.n = told.version, told.n
    held.take(told)
