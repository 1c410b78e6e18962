"""Class archives are made by a real broker and engine, and used by the next; where neither runs, the reason is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from tidewire.stack.broker import Broker
from tidewire.stack.class_archive import archive_classes, broker_archive, spark_archive
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.jars import find_jars, jar_directories, read_jar_sets
from tidewire.stack.java import find_java

SAID: list[str] = []


@pytest.fixture
def jars(tmp_path: Path) -> Mapping[str, list[Path]]:
    """The jars of this machine, linked into a directory that has no archives."""
    found: dict[str, list[Path]] = {}
    for name, wanted in read_jar_sets().items():
        (tmp_path / name).mkdir()
        found[name] = []
        for jar in find_jars(wanted, jar_directories(tmp_path)) or []:
            (tmp_path / name / jar.name).symlink_to(jar)
            found[name].append(tmp_path / name / jar.name)
    return found


@pytest.mark.broker
def test_what_does_not_run_makes_no_archive_and_says_why(tmp_path: Path, jars: Mapping[str, list[Path]]) -> None:
    broken = {"broker": jars["broker"][:1], "spark": jars["spark"]}
    with pytest.raises(ChildFailedError, match="did not run"):
        archive_classes(find_java(), broken, SAID.append)
    assert not list(tmp_path.rglob("*.jsa"))


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.ordeal
def test_archives_are_made_once_and_a_broker_uses_its_own(tmp_path: Path, jars: Mapping[str, list[Path]]) -> None:
    java = find_java()
    archive_classes(java, jars, SAID.append)
    archive = broker_archive(java, jars["broker"])
    assert archive.is_there and spark_archive(java, jars["spark"]).is_there
    said = len(SAID)
    archive_classes(java, jars, SAID.append)
    assert len(SAID) == said
    spark_archive(java, jars["spark"]).file.unlink()
    archive_classes(java, jars, SAID.append)
    assert spark_archive(java, jars["spark"]).is_there, "also where there was one of the broker"
    broker = Broker(tmp_path, 0, jars["broker"])
    broker.start()
    try:
        assert broker.child is not None
        assert str(archive.file) in {m.path for m in psutil.Process(broker.child.pid).memory_maps()}
    finally:
        broker.kill()
