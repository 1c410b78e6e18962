"""`tidewire log`: how far the log of publications reaches, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from connectors.log.publication_log import PublicationLog
from tidewire.history.log_overview import LogOverview, overview_of
from tidewire.options import ConfigOption, DataDirOption, JsonOption, LogTableOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal, table


def log(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Show the log's versions, its size, how far each topic is logged, and records that were lost before they were."""
    settings = load_settings(config, data_dir=data_dir, log_table=log_table)
    overview = overview_of(PublicationLog(settings.log_location))
    Terminal(json).answer(msgspec.to_builtins(overview), Group(*_parts(overview)))


def _parts(overview: LogOverview) -> Iterator[RenderableType]:
    yield Text(
        f"{overview.table}: {overview.rows:,} publications, {overview.bytes / 1e6:,.1f} MB, {overview.files} files"
    )
    yield Text(f"newest version {overview.newest.version}, of {overview.newest.time}")
    yield Text(f"earliest version that can be replayed: {overview.earliest.version}, of {overview.earliest.time}")
    rows = [(one.topic, sum(one.ends.values()), len(one.ends), one.lives) for one in overview.topics]
    yield table(("topic", "logged up to", "partitions", "times created"), rows)
    for gap in overview.gaps:
        lost = f"records {gap.start} to {gap.end - 1} of `{gap.topic}` [{gap.partition}]"
        yield Text(f"missing: {lost} had been trimmed before they were logged", style="yellow")
