"""Run a scenario against an engine and tell which expectation fails first."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import msgspec

from state.errors import TidewireError
from tidewire.raw_record import RawRecord
from tidewire.scenario.engine import ScenarioEngine
from tidewire.scenario.script import Json, Scenario, ScenarioError, Step
from tidewire.scenario.subscriber import Subscriber


class Failure(msgspec.Struct):
    """The step that did not hold: its line in the file, what was expected and what came."""

    file: str
    step: str
    expected: Json
    got: Json


class Skipped(Exception):
    """The scenario needs something that this version does not support."""


@dataclass
class _Run:
    engine: ScenarioEngine
    path: Path
    subscribers: dict[str, Subscriber] = field(default_factory=dict)


def run_scenario(path: Path, scenario: Scenario, engine: ScenarioEngine) -> Failure | None:
    """Run all steps; return the first failure, or None.

    Raises Skipped where a subscription is refused with `unsupported_type`.
    """
    run = _Run(engine, path)
    for line, step in scenario.steps:
        where = f"line {line}: {step.verb} {getattr(step, step.verb) if step.verb != 'catalog' else ''}".rstrip()
        try:
            wrong = _VERBS[step.verb](run, step)
        except TidewireError as error:
            return Failure(str(path), where, "the step succeeds", str(error))
        if wrong is not None:
            return Failure(str(path), where, wrong[0], wrong[1])
    return None


_DECIMAL = re.compile(r"-?\d+(\.\d+)?")
_Wrong = tuple[Json, Json] | None


def _catalog(run: _Run, step: Step) -> _Wrong:
    run.engine.declare(step.catalog or "")
    return None


def _publish(run: _Run, step: Step) -> _Wrong:
    if step.rows:
        run.engine.publish(step.publish or "", step.rows)
    if step.delete:
        run.engine.delete(step.publish or "", step.delete)
    if step.raw:
        run.engine.publish_raw(step.publish or "", [_pair(record) for record in step.raw])
    return None


def _pair(record: RawRecord) -> tuple[bytes | None, bytes | None]:
    try:
        return record.pair()
    except ValueError as error:
        raise ScenarioError(f"a raw record cannot be read: {error}; see docs/scenarios.md") from None


def _subscribe(run: _Run, step: Step) -> _Wrong:
    name = step.subscribe or ""
    refusal = run.engine.subscribe(name, step.sql or "")
    if step.refused:
        return None if refusal else ("a refusal with a reason", "accepted")
    if refusal is not None:
        if refusal.code == "unsupported_type":
            raise Skipped(f"{name}: {refusal.message}")
        return "accepted", f"refused ({refusal.code}): {refusal.message}"
    run.subscribers.setdefault(name, Subscriber())
    return None


def _unsubscribe(run: _Run, step: Step) -> _Wrong:
    run.engine.unsubscribe(step.unsubscribe or "")
    return None


def _expect(run: _Run, step: Step) -> _Wrong:
    subscriber = run.subscribers.setdefault(step.expect or "", Subscriber())
    for delivery in run.engine.deliveries(step.expect or ""):
        subscriber.take(delivery)
    if subscriber.fault:
        return "deliveries that follow one another", subscriber.fault
    if not subscriber.live:
        return {"rows": step.rows}, "no live subscription"
    count = subscriber.counted()
    rows = subscriber.rows
    if not _same_bag(rows, step.rows or []) or (step.notified is not None and step.notified != count):
        expected = {"rows": step.rows} | ({} if step.notified is None else {"notified": step.notified})
        return expected, {"rows": rows, "notified": count}
    return None


def _restart(run: _Run, step: Step) -> _Wrong:
    run.engine.restart()
    return None


def _same_bag(got: list[Json], expected: list[Json]) -> bool:
    """Whether there are the same rows, each as often, in any order."""
    left = list(got)
    for row in expected:
        place = next((i for i, other in enumerate(left) if _same(other, row)), None)
        if place is None:
            return False
        del left[place]
    return not left


def _same(got: Json, expected: Json) -> bool:
    """Equal as JSON: true is not 1, but 2.0 is 2, and as DECIMALs "2.50" is "2.5"; fractions within 1e-12 of them."""
    if isinstance(got, list) and isinstance(expected, list):
        return len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(got, str) and isinstance(expected, str) and _DECIMAL.fullmatch(got) and _DECIMAL.fullmatch(expected):
        return Decimal(got) == Decimal(expected)
    if isinstance(got, float) and isinstance(expected, int | float) and not isinstance(expected, bool):
        return math.isclose(got, expected, rel_tol=1e-12)
    return bool(isinstance(got, bool) == isinstance(expected, bool) and got == expected)


_VERBS = {
    "catalog": _catalog,
    "publish": _publish,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "expect": _expect,
    "restart": _restart,
}
