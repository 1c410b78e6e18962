"""`tidewire scenario`: run scenario files and say which expectations do not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from tidewire.scenario.engine import ScenarioEngine
from tidewire.scenario.pure import PureEngine
from tidewire.scenario.run import Failure, Skipped, run_scenario
from tidewire.scenario.script import read_scenario


class EngineKind(StrEnum):
    """What a scenario is run against."""

    PURE = "pure"
    STACK = "stack"


class Report(msgspec.Struct):
    """Files that passed, failed and were skipped, and what failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[Failure] = []


def scenario(
    files: Annotated[list[Path], typer.Argument(help="Scenario files (JSON lines).")],
    engine: Annotated[
        EngineKind, typer.Option(help="pure: in this process; stack: real Kafka and Spark.")
    ] = EngineKind.PURE,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run scenario FILES; exit 0 only if every expectation of every file holds."""
    report = Report()
    console = Console(stderr=json, highlight=False, soft_wrap=True)
    with _engines(engine) as make:
        for path in files:
            _run_one(path, make, report, console)
    if json:
        typer.echo(msgspec.json.encode(report).decode())
    else:
        console.print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    raise typer.Exit(1 if report.failed else 0)


@contextmanager
def _engines(kind: EngineKind) -> Iterator[Callable[[], AbstractContextManager[ScenarioEngine]]]:
    """Yield what makes a fresh engine for each file."""
    if kind is EngineKind.PURE:
        yield lambda: nullcontext(PureEngine())
        return
    from tidewire.scenario.stack import embedded_engines

    with embedded_engines() as make:
        yield make


def _run_one(
    path: Path,
    make: Callable[[], AbstractContextManager[ScenarioEngine]],
    report: Report,
    console: Console,
) -> None:
    try:
        script = read_scenario(path)
        if script.unsupported:
            raise Skipped(f"needs {', '.join(sorted(script.unsupported))}")
        with make() as engine:
            failure = run_scenario(path, script, engine)
    except Skipped as why:
        report.skipped += 1
        console.print(f"skipped  {path}: {why}", markup=False)
        return
    if failure is None:
        report.passed += 1
        console.print(f"passed   {path}", markup=False)
        return
    report.failed += 1
    report.failures.append(failure)
    console.print(f"FAILED   {path}, {failure.step}", markup=False)
    console.print(f"         expected {msgspec.json.encode(failure.expected).decode()}", markup=False)
    console.print(f"         got      {msgspec.json.encode(failure.got).decode()}", markup=False)
