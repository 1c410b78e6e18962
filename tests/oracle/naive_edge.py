"""The twin of a virtual edge: told what happened to the data, it says what each subscriber must hear.

It sees no messages: a batch comes as row states before and after each publication, and every live subscription's answer
is recomputed. What it emits are decoded deliveries and acks by id.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from catalog.relation import Catalog
from catalog.shape import Region
from tests.oracle.naive_shard import Taken, answer


@dataclass(frozen=True)
class Wanted:
    """A question as the test writes it. `region` is None where it is refused with `code`, whatever the catalog."""

    sql: str
    region: Region | None
    code: str = ""
    columns: tuple[str, ...] = ()


@dataclass
class Subscription:
    version: int
    wanted: Wanted
    region: Region
    value: int | None = None
    n: int = 0
    at: tuple[int, int] = (-1, -1)
    synced: bool = False


class NaiveEdge:
    def __init__(self) -> None:
        self.heard: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.acks: dict[str, list[tuple]] = defaultdict(list)
        self.live: dict[str, Subscription] = {}
        self.waiting: dict[str, Subscription] = {}
        self.held: list[tuple[int, str, Wanted]] = []
        self.catalog: Catalog | None = None
        self.epoch = -1
        self.applied: int | None = None
        self.position: tuple[int, int] | None = None
        self.registered = False

    def subscribe(self, version: int, name: str, wanted: Wanted) -> None:
        verdict = self._verdict(wanted)
        if verdict is None:
            self.held.append((version, name, wanted))
        elif verdict:
            self.acks[name].append((version, "refused", verdict))
        else:
            self._accept(version, name, wanted)

    def unsubscribe(self, version: int, name: str) -> None:
        if name in self.live:
            self._end(name, self.live.pop(name), "unsubscribed")
        if name in self.waiting:
            self._end(name, self.waiting.pop(name), "unsubscribed")
        for old, _, _ in [held for held in self.held if held[1] == name]:
            self.acks[name].append((old, "ended", "unsubscribed"))
        self.held = [held for held in self.held if held[1] != name]

    def settle(self) -> None:
        if self.catalog is None:
            return
        while self.held:
            version, name, wanted = self.held.pop(0)
            verdict = self._verdict(wanted, final=True)
            if verdict:
                self.acks[name].append((version, "refused", verdict))
            else:
                self._accept(version, name, wanted)

    def announce(self, catalog: Catalog) -> None:
        if self.catalog is not None and catalog.version <= self.catalog.version:
            return
        self.catalog = catalog
        for group in (self.live, self.waiting):
            for name, one in list(group.items()):
                relation = catalog.relations.get(one.region.shape.relation)
                if relation is None or relation.born != one.born:  # type: ignore[attr-defined]
                    self._end(name, group.pop(name), "table dropped")
        waiting, self.held = self.held, []
        for version, name, wanted in waiting:
            newest = max((one[name].version for one in (self.live, self.waiting) if name in one), default=-1)
            if newest < version:
                self.subscribe(version, name, wanted)

    def begin(self, epoch: int) -> None:
        self.epoch, self.applied, self.registered = epoch, None, False
        for one in self.live.values():
            one.synced = False

    def apply(self, batch: int, taken: list[Taken]) -> None:
        if self.applied is not None and batch <= self.applied:
            return
        for part in taken:
            for version, value in part.snapshots:
                self._snapshot(version, value, batch)
        for part in taken:
            for publication, before, after in part.steps:
                for name, one in self.live.items():
                    if one.synced and one.region.shape.relation == publication.relation:
                        old, new = answer(one.region, before), answer(one.region, after)
                        if old != new:
                            at = {"epoch": self.epoch, "batch": batch, "topic": publication.relation}
                            at |= {"partition": 0, "offset": publication.offset}
                            self._hear(name, one, "change", new, at)
        self.applied, self.position = batch, (self.epoch, batch)
        for one in self.live.values():
            if one.synced:
                one.at = self.position

    def _snapshot(self, version: int, value: int | None, batch: int) -> None:
        at = {"epoch": self.epoch, "batch": batch - 1}
        for name, one in list(self.waiting.items()):
            if one.version == version:
                self.live[name] = self.waiting.pop(name)
                one.synced = True
                self._hear(name, one, "snapshot", value, at)
                self.acks[name].append((version, "live", (self.epoch, batch - 1)))
        for name, one in self.live.items():
            if one.version == version and not one.synced:
                one.synced = True
                self._hear(name, one, "resync", value, at)

    def _hear(self, name: str, one: Subscription, kind: str, new: int | None, at: dict[str, Any]) -> None:
        one.n += kind != "resync" or new != one.value
        told = {"id": name, "kind": kind, "version": one.version, "n": one.n, "old": one.value, "new": new, "at": at}
        if kind == "snapshot":
            told["sql"] = one.wanted.sql
        self.heard[name].append(told)
        one.value = new

    def _end(self, name: str, one: Subscription, reason: str) -> None:
        if one.n:
            at = {"epoch": one.at[0], "batch": one.at[1]}
            told = {"id": name, "kind": "ended", "version": one.version, "n": one.n + 1, "old": one.value}
            self.heard[name].append(told | {"new": None, "at": at, "reason": reason})
        self.acks[name].append((one.version, "ended", reason))

    def _verdict(self, wanted: Wanted, final: bool = False) -> str | None:
        """Return "" (taken), a code (refused), or None (held back)."""
        if self.catalog is None:
            return None
        if wanted.region is None:
            return wanted.code
        relation = self.catalog.relations.get(wanted.region.shape.relation)
        code = "unknown_table"
        if relation is not None:
            code = "" if set(wanted.columns) <= {column.name for column in relation.columns} else "unknown_column"
        return code if final or not code else None

    def _accept(self, version: int, name: str, wanted: Wanted) -> None:
        self.held = [held for held in self.held if held[1] != name or held[0] > version]
        assert wanted.region is not None and self.catalog is not None
        one = Subscription(version, wanted, wanted.region)
        one.born = self.catalog.relations[wanted.region.shape.relation].born  # type: ignore[attr-defined]
        self.waiting[name] = one
        self.acks[name].append((version, "accepted", None))
