"""From settings to the log: how every command that reads its rows opens it."""

from __future__ import annotations

from connectors.log.publication_log import PublicationLog
from connectors.schemas.schema_registry import use_registry
from tidewire.settings import Settings


def open_log(settings: Settings) -> PublicationLog:
    """Return the log that the settings name, and let its rows be decoded by their schema registry.

    Cost: it reads the commits that are kept, 20,000 in about a second. Raises NoLog, LogUnreadable.
    """
    use_registry(settings.schema_registry)
    return PublicationLog(settings.log_location)
