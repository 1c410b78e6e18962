from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streaming.checkpoint.files import Files, HadoopFiles, LocalFiles, is_local_path, local_folder, open_files


def check_contract(files: Files) -> None:
    """What every implementation keeps."""
    assert files.read("a/b") is None
    assert not files.exists("a/b")
    assert files.names("a") == []
    files.write("a/b", b"one")
    files.write("a/b", b"two\x00\xff")
    files.write("a/c", b"")
    assert files.read("a/b") == b"two\x00\xff"
    assert files.read("a/c") == b""
    assert files.exists("a/b")
    assert {name for name in files.names("a") if not name.startswith(".")} == {"b", "c"}


def test_local_files(tmp_path: Path) -> None:
    check_contract(LocalFiles(tmp_path))
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]


@pytest.mark.spark
def test_hadoop_files(spark: SparkSession, tmp_path: Path) -> None:
    check_contract(HadoopFiles(spark, tmp_path.as_uri()))


@pytest.mark.parametrize(
    ("uri", "local"),
    [("/a/b", True), ("a", True), ("file:///a/b", True), ("hdfs://n/a", False), ("s3a://bucket/a", False)],
)
def test_which_are_local(uri: str, local: bool) -> None:
    assert is_local_path(uri) is local


def test_the_folder_of_a_uri() -> None:
    assert local_folder("file:///a/b%20c") == Path("/a/b c")
    assert local_folder("/a/b%20c") == Path("/a/b%20c")


@pytest.mark.spark
def test_the_uri_decides(spark: SparkSession, tmp_path: Path) -> None:
    assert isinstance(open_files(spark, str(tmp_path)), LocalFiles)
