"""What a scenario drives: the pure pipeline or the whole stack, through the same few verbs."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Protocol

from tidewire.scenario.script import Json


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a subscription was refused."""

    code: str
    message: str


class ScenarioEngine(Protocol):
    """Every call returns when its whole effect can be read from `deliveries`."""

    def declare(self, ddl: str) -> None:
        """Apply DDL. Raises UserError if it is refused."""
        ...

    def publish(self, table: str, rows: list[dict[str, Json]]) -> None:
        """Upsert rows in order."""
        ...

    def delete(self, table: str, keys: list[dict[str, Json]]) -> None:
        """Delete by primary key, in order."""
        ...

    def publish_raw(self, table: str, records: list[tuple[bytes | None, bytes | None]]) -> None:
        """Write records, as key and value, to a table's topic, in order."""
        ...

    def silence(self, stream: str, upto: dt.datetime) -> None:
        """Say that no more rows of a stream from before a time will come, behind all that was published."""
        ...

    def subscribe(self, subscription: str, sql: str) -> Refusal | None:
        """Register or replace a subscription; returns why it was refused, or None."""
        ...

    def unsubscribe(self, subscription: str) -> None:
        """End a subscription."""
        ...

    def restart(self) -> None:
        """Stop and start the engine."""
        ...

    def deliveries(self, subscription: str) -> list[dict[str, Json]]:
        """Take the deliveries to a subscription since the last call, in order."""
        ...
