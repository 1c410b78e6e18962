"""`tidewire up`: run broker, engine and edges on this machine."""

from __future__ import annotations

import signal
from typing import Annotated, Any

import typer

from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.settings import load_settings
from tidewire.stack.embedded import EmbeddedStack
from tidewire.terminal import Terminal


def up(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    edges: Annotated[int | None, typer.Option(help="How many edge processes; 0: they run elsewhere.")] = None,
    broker_port: Annotated[int | None, typer.Option(help="Of the embedded broker; 0 takes a free one.")] = None,
    http_port: Annotated[int | None, typer.Option(help="Of the first edge; 0 takes free ones.")] = None,
    master: Annotated[str | None, typer.Option(help="Spark master.")] = None,
    json: JsonOption = False,
) -> None:
    """Run broker, engine and edges as one group until Ctrl-C or SIGTERM; with --json, one line when all are ready."""
    settings = load_settings(
        config,
        data_dir=data_dir,
        bootstrap=bootstrap,
        prefix=prefix,
        edges=edges,
        broker_port=broker_port,
        http_port=http_port,
        master=master,
    )
    terminal = Terminal(json)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    EmbeddedStack(settings, terminal.say).run(lambda status: terminal.answer(status, _ready_line(status)))


def _interrupt(number: int, frame: object) -> None:
    """End as Ctrl-C does: the supervisor stops everything in order; a second time, at once."""
    raise KeyboardInterrupt


def _ready_line(status: dict[str, Any]) -> str:
    http = f"http {', '.join(status['http'])}"
    if not status["http"]:
        http = "no edge: nobody gets answers until `tidewire edge` runs somewhere"
    return f"ready: bootstrap {status['bootstrap']}, {http}, data {status['data_dir']}; Ctrl-C stops it"
