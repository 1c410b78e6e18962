"""`tidewire apply`: declare and drop tables while everything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidewire.client import RELATION_PARTITIONS
from tidewire.connection import find_stack, open_client
from tidewire.included_text import include
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal
from tidewire.text_input import read_text


def apply(
    file: Annotated[
        Path, typer.Argument(help="A file of CREATE TABLE and DROP TABLE statements; - for standard input.")
    ],
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the engine to announce it; 0: do not wait.")] = 60,
    partitions: Annotated[int, typer.Option(help="Of topics that have to be created.")] = RELATION_PARTITIONS,
    create_topics: Annotated[bool, typer.Option(help="Create missing topics of the tables.")] = True,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Check FILE against the catalog in force, write it, and wait until the engine has announced it."""
    ddl = include(read_text(file), file)
    with open_client(find_stack(config, data_dir, bootstrap, prefix)) as client:
        version = client.apply(ddl, timeout, create_topics=create_topics, partitions=partitions)
        tables = sorted(client.catalog().relations)
    state = "announced" if timeout > 0 else "written"
    human = f"catalog version {version} is {state}; tables: {', '.join(tables) or 'none'}"
    Terminal(json).answer({"version": version, "state": state, "tables": tables}, human)
