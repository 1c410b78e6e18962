"""From settings to Kafka: how every command that talks to a running tidewire gets there.

The address is the first of: `bootstrap` (an option, the environment, the configuration file); where the stack listens
that runs in the data directory, as its status file says; where the embedded broker listens by default.
"""

from __future__ import annotations

from pathlib import Path

from connectors.kafka.admin import Admin
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from state.errors import UserError
from tidewire.client.client import Client
from tidewire.settings import Settings, load_settings
from tidewire.stack.data_directory import DataDirectory
from tidewire.terminal import Terminal
from tidewire.waiting import waiting_for

REACH_SECONDS = 10.0


class NoStack(UserError):
    """No stack runs in the data directory that was named."""

    code = "no_stack"
    retry_helps = True


def find_stack(
    config: Path | None,
    data_dir: Path | None = None,
    bootstrap: str | None = None,
    prefix: str | None = None,
    **options: object,
) -> Settings:
    """Return the settings, with the address of the stack that runs in the data directory, if one does.

    With `data_dir` its prefix, too, unless `prefix` is given. Raises SettingError, and NoStack where nothing runs in
    `data_dir` and no other address is set.
    """
    settings = load_settings(config, data_dir=data_dir, bootstrap=bootstrap, prefix=prefix, **options)
    if settings.bootstrap is not None:
        return settings
    status = DataDirectory(settings.data_dir).read_status()
    address = str(status.get("bootstrap", "")) if status is not None else ""
    if status is not None and address and not address.endswith(":0"):
        named = data_dir is not None and prefix is None
        return settings.model_copy(
            update={"bootstrap": address, "prefix": status["prefix"] if named else settings.prefix}
        )
    if data_dir is None:
        return settings
    what = "the stack is still starting" if status is not None else "no stack runs"
    raise NoStack(
        f"{what} in the data directory `{settings.data_dir}`. Start it there (`tidewire up --data-dir {data_dir}`), or "
        "name the directory of the one that runs, or its broker by --bootstrap."
    )


def kafka_properties(settings: Settings) -> KafkaProperties:
    """Return the cluster's address and the user's client properties."""
    return KafkaProperties(settings.address, settings.kafka)


def topics_of(settings: Settings) -> Topics:
    """Return the names of tidewire's own topics."""
    return Topics(settings.prefix)


def open_client(settings: Settings) -> Client:
    """Return a client for the cluster that the settings name, once that has answered (20 ms where it does).

    After 1 s it says on standard error what it waits for; after 10 s it raises KafkaFailure with the reason.
    """
    reach(settings)
    return Client(settings.address, settings.prefix, **settings.kafka)


def reach(settings: Settings) -> None:
    """Wait until the cluster answers, saying so where it takes long. Raises KafkaFailure after 10 s."""
    by = settings.kafka.get("security.protocol", "")
    what = f"a Kafka broker at `{settings.address}` to answer{f' ({by})' if by else ''}"
    with waiting_for(what, Terminal().say):
        Admin(kafka_properties(settings), REACH_SECONDS).topics()
