"""A scenario file: JSON lines, the first names it and what it needs, each further one is a step with one verb."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from connectors.json.reader import read_document, read_number
from state.errors import UserError
from tidewire.bulk.raw_record import RawRecord

Json = Any
"""A JSON value, read exactly: numbers with a point or an exponent are Decimal."""

SUPPORTED = frozenset(
    {
        *(f"range_{family}" for family in ("min", "max", "count", "sum", "avg", "distinct")),
        *(
            "filter",
            "filter_or",
            "bestk",
            "join",
            "join3",
            "view",
            "stream",
            "final",
            "region",
            "range_ends",
            "audience",
        ),
        *("raw", "debezium", "cdc"),
        *("group", "types", "nulls", "openrange", "move", "delete", "restart", "refuse", "buckets"),
    }
)


class ScenarioError(UserError):
    """A scenario file is not of the form that the documentation gives."""

    code = "scenario"


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One step; exactly one of the verbs `_VERBS`."""

    catalog: str | None = None
    publish: str | None = None
    rows: list[Json] | None = None
    delete: list[dict[str, Json]] | None = None
    raw: list[RawRecord] | None = None
    subscribe: str | None = None
    sql: str | None = None
    refused: bool = False
    unsubscribe: str | None = None
    expect: str | None = None
    notified: int | None = None
    ordered: bool = False
    restart: bool = False
    silence: str | None = None
    upto: str | None = None
    final: bool | None = None

    def check(self) -> None:
        """Raise ValueError if there is not exactly one verb, or a raw record cannot be read."""
        _ = self.verb
        for record in self.raw or ():
            record.pair()

    @property
    def verb(self) -> str:
        """The step's verb. Raises ValueError if there is not exactly one."""
        named = [verb for verb in _VERBS if getattr(self, verb)]
        if len(named) != 1:
            raise ValueError(f"a step has exactly one of {', '.join(_VERBS)}; found {named or 'none'}")
        return named[0]


_VERBS = ("catalog", "publish", "subscribe", "unsubscribe", "expect", "restart", "silence")


class _Title(msgspec.Struct):
    scenario: str
    about: str = ""
    needs: list[str] = []


_Form = TypeVar("_Form", _Title, Step)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A file as read: `steps` with their line numbers."""

    name: str
    about: str
    needs: frozenset[str]
    steps: list[tuple[int, Step]]

    @property
    def unsupported(self) -> frozenset[str]:
        """What the scenario needs and this version lacks."""
        return self.needs - SUPPORTED


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ScenarioError, with the line, if it is not of the form."""
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    except OSError as error:
        raise ScenarioError(f"cannot read scenario `{path}`: {error.strerror}; check the path") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise ScenarioError(f'scenario `{path}` is empty; its first line must be {{"scenario": NAME, "needs": [...]}}')
    number, line = numbered[0]
    title = _read(path, number, line, _Title)
    steps = [(number, _read(path, number, line, Step)) for number, line in numbered[1:]]
    return Scenario(title.scenario, title.about, frozenset(title.needs), steps)


def read_scenarios(paths: Iterable[Path]) -> tuple[list[tuple[Path, Scenario]], list[tuple[Path, ScenarioError]]]:
    """Read scenario files; return those that can be run, and those that are not of the form, with the reason."""
    good: list[tuple[Path, Scenario]] = []
    bad: list[tuple[Path, ScenarioError]] = []
    for path in paths:
        try:
            good.append((path, read_scenario(path)))
        except ScenarioError as error:
            bad.append((path, error))
    return good, bad


def _read(path: Path, number: int, line: bytes, form: type[_Form]) -> _Form:
    try:
        read_document(line)
        record: _Form = msgspec.json.Decoder(form, float_hook=read_number).decode(line)
        if isinstance(record, Step):
            record.check()
    except ValueError as error:
        raise ScenarioError(f"`{path}` line {number}: {error}; see docs/scenarios.md for the form of a step") from error
    return record
