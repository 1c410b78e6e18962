"""A cluster whose topics are lists, and commands that are run against it as a user runs them; nothing is connected."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.kafka.failure import TopicUnknown
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from state.errors import UserError
from tidewire import cli
from tidewire.client import connection

ADDRESS = "127.0.0.1:1"
TOPICS = Topics()


class InMemory:
    """Reader, admin and client of topics that are lists by partition; `catalog` is in force."""

    def __init__(self, ddl: str = "", partitions: int = 2) -> None:
        self.declared = apply_ddl(Catalog(), ddl, 0) if ddl else Catalog()
        self.logs: dict[str, dict[int, list[KafkaRecord]]] = defaultdict(dict)
        self.ended: list[str] = []
        self.asked: list[tuple[Any, ...]] = []
        self.admin = self
        for name in [*(spec.name for spec in TOPICS.specs()), *(one.topic for one in self.declared.relations.values())]:
            self.logs[name] = {partition: [] for partition in range(partitions)}

    def write(self, topic: str, partition: int, key: bytes | None, value: bytes | None) -> None:
        log = self.logs[topic][partition]
        log.append(KafkaRecord(topic, partition, len(log), 1_772_323_200_000, key, value))

    # -- as a reader and an admin ---------------------------------------------------------------------------------

    def partitions(self, topic: str) -> int:
        if topic not in self.logs:
            raise TopicUnknown(f"the cluster does not have the topic `{topic}`.")
        return len(self.logs[topic])

    def topics(self) -> dict[str, int]:
        return {name: len(parts) for name, parts in self.logs.items()}

    def begin_offsets(self, topic: str) -> dict[int, int]:
        return dict.fromkeys(self.logs[topic], 0)

    def read_to_end(self, topic: str, partitions: Sequence[int] | None = None) -> Iterator[KafkaRecord]:
        for partition in partitions or sorted(self.logs[topic]):
            yield from self.logs[topic][partition]

    def tail(self, topic: str, start: Mapping[int, int] | None = None) -> Iterator[KafkaRecord | None]:
        """Yield what is there from `start` on; without it what is there came before. Then nothing comes any more."""
        yield None
        if start is not None:
            yield from self.read_to_end(topic)
        yield None

    # -- as a client ----------------------------------------------------------------------------------------------

    def __enter__(self) -> InMemory:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def catalog(self) -> Catalog:
        return self.declared

    def relation(self, name: str) -> Relation:
        if name not in self.declared.relations:
            raise UserError(f"there is no table `{name}`.")
        return self.declared.relations[name]

    def apply(self, ddl: str, timeout: float, **options: object) -> int:
        self.asked.append((ddl, timeout, options))
        version = self.declared.version + 1
        self.declared = apply_ddl(self.declared, ddl, version)
        return version

    def silence(self, stream: str, upto: dt.datetime, timeout: float) -> dict[int, int]:
        self.asked.append((stream, upto, timeout))
        return {0: 4, 1: 0}

    def unsubscribe(self, id: str) -> None:
        self.ended.append(id)


def connected(monkeypatch: pytest.MonkeyPatch, module: ModuleType, cluster: InMemory, **others: Any) -> None:
    """Let a command's module reach this cluster, by whatever it reaches one."""
    reached: dict[str, Any] = {"reach": lambda _: None, "open_client": lambda _: cluster}
    reached |= dict.fromkeys(("Reader", "Admin"), lambda *_: cluster) | others
    for name, stand_in in reached.items():
        if hasattr(module, name):
            monkeypatch.setattr(module, name, stand_in)


def run(*arguments: str) -> int:
    """Run a command that is told where the cluster is."""
    return cli.run([*arguments, "--bootstrap", ADDRESS])


class Refusals:
    """Runs commands that must be refused before anything is connected."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def of(self, *arguments: str, code: int = 2) -> str:
        """Return what is said of a command, in one line; nothing stands on standard output."""
        assert run(*arguments) == code
        out, err = self._capfd.readouterr()
        assert out == "" and "reached" not in err, err
        return " ".join(err.replace("│", " ").split())


def refusals(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path, module: ModuleType
) -> Refusals:
    """Return who runs a module's command in a folder of its own, where reaching a cluster is a fault."""

    def reach(_: object) -> None:
        raise AssertionError("reached")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(connection, "reach", reach)
    if hasattr(module, "reach"):
        monkeypatch.setattr(module, "reach", reach)
    return Refusals(capfd)
