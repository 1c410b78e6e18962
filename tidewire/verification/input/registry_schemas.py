"""The schemas that a registry told of the records of tables which leave theirs to it, and where it did not say."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.framing import framed_number
from tidewire.verification.records.journal import TopicLog
from tidewire.verification.schemas.registry import Registry, Silent
from tidewire.verification.schemas.schema_fault import NoSchema
from tidewire.verification.schemas.whole_schemas import whole_text

_PAUSE_SECONDS = 1.0


@dataclass(slots=True)
class Told:
    """`texts` are the schemas that are fit, by (format, number); `silences` by topic why records cannot be read."""

    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    silences: dict[str, str] = field(default_factory=dict)

    def silence(self, table: Table) -> str | None:
        """Return why the records of a table cannot be judged, if so."""
        why = self.silences.get(table.topic) if table.asks else None
        return None if why is None else f"table `{table.name}`: {why}"

    def listed_in(self, table: Table) -> Table:
        """Return the table as if it listed what the registry told."""
        if not table.asks:
            return table
        told = {n: text for (format, n), text in self.texts.items() if format == table.format}
        more = [(f"schema.{n}", text) for n, text in told.items() if n not in table.schemas]
        return replace(table, options=tuple(sorted((*table.options, *more))))


class Inquiry:
    """Asks about each number once, however often; None: there is no registry to be asked."""

    def __init__(self, registry: Registry | None) -> None:
        self._registry = registry
        self._texts: dict[tuple[str, int], str] = {}
        self._unknown: set[tuple[str, int]] = set()

    def ask(self, declared: Declared, logs: Mapping[str, TopicLog]) -> Told:
        """Ask about all that wrote records of `logs` and is not listed.

        *Cost*: a request a number and schema that it uses; what is unknown is asked again after a second: a registry's
        follower may be late.
        """
        told, wanted = Told(self._texts), list(_wanted(declared, logs))
        if self._ask(wanted, told):
            time.sleep(_PAUSE_SECONDS)
            self._unknown |= self._ask(wanted, told)
        return told

    def _ask(self, wanted: Iterable[tuple[str, tuple[str, int]]], told: Told) -> set[tuple[str, int]]:
        """Return what the registry does not know, or what is no fit schema."""
        unknown = set[tuple[str, int]]()
        for topic, place in wanted:
            if place in self._texts or place in self._unknown or place in unknown:
                continue
            try:
                self._texts[place] = self._text(*place)
            except NoSchema:
                unknown.add(place)
            except Silent as why:
                told.silences[topic] = str(why)
        return unknown

    def _text(self, format: str, number: int) -> str:
        if self._registry is None:
            raise Silent("its schemas are in a registry: set `registry` to its URL")
        return whole_text(self._registry, format, number)


def _wanted(declared: Declared, logs: Mapping[str, TopicLog]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield the topic and (format, number) of each schema that wrote records and is not listed."""
    tables = [table for table in declared.every() if table.asks and table.topic in logs]
    numbers = {topic: _numbers(logs[topic]) for topic in {table.topic for table in tables}}
    for table in tables:
        for number in sorted(numbers[table.topic] - table.schemas.keys()):
            yield table.topic, (table.format, number)


def _numbers(log: TopicLog) -> set[int]:
    found = {framed_number(data) for record in log.all() for data in (record.key, record.value)}
    return {number for number in found if number is not None}
