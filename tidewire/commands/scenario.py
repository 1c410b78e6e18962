"""`tidewire scenario`: run scenario files and say which expectations do not hold."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from tidewire.scenario.engine import ScenarioEngine
from tidewire.scenario.pure import PureEngine
from tidewire.scenario.run import Failure, Skipped, run_scenario
from tidewire.scenario.script import Scenario, read_scenarios


class EngineKind(StrEnum):
    """What a scenario is run against."""

    PURE = "pure"
    STACK = "stack"


class Report(msgspec.Struct):
    """Files that passed, failed and were skipped, what failed, and the files that were not run to their end."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[Failure] = []
    unfinished: list[str] = []


def scenario(
    files: Annotated[list[Path], typer.Argument(help="Scenario files (JSON lines).")],
    engine: Annotated[
        EngineKind, typer.Option(help="pure: in this process; stack: real Kafka and Spark.")
    ] = EngineKind.PURE,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run scenario FILES; exit 0 only if every expectation of every file holds.

    All files are read before the first one is run. The report is printed whatever happens, Ctrl-C included.
    """
    report = Report()
    console = Console(stderr=json, highlight=False, soft_wrap=True)
    scripts, bad = read_scenarios(files)
    for path, error in bad:
        _fail(report, console, Failure(str(path), "reading the file", "a scenario", str(error)))
    report.unfinished = [str(path) for path, _ in scripts]
    code = 2 if bad else 130
    with _ended_by_sigterm(), _engines(engine) as make, suppress(KeyboardInterrupt):
        try:
            for path, script in [] if bad else scripts:
                _run_one(path, script, make, report, console)
                report.unfinished.remove(str(path))
            code = 2 if bad else 1 if report.failed else 0
        finally:
            _print(report, json, console)
    raise typer.Exit(code)


def _print(report: Report, json: bool, console: Console) -> None:
    if json:
        typer.echo(_JSON.encode(report).decode())
        return
    unfinished = f", {len(report.unfinished)} not run to the end" if report.unfinished else ""
    console.print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped{unfinished}")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
    script: Scenario,
    make: Callable[[], AbstractContextManager[ScenarioEngine]],
    report: Report,
    console: Console,
) -> None:
    try:
        if script.unsupported:
            raise Skipped(f"needs {', '.join(sorted(script.unsupported))}")
        with make() as engine:
            failure = run_scenario(path, script, engine)
    except Skipped as why:
        report.skipped += 1
        console.print(f"skipped  {path}: {why}", markup=False)
        return
    except Exception as error:
        failure = Failure(str(path), "starting or leaving the engine", "it runs", f"{type(error).__name__}: {error}")
    if failure is None:
        report.passed += 1
        console.print(f"passed   {path}", markup=False)
    else:
        _fail(report, console, failure)


def _fail(report: Report, console: Console, failure: Failure) -> None:
    report.failed += 1
    report.failures.append(failure)
    console.print(f"FAILED   {failure.file}, {failure.step}", markup=False)
    console.print(f"         expected {_JSON.encode(failure.expected).decode()}", markup=False)
    console.print(f"         got      {_JSON.encode(failure.got).decode()}", markup=False)


_JSON = msgspec.json.Encoder(decimal_format="number")
