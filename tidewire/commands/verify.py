"""`tidewire verify`: recompute every delivery independently and compare."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from tidewire.client.connection import find_stack, kafka_properties, reach, topics_of
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal, table
from tidewire.verification.compare.quota import RowQuota
from tidewire.verification.compare.report import Report, rows_of
from tidewire.verification.reading import verify_kafka
from tidewire.verification.records.sample import Sample
from tidewire.verification.schemas.registry import Registry

_FAULTS_SHOWN = 10


def verify(
    wait: Annotated[float, typer.Option(help="Seconds to wait for edges that are behind.")] = 30,
    sample: Annotated[float, typer.Option(min=0, max=1, help="Share of the subscriptions to judge, by their ids.")] = 1,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Recompute every delivery with DuckDB from what stands in Kafka; exit 0 only if all is right."""
    settings = find_stack(config, data_dir, bootstrap, prefix)
    reach(settings)
    registry = Registry(settings.registry, settings.registry_credentials or "") if settings.registry else None
    quota = RowQuota(settings.answer_rows, settings.answer_bytes)
    report = verify_kafka(kafka_properties(settings), topics_of(settings), wait, Sample(sample), registry, quota)
    terminal = Terminal(json)
    terminal.answer(as_json(report), table(("", ""), rows_of(report)))
    if not json:
        explain_findings(report, terminal)
    raise typer.Exit(0 if report.clean else 1)


def as_json(report: Report) -> dict[str, Any]:
    """Return the report with its verdict first."""
    return {"clean": report.clean, **msgspec.to_builtins(report)}


def explain_findings(report: Report, terminal: Terminal) -> None:
    """Print, for a person, what could not be judged, the first faults, and the verdict."""
    for limit in report.limits:
        terminal.say(f"judged in part: {limit}")
    for fault in report.faults[:_FAULTS_SHOWN]:
        compared = f"; expected {_text(fault.expected)}, got {_text(fault.got)}" if fault.expected or fault.got else ""
        terminal.say(f"{fault.kind}: {fault.about}: {fault.note}{compared}")
    if len(report.faults) > _FAULTS_SHOWN:
        terminal.say(f"… more faults with --json ({len(report.faults)} are kept)")
    terminal.say(f"{'clean' if report.clean else 'NOT clean'}, in {report.seconds:.1f} s")


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
