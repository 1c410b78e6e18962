"""`tidewire silence`: say that a stream has no more rows from before a time, so that its windows can close."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from tidewire.client.connection import find_stack, open_client
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal

_FORMATS = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d"]


def silence(
    stream: Annotated[str, typer.Argument(help="The stream.")],
    upto: Annotated[dt.datetime, typer.Option("--upto", formats=_FORMATS, help="No row from before it will come.")],
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait until an engine has read all there is.")] = 60,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Say that no more rows of STREAM from before --upto will come: a promise, rows that come all the same are late.

    It counts behind all that is in the topic now, and accepts that rows were lost where some were.
    """
    settings = find_stack(config, data_dir, bootstrap, prefix)
    with open_client(settings) as client:
        ends = client.silence(stream.lower(), upto, timeout)
    said = {"stream": stream.lower(), "upto": upto.isoformat(), "after": {str(p): end for p, end in ends.items()}}
    text = f"{stream.lower()}: silent up to {upto.isoformat()} in {len(ends)} partitions, behind all that is there now"
    Terminal(json).answer(said, text)
