"""`tidewire edge`: run one edge alone."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from typing import Annotated

import typer

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.client.connection import find_stack
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.loading import loading
from tidewire.stack.port import require_free
from tidewire.stack.process_state import told_beside
from tidewire.stack.service import configure_logs, run_service


def edge(
    http_host: Annotated[str | None, typer.Option(help="Where to listen for HTTP.")] = None,
    http_port: Annotated[int | None, typer.Option(help="Where to listen for HTTP; 0 takes a free port.")] = None,
    advertised: Annotated[
        str | None,
        typer.Option(help="Where others are sent for what this edge has, e.g. https://edge-1.example.org:8443."),
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Run an edge until SIGTERM or Ctrl-C; edges share the subscriptions as members of one consumer group."""
    said = {"http_host": http_host, "http_port": http_port, "http_advertised": advertised}
    settings = find_stack(config, data_dir, bootstrap, prefix, **said)
    configure_logs(settings.log_level, json)
    if settings.http_port:
        require_free(settings.http_port, "the edge's HTTP", "http_port", settings.http_host)
    without_pandas()
    with loading():
        from overlay.process.edge_config import EdgeConfig
        from overlay.process.edge_process import EdgeProcess

    directory = DataDirectory(settings.data_dir)
    made = EdgeConfig(
        kafka=KafkaProperties(settings.address, settings.kafka),
        topics=Topics(settings.prefix),
        http_host=settings.http_host,
        http_port=settings.http_port,
        rules=settings.http_rules,
        processes=lambda: told_beside(directory, os.getpid()),
        joins_on_demand=settings.joins_on_demand,
    )
    run_service(EdgeProcess(made).run)


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("an edge does without it", name=fullname)


def without_pandas() -> None:
    """Let Arrow do without pandas, which it loads with its first array where that is installed.

    Saves a fifth of an edge's start, and memory. Nothing in an edge uses it.
    """
    sys.meta_path.insert(0, _NoPandas())
