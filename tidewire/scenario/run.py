"""Run a scenario against an engine and tell which expectation fails first."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.types.column_type import ColumnType, Kind
from catalog.types.value import from_json
from state.errors import TidewireError
from tidewire.scenario.engine import ScenarioEngine
from tidewire.scenario.same_answer import Same, columns_of, same_bag, same_list
from tidewire.scenario.script import Json, Scenario, Step
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
    """A scenario on its way: `columns` says of each subscription how its answers are compared."""

    engine: ScenarioEngine
    catalog: Catalog = field(default_factory=Catalog)
    subscribers: dict[str, Subscriber] = field(default_factory=dict)
    columns: dict[str, list[Same] | None] = field(default_factory=dict)


def run_scenario(path: Path, scenario: Scenario, engine: ScenarioEngine) -> Failure | None:
    """Run all steps; return the first failure, or None.

    Raises Skipped where a subscription is refused with `unsupported_type`.
    """
    run = _Run(engine)
    for line, step in scenario.steps:
        where = f"line {line}: {step.verb} {getattr(step, step.verb) if step.verb != 'catalog' else ''}".rstrip()
        try:
            wrong = _VERBS[step.verb](run, step)
        except TidewireError as error:
            return Failure(str(path), where, "the step succeeds", str(error))
        except Skipped:
            raise
        except Exception as error:
            return Failure(str(path), where, "the step succeeds", f"unforeseen {type(error).__name__}: {error}")
        if wrong is not None:
            return Failure(str(path), where, wrong[0], wrong[1])
    return None


_Wrong = tuple[Json, Json] | None


def _catalog(run: _Run, step: Step) -> _Wrong:
    ddl = step.catalog or ""
    run.engine.declare(ddl)
    run.catalog = apply_ddl(run.catalog, ddl, run.catalog.version + 1)
    return None


def _publish(run: _Run, step: Step) -> _Wrong:
    if step.rows:
        run.engine.publish(step.publish or "", step.rows)
    if step.delete:
        run.engine.delete(step.publish or "", step.delete)
    if step.raw:
        run.engine.publish_raw(step.publish or "", [record.pair() for record in step.raw])
    return None


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
    run.columns[name] = columns_of(run.catalog, step.sql or "")
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
    same = same_list if step.ordered else same_bag
    holds = same(rows, step.rows or [], run.columns.get(step.expect or ""))
    if not holds or (step.notified is not None and step.notified != count):
        expected = {"rows": step.rows} | ({} if step.notified is None else {"notified": step.notified})
        return expected, {"rows": rows, "notified": count}
    if step.final is not None and step.final != subscriber.final:
        return {"final": step.final}, {"final": subscriber.final}
    return None


def _silence(run: _Run, step: Step) -> _Wrong:
    upto = from_json(ColumnType(Kind.TIMESTAMP), step.upto)
    assert isinstance(upto, dt.datetime), "a TIMESTAMP is read as a datetime"
    run.engine.silence(step.silence or "", upto)
    return None


def _restart(run: _Run, step: Step) -> _Wrong:
    run.engine.restart()
    return None


_VERBS = {
    "catalog": _catalog,
    "publish": _publish,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "expect": _expect,
    "restart": _restart,
    "silence": _silence,
}
