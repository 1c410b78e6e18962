"""`tidewire replay`: publish again what the log holds."""

from __future__ import annotations

from types import TracebackType
from typing import Annotated

import msgspec
import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from connectors.kafka.reader import Reader
from connectors.log.cut import Cut
from connectors.log.publication_log import PublicationLog
from tidewire.client.catalog_log import read_catalog
from tidewire.client.connection import find_stack, kafka_properties, reach, topics_of
from tidewire.history.log_moment import cut_before, cut_through, parse_moment
from tidewire.history.open_log import open_log
from tidewire.history.replay import Pace, Replayed
from tidewire.history.replay import replay as run
from tidewire.history.replay_target import KafkaTarget, ReplayPlan
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, LogTableOption, PrefixOption
from tidewire.terminal import Terminal


def replay(
    from_: Annotated[str | None, typer.Option("--from", help="The first version, or a moment; the earliest.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="The last version, or a moment; the newest.")] = None,
    into: Annotated[str, typer.Option("--into", help="Prefix of the topics that are filled.")] = "replay.",
    speed: Annotated[
        float | None, typer.Option(min=0.001, help="1: as it was, 10: ten times as fast. As fast as possible.")
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Publish again what the log holds, in order, into topics of another prefix; one that was interrupted goes on."""
    settings = find_stack(config, data_dir, bootstrap, prefix, log_table=log_table)
    reach(settings)
    kafka, log = kafka_properties(settings), open_log(settings)
    target = KafkaTarget(kafka, into)
    plan = ReplayPlan.of(log.uri, *_cuts(log, from_, to))
    known = target.known_plan()
    if known is not None and known.log == log.uri and from_ is None and to is None:
        plan = known
    catalog = read_catalog(Reader(kafka), topics_of(settings))
    target.begin(plan, catalog, settings.virtual_edges)
    terminal = Terminal(json)
    with _Bar(terminal) as bar:
        done = run(log, *plan.cuts, target, Pace(speed), bar)
    earlier = f", {done.earlier:,} by an earlier run" if done.earlier else ""
    text = f"{done.sent:,} records published into {into}* in {done.seconds:.1f} s{earlier}"
    terminal.answer({"into": into, **msgspec.to_builtins(done)}, text)


def _cuts(log: PublicationLog, first: str | None, last: str | None) -> tuple[Cut, Cut]:
    after = cut_before(log, None if first is None else parse_moment(first))
    return after, cut_through(log, None if last is None else parse_moment(last))


class _Bar:
    """A bar on standard error; none with --json."""

    def __init__(self, terminal: Terminal) -> None:
        columns = (
            TextColumn("replaying"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=terminal.remarks, disable=terminal.as_json)
        self._task = self._bar.add_task("replaying", count="")

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def __call__(self, done: Replayed) -> None:
        """Show how far it is."""
        count = f"{done.sent:,} sent, {done.sent / max(done.seconds, 0.001):,.0f} a second"
        self._bar.update(self._task, total=max(done.total, 1), completed=done.sent + done.earlier, count=count)
