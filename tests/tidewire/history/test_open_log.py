"""A log is opened where the settings say, and its rows are decoded by the registry they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.log.publication_log import NoLog
from connectors.schemas.schema_registry import registry_in_use, use_registry
from tests.connectors.small_log import Published, small_log
from tidewire.history.open_log import open_log
from tidewire.settings import load_settings


def test_the_registry_of_the_settings_is_asked(tmp_path: Path) -> None:
    log = small_log(tmp_path)
    log.commit([Published("stock", 0, 0, None, b"x", 0)])
    try:
        opened = open_log(load_settings(None, log_table=log.uri, registry="http://registry:8081"))
        registry = registry_in_use()
        assert opened.uri == log.uri and registry is not None and registry.url == "http://registry:8081"
        open_log(load_settings(None, log_table=log.uri))
        assert registry_in_use() is None
    finally:
        use_registry(None)


def test_where_no_log_is_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoLog, match="there is no log at"):
        open_log(load_settings(None, data_dir=tmp_path))
