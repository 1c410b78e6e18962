"""The options that many commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def path_of(text: str) -> Path:
    """Return the path that an option names; an empty one would be the working directory, which nobody means."""
    if not text.strip():
        raise typer.BadParameter(f"expected a path, got {text!r}")
    return Path(text)


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        parser=path_of,
        metavar="PATH",
        help="A configuration file, such as conf/settings.toml.",
    ),
]
BootstrapOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="host:port of your Kafka; without it, the embedded broker."),
]
PrefixOption = Annotated[str | None, typer.Option("--prefix", help="Of the topics that tidewire keeps for itself.")]
DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", parser=path_of, metavar="PATH", help="Where `tidewire up` keeps its data."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
LogTableOption = Annotated[
    str | None,
    typer.Option("--log-table", help="The log's table; log/publications below the data directory."),
]
CheckpointOption = Annotated[
    str | None, typer.Option("--checkpoint", help="The engine's; below the data directory by default.")
]
