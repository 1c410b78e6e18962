"""From settings to Kafka: how every command that talks to a running tidewire gets there."""

from __future__ import annotations

from pathlib import Path

from connectors.kafka import KafkaProperties
from connectors.topics import Topics
from tidewire.client import Client
from tidewire.settings import Settings, load_settings


def kafka_properties(settings: Settings) -> KafkaProperties:
    """Return the cluster's address and the user's client properties."""
    return KafkaProperties(settings.address, settings.kafka)


def topics_of(settings: Settings) -> Topics:
    """Return the names of tidewire's own topics."""
    return Topics(settings.prefix)


def open_client(config: Path | None, bootstrap: str | None, prefix: str | None) -> Client:
    """Return a client for the cluster that the settings and these options name."""
    settings = load_settings(config, bootstrap=bootstrap, prefix=prefix)
    return Client(settings.address, settings.prefix, **settings.kafka)
