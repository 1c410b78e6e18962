"""How a setting is given on the command line, so that a message names what a person has typed."""

from __future__ import annotations

OPTIONS = frozenset(
    {"bootstrap", "broker_port", "checkpoint", "data_dir", "edges", "http_host", "http_port", "log_table", "master"}
    | {"max_offsets_per_trigger", "prefix"}
)
"""Settings that some command has as an option of the same name."""


def option_of(setting: str) -> str:
    """Return what sets it.

    >>> option_of("broker_port"), option_of("disk_floor_mb")
    ('--broker-port (setting `broker_port`)', 'the setting `disk_floor_mb`')
    """
    if setting not in OPTIONS:
        return f"the setting `{setting}`"
    return f"--{setting.replace('_', '-')} (setting `{setting}`)"
