"""Class archives: to which Java and jars one belongs, how it is used, and how many stay. No Java is started."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tidewire.stack.class_archive import (
    KEPT,
    ClassArchive,
    broker_archive,
    recording,
    spark_archive,
    with_java_options,
)
from tidewire.stack.java import Java

JAVA = Java(Path("/usr/bin/java"), Path("/opt/java"), 17, "17.0.1")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"classes")
    return jar


def test_it_stands_beside_the_jars_and_is_not_used_before_it_was_made(jar: Path) -> None:
    archive = broker_archive(JAVA, [jar])
    assert archive.file.parent == jar.parent / "classes"
    assert (archive.is_there, archive.flags) == (False, [])
    made = jar.parent / "made"
    made.touch()
    archive.keep(made)
    assert archive.is_there and archive.flags[0] == f"-XX:SharedArchiveFile={archive.file}"


def test_another_java_or_another_jar_has_another(jar: Path) -> None:
    archive = broker_archive(JAVA, [jar])
    assert broker_archive(replace(JAVA, program=Path("/opt/java/bin/java")), [jar]) == archive, "it is the same Java"
    assert broker_archive(replace(JAVA, build="17.0.2"), [jar]) != archive
    assert broker_archive(replace(JAVA, home=Path("/opt/other")), [jar]) != archive
    os.utime(jar, (1, 1))
    assert broker_archive(JAVA, [jar]) != archive


def test_sparks_archive_depends_on_sparks_own_jars_and_not_on_those_of_a_session(jar: Path) -> None:
    archive = spark_archive(JAVA, [jar])
    jar.write_bytes(b"other classes")
    assert spark_archive(JAVA, [jar]) == archive
    assert archive.file.name.startswith("spark-")


def test_the_newest_of_a_kind_stay(tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        made = tmp_path / "made"
        made.touch()
        os.utime(made, (number, number))
        ClassArchive(tmp_path / "classes" / f"spark-{number}.jsa").keep(made)
    (tmp_path / "classes" / "broker-0.jsa").touch()
    kept = {path.name for path in (tmp_path / "classes").iterdir()}
    assert kept == {"broker-0.jsa", *(f"spark-{number}.jsa" for number in range(2, KEPT + 2))}


def test_it_may_be_made_in_another_file_system(tmp_path: Path) -> None:
    """A temporary folder often is one in memory, which the user's cache is not."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system: /dev/shm")
    archive = ClassArchive(tmp_path / "classes" / "spark-0.jsa")
    with tempfile.NamedTemporaryFile(dir=memory, delete=False) as made:
        made.write(b"classes")
    archive.keep(Path(made.name))
    assert archive.file.read_bytes() == b"classes"
    assert list(archive.file.parent.iterdir()) == [archive.file] and not Path(made.name).exists()


def test_flags_go_before_the_users_own_and_nothing_is_said_without_flags() -> None:
    name = "spark.driver.extraJavaOptions"
    assert with_java_options({name: "-Xss4m", "a": "b"}, []) == {name: "-Xss4m", "a": "b"}
    assert with_java_options({}, recording(Path('/with "quotes"/x')))[name].startswith(
        '"-XX:ArchiveClassesAtExit=/with \\"quotes\\"/x" '
    )
