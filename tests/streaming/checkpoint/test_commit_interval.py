"""A checkpoint on this machine is looked at more often than one behind a store's requests."""

from __future__ import annotations

import pytest

from streaming.checkpoint.commit_interval import IN_A_STORE_SECONDS, ON_DISK_SECONDS, commit_seconds


@pytest.mark.parametrize("uri", ["/var/tidewire/checkpoint", "checkpoint", "file:/var/tidewire/checkpoint"])
def test_a_folder_is_looked_at_often(uri: str) -> None:
    assert commit_seconds(uri) == ON_DISK_SECONDS


@pytest.mark.parametrize("uri", ["s3a://bucket/checkpoint", "hdfs://name/checkpoint", "abfss://c@a/checkpoint"])
def test_a_store_is_asked_less_often(uri: str) -> None:
    assert commit_seconds(uri) == IN_A_STORE_SECONDS
    assert IN_A_STORE_SECONDS > ON_DISK_SECONDS
