"""Jars: which directory is used, what is verified, and a real Ivy against a small repository of files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tidewire.stack import jars as subject
from tidewire.stack.failure import NoPermissionError, RequirementError
from tidewire.stack.jars import (
    JarSet,
    find_jars,
    ivy_file,
    jar_directories,
    missing,
    read_jar_sets,
    require_jars,
    user_cache,
)

CONTENT = b"not really a jar"
SHA = hashlib.sha256(CONTENT).hexdigest()
ONE = JarSet("one", ("org.example:one:1.0",), (), {"one-1.0.jar": SHA})


def test_the_sets_of_conf_are_complete() -> None:
    sets = read_jar_sets()
    assert set(sets) == {"spark", "broker"}
    assert "spark-sql-kafka-0-10_2.13-4.2.0.jar" in sets["spark"].sha256
    assert "kafka_2.13-4.2.2.jar" in sets["broker"].sha256
    assert all(len(sha) == 64 for jars in sets.values() for sha in jars.sha256.values())


def test_no_file_names_a_registry() -> None:
    conf = Path(subject.__file__).parents[2] / "conf"
    assert not [
        path for path in conf.iterdir() if path.is_file() and "maven" in path.read_text() and "://" in path.read_text()
    ]


def test_an_ivy_file_names_coordinates_and_what_to_leave_out() -> None:
    made = ElementTree.fromstring(ivy_file(JarSet("x", ("o:n:1", "p:m:2"), ("q", "r:s"), {})))
    assert [dict(element.attrib)["name"] for element in made.iter("dependency")] == ["n", "m"]
    assert [dict(element.attrib) for element in made.iter("exclude")][:2] == [{"org": "q"}, {"org": "r", "module": "s"}]
    assert next(made.iter("dependency")).get("conf") == "default->master,runtime"


def test_the_cache_is_where_the_user_says_and_may_not_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_cache({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/tidewire")
    assert user_cache({"XDG_CACHE_HOME": "relative", "HOME": "/h"}) == Path("/h/.cache/tidewire")

    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", no_home)
    assert user_cache({}) is None
    monkeypatch.setattr(subject, "user_cache", lambda: None)
    assert jar_directories(tmp_path) == [tmp_path / "jars"]
    assert jar_directories(tmp_path, tmp_path / "own") == [tmp_path / "own"]


def test_the_first_directory_that_holds_all_files_intact_is_used(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    (a / "one-1.0.jar").write_bytes(b"changed")
    assert find_jars(ONE, [tmp_path / "none", a, b]) is None
    assert missing(ONE, a) == ["one-1.0.jar"]
    (b / "one-1.0.jar").write_bytes(CONTENT)
    assert require_jars(ONE, [a, b]) == [b / "one-1.0.jar"]


def test_directories_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoPermissionError, match=r"file/jars`: Not a directory.*`jars_dir`"):
        require_jars(ONE, [tmp_path / "file" / "jars"])


def repository(folder: Path, content: bytes = CONTENT) -> Path:
    """Make a Maven repository of one artifact, and the Ivy settings that name it."""
    place = folder / "m2" / "org" / "example" / "one" / "1.0"
    place.mkdir(parents=True)
    pom = "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>"
    (place / "one-1.0.pom").write_text(pom + "<artifactId>one</artifactId><version>1.0</version></project>")
    (place / "one-1.0.jar").write_bytes(content)
    settings = folder / "ivysettings.xml"
    settings.write_text(
        f'<ivysettings><settings defaultResolver="r"/><resolvers><ibiblio name="r" m2compatible="true" '
        f'root="{(folder / "m2").as_uri()}"/></resolvers></ivysettings>'
    )
    return settings


@pytest.mark.stack
def test_ivy_fetches_what_is_missing_and_nothing_is_left_over(tmp_path: Path) -> None:
    said: list[str] = []
    directory = tmp_path / "a b" / "jars"
    found = require_jars(ONE, [directory], progress=said.append, ivy_settings=repository(tmp_path))
    assert [path.read_bytes() for path in found] == [CONTENT]
    assert sorted(path.name for path in directory.iterdir()) == [".lock", "one-1.0.jar"]
    assert said == ["fetching the 1 jars of the set `one`", "1 of 1: one.jar"]


@pytest.mark.stack
def test_another_checksum_is_fetched_once_more_and_then_an_error(tmp_path: Path) -> None:
    said: list[str] = []
    other = hashlib.sha256(b"tampered").hexdigest()
    with pytest.raises(RequirementError, match=rf"expected SHA-256 {SHA}, got SHA-256 {other}"):
        require_jars(ONE, [tmp_path / "jars"], progress=said.append, ivy_settings=repository(tmp_path, b"tampered"))
    assert "`one-1.0.jar` is not what it should be; fetching once more" in said
    assert [path.name for path in (tmp_path / "jars").iterdir()] == [".lock"]


@pytest.mark.stack
def test_what_cannot_be_fetched_is_named(tmp_path: Path) -> None:
    absent = JarSet("two", ("org.example:two:1.0",), (), {"two-1.0.jar": SHA})
    with pytest.raises(RequirementError, match=r"set `two` could not be fetched: .*org\.example#two.*`ivy_settings`"):
        require_jars(absent, [tmp_path / "jars"], ivy_settings=repository(tmp_path))


@pytest.mark.stack
def test_two_processes_at_once_fetch_once(tmp_path: Path) -> None:
    settings = repository(tmp_path)
    code = (
        "import sys; from pathlib import Path; from tidewire.stack.jars import *;"
        f"j = JarSet('one', ('org.example:one:1.0',), (), {{'one-1.0.jar': '{SHA}'}});"
        "require_jars(j, [Path(sys.argv[1])], ivy_settings=Path(sys.argv[2]), progress=print)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(subject.__file__).parents[2])}
    command = [sys.executable, "-c", code, str(tmp_path / "jars"), str(settings)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("fetching the" in text for text in said) == 1


def test_pyspark_brings_ivy() -> None:
    ivy = list(subject.pyspark_jars().glob("ivy-*.jar"))
    assert len(ivy) == 1
    assert "org/apache/ivy/Main.class" in zipfile.ZipFile(ivy[0]).namelist()
