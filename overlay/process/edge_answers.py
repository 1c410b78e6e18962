"""What an edge tells over HTTP: answers as they are committed, and how it is doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import msgspec

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.kafka.partitioner import home_partition
from overlay.machine.subscription_view import SubscriptionView
from overlay.process.committed_view import CommittedView
from overlay.process.large_answers import LargeAnswers
from overlay.process.owned_edges import OwnedEdges
from overlay.process.ownership import Ownership

RUNNING = "running"


@dataclass(slots=True)
class StepCounters:
    """What this process has done since it started. `aborted`: steps that were thrown away and done again."""

    consumed: int = 0
    written: int = 0
    transactions: int = 0
    aborted: int = 0
    snapshots: int = 0


class EdgeAnswers:
    """Reads the edge's memory through its committed view.

    `state` says in words what the edge is doing, `readers` counts the streams that are open, and
    `processes` tells how the processes of the edge's stack are.
    """

    def __init__(self, view: CommittedView, ownership: Ownership) -> None:
        self.state = "starting"
        self.counters = StepCounters()
        self.readers: Callable[[], int] = int
        self.processes: Callable[[], Sequence[Mapping[str, object]]] = tuple
        self._view = view
        self._large = LargeAnswers(lambda: view.steps)
        self._ownership = ownership
        self._owned: OwnedEdges | None = None
        self._partitions = 0
        self._address = ""

    def serve(self, owned: OwnedEdges, partitions: int, address: str) -> None:
        """Answer from `owned`, for the edge that others know as `address`."""
        self._owned, self._partitions, self._address = owned, partitions, address

    @property
    def virtual_edges(self) -> set[int]:
        """The numbers of the virtual edges that are here now."""
        return set(self._owned.edges) if self._owned is not None else set()

    def epoch(self) -> int:
        """Return the newest epoch that a virtual edge here has made progress in, -1 if none has."""
        edges = self._owned.edges.values() if self._owned is not None else ()
        return max((edge.position.epoch for edge in edges if edge.position is not None), default=-1)

    def subscription(self, identifier: str) -> Answer:
        """Return the current answer of a subscription, or where it is."""
        return self.look([identifier])[0]

    def look(self, identifiers: Sequence[str]) -> list[Answer]:
        """Return the current answers of subscriptions, or where they are. Raises EdgeBusy.

        Each holds between two steps; of many the last may be some steps newer than the first. Who asks for the same
        large one between the same two steps is given the same object.
        """
        if self._owned is None:
            return [NotNow(f"the edge is {self.state}")] * len(identifiers)
        find = partial(self._large.find, find=self.find)
        found = self._view.read_each(find, [identifier.encode() for identifier in identifiers])
        return [
            answer or self._elsewhere(home_partition(identifier.encode(), self._partitions))
            for identifier, answer in zip(identifiers, found, strict=True)
        ]

    def find(self, key: bytes) -> Found | Unknown | None:
        """Return a subscription, None if its virtual edge is not here. For the edge's thread, or within `read`."""
        edge = self._owned.edges.get(home_partition(key, self._partitions)) if self._owned is not None else None
        if edge is None:
            return None
        view = edge.find(key)
        return Unknown() if view is None else Found(_body(view), len(view.text))

    def health(self) -> tuple[bool, Mapping[str, object]]:
        """Return whether the edge serves, and what it owns, holds and has counted, and of its stack."""
        body: dict[str, object] = {"state": self.state, "address": self._address, "readers": self.readers()}
        body |= asdict(self.counters)
        if processes := self.processes():
            body["processes"] = processes
        if self._owned is not None:
            described = self._view.read_each(self._describe, sorted(self._owned.edges))
            body["virtual_edges"] = {number: edge for one in described for number, edge in one.items()}
        return self.state == RUNNING, body

    def _describe(self, number: int) -> dict[str, object]:
        """Return what there is to say of a virtual edge, by its number; nothing if it has just gone."""
        edge = self._owned.edges.get(number) if self._owned is not None else None
        if edge is None:
            return {}
        body = {"at": edge.position, "catalog": edge.catalog_version, **edge.counts, **asdict(edge.counters)}
        if filters := edge.filters:
            figures = {table: one._asdict() for table, one in filters.items()}
            body |= {"filters": figures, "largest_bag": edge.largest_bag}
        if (window := edge.window)["rows"]:
            body["window"] = window
        if wanted := edge.cells_wanted():
            body["cells_wanted"] = sorted(wanted)
        return {str(number): body}

    def _elsewhere(self, virtual_edge: int) -> Answer:
        address = self._ownership.address(virtual_edge)
        if address is None or address == self._address:
            return NotNow(f"virtual edge {virtual_edge} is moving between edges")
        return Elsewhere(address)


def _body(view: SubscriptionView) -> dict[str, object]:
    body: dict[str, object] = {
        "id": view.id,
        "status": view.status,
        "version": view.version,
        "n": view.n,
    }
    if view.form is not None:
        body |= {"form": view.form, "columns": view.columns} | ({"key": view.key} if view.key else {})
    if view.rows is None:
        body["answer"] = msgspec.Raw(view.text.encode())
    else:
        body |= {"rows": view.rows} | ({} if view.snapshot is None else {"snapshot": view.snapshot})
    body |= {"at": view.at, "sql": view.sql}
    if view.certainty:
        body |= {"certainty": view.certainty} | ({"final_at": view.final_at} if view.final_at else {})
    if view.replaced_by is not None:
        body["replaced_by"] = view.replaced_by
    return body
