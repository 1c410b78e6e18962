"""`tidewire engine`: run the engine alone, on any Spark master."""

from __future__ import annotations

from typing import Annotated

import typer

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.settings import load_settings
from tidewire.stack.class_archive import spark_archive, with_java_options
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars
from tidewire.stack.java import find_java
from tidewire.stack.loading import loading
from tidewire.stack.service import configure_logs, run_service
from tidewire.stack.user import require_named_user
from tidewire.stack.working_folder import working_folder
from tidewire.terminal import Terminal


def engine(
    master: Annotated[str | None, typer.Option(help="Any Spark master; local[*] by default.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="A path or a URI that Spark can write; below the data directory by default.")
    ] = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Start although another engine seems at work; it will stop itself.")
    ] = False,
    max_offsets_per_trigger: Annotated[int | None, typer.Option(help="Records a batch, at most.")] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Run the engine until SIGTERM or Ctrl-C; logs go to standard error, with --json one object a line."""
    settings = load_settings(
        config,
        master=master,
        checkpoint=checkpoint,
        max_offsets_per_trigger=max_offsets_per_trigger,
        data_dir=data_dir,
        bootstrap=bootstrap,
        prefix=prefix,
    )
    configure_logs(settings.log_level, json)
    require_named_user()
    java = find_java()
    directories = jar_directories(settings.data_dir, settings.jars_dir)
    jars = require_jars(
        read_jar_sets()["spark"], directories, progress=Terminal(json).say, ivy_settings=settings.ivy_settings
    )
    with loading():
        from streaming.engine.engine import Engine, EngineConfig
        from streaming.log.keeper import LogConfig

    folder = working_folder(settings.data_dir)
    log = LogConfig(
        settings.log_location,
        settings.log_seconds,
        settings.log_replay_days,
        settings.log_compact_minutes,
        local_dir=folder,
    )
    made = EngineConfig(
        kafka=KafkaProperties(settings.address, settings.kafka),
        checkpoint=settings.checkpoint_location,
        topics=Topics(settings.prefix),
        master=settings.master,
        spark_jars=jars,
        spark=with_java_options(settings.spark, spark_archive(java, jars).flags),
        take_over=take_over,
        max_offsets=settings.max_offsets_per_trigger,
        bounds=settings.bounds,
        local_dir=folder,
        log=log if settings.log_seconds else None,
        registry=settings.schema_registry,
        cell_seconds=settings.cell_seconds,
    )
    run_service(Engine(made).run)
