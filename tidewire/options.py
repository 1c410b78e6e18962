"""The options that many commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A configuration file; conf/settings.toml shows what can be set.")
]
BootstrapOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="host:port of your Kafka; without it, the embedded broker."),
]
PrefixOption = Annotated[str | None, typer.Option("--prefix", help="Of the topics that tidewire keeps for itself.")]
DataDirOption = Annotated[Path | None, typer.Option("--data-dir", help="Where `tidewire up` keeps its data.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
LogTableOption = Annotated[
    str | None,
    typer.Option("--log-table", help="The log's table; log/publications below the data directory."),
]
CheckpointOption = Annotated[
    str | None, typer.Option("--checkpoint", help="The engine's; below the data directory by default.")
]
