"""The doctor finds what keeps `up` from running, and says what to do."""

from __future__ import annotations

import errno
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.failure import KafkaFailure, TopicUnknown
from connectors.topics import Topics
from state.errors import TidewireError
from tidewire import cli
from tidewire.settings import Settings, load_settings
from tidewire.stack.jars import read_jar_sets
from tidewire.stack.port import LOOPBACK, free_port
from tidewire.status import doctor
from tidewire.status.doctor import Finding, Verdict, examine


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("TIDEWIRE_", "PYSPARK", "SPARK")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def settings(tmp_path: Path, **more: object) -> Settings:
    ports = {"broker_port": free_port(), "http_port": free_port()}
    return load_settings(None, **({"data_dir": tmp_path / "data"} | ports | more))


def found(findings: list[Finding], check: str) -> list[Finding]:
    return [finding for finding in findings if finding.check == check]


def only(findings: list[Finding], check: str, verdict: Verdict) -> Finding:
    [finding] = [one for one in found(findings, check) if one.verdict is verdict]
    assert verdict is Verdict.OK or finding.remedy
    return finding


def test_a_sound_machine_has_no_failure(tmp_path: Path) -> None:
    findings = examine(settings(tmp_path))
    assert [one for one in findings if one.verdict is Verdict.FAIL] == []
    assert {"python", "java", "home", "memory", "jars (spark)", "data directory", "disk", "ports"} <= {
        one.check for one in findings
    }


def test_jars_that_are_missing_are_a_warning(tmp_path: Path) -> None:
    finding = only(examine(settings(tmp_path)), "jars (broker)", Verdict.WARN)
    files = len(read_jar_sets()["broker"].sha256)
    assert finding.found.startswith(f"{files} of {files} missing")
    assert "doctor --setup" in finding.remedy


def test_setup_fails_where_jars_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    findings = examine(settings(tmp_path, jars_dir=tmp_path / "file" / "x"), setup=True)
    assert "Not a directory" in only(findings, "jars (spark)", Verdict.FAIL).found
    assert found(findings, "ports") == []


def test_without_java_nothing_is_said_of_what_it_would_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That it is missing is said once."""
    jar = tmp_path / "a.jar"
    jar.touch()
    monkeypatch.setattr(doctor, "find_jars", lambda *_: [jar])
    assert only(examine(settings(tmp_path)), "class archives", Verdict.WARN).found.startswith("not made")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert found(examine(settings(tmp_path)), "class archives") == []


def test_java_is_missing_wrong_or_in_a_path_with_a_blank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "my java"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"17\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert any("blank" in one.found for one in found(examine(settings(tmp_path)), "java"))
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    finding = only(examine(settings(tmp_path)), "java", Verdict.FAIL)
    assert "got Java 11" in finding.found
    assert finding.remedy.startswith("Install Java 17 or 21")


def test_another_python_for_the_workers_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python2")
    assert "PYSPARK_PYTHON" in only(examine(settings(tmp_path)), "worker python", Verdict.WARN).found
    chosen = settings(tmp_path, spark={"spark.pyspark.python": "/no/python"})
    assert "/no/python" in only(examine(chosen), "worker python", Verdict.FAIL).found


def test_a_user_without_name_or_home_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987_654_321)
    monkeypatch.setattr(doctor, "user_cache", lambda: None)
    findings = examine(settings(tmp_path))
    assert "no name" in only(findings, "user", Verdict.FAIL).found
    assert "no home" in only(findings, "home", Verdict.WARN).found


def test_a_home_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    assert "cannot be written" in only(examine(settings(tmp_path)), "home", Verdict.WARN).found


def test_the_environment_that_changes_spark_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")  # that of all tests
    monkeypatch.setenv("https_proxy", "http://p:1")
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    monkeypatch.setenv("TIDEWIRE_EDGSE", "1")
    findings = examine(settings(tmp_path))
    assert "https_proxy" in only(findings, "proxy", Verdict.OK).found
    assert [one.found.split()[0] for one in found(findings, "environment")] == ["SPARK_HOME", "TIDEWIRE_EDGSE"]
    monkeypatch.setenv("ALL_PROXY", "socks5://p:1")
    assert only(examine(settings(tmp_path)), "proxy", Verdict.WARN)


def test_ports_disk_and_directory_are_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        findings = examine(settings(tmp_path, broker_port=port, disk_floor_mb=10**9))
    assert f"port {port}" in only(findings, "ports", Verdict.FAIL).found
    assert only(findings, "disk", Verdict.FAIL)
    (tmp_path / "file").touch()
    assert only(examine(settings(tmp_path, data_dir=tmp_path / "file" / "d")), "data directory", Verdict.FAIL)
    below = examine(settings(tmp_path))
    assert any("temporary" in one.found for one in found(below, "data directory"))


def test_memory_is_compared_with_what_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Memory:
        available = 500_000_000

    monkeypatch.setattr(doctor.psutil, "virtual_memory", Memory)
    assert only(examine(settings(tmp_path)), "memory", Verdict.FAIL).found == "500 MB available"


def test_the_command_prints_a_table_or_json_and_its_exit_code_says_it_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEWIRE_BROKER_PORT", str(free_port()))
    monkeypatch.setenv("TIDEWIRE_HTTP_PORT", str(free_port()))
    options = ["--data-dir", str(tmp_path / "d")]
    assert cli.run(["doctor", *options]) == 0
    assert "java" in capsys.readouterr().out
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert cli.run(["doctor", "--json", *options]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["ok"] is False
    assert {"check", "verdict", "found", "remedy"} == set(record["findings"][0])


@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME", "data_dir"])
@pytest.mark.parametrize("why", ["locked", "too long", "a file"])
def test_a_folder_that_cannot_be_looked_into_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    """Root may look everywhere, so here a locked folder is one whose `stat` fails as it does for others."""
    file = tmp_path / "file"
    file.touch()
    place = {"locked": tmp_path / "locked" / "d", "too long": tmp_path / ("x" * 300), "a file": file / "d"}[why]
    stat = os.stat

    def locked(path: Any, *more: Any, **named: Any) -> os.stat_result:
        if str(path).startswith(str(tmp_path / "locked")):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, *more, **named)

    monkeypatch.setattr(os, "stat", locked)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if name != "data_dir":
        monkeypatch.setenv(name, str(place))
    findings = examine(settings(tmp_path, **({"data_dir": place} if name == "data_dir" else {})))
    about = {finding.check: finding for finding in findings if finding.check in ("home", "data directory")}
    if why != "locked":
        told = about["data directory" if name == "data_dir" else "home"]
        assert told.verdict is not Verdict.OK, findings


class Rights:
    """An `Admin` of a cluster that grants so much."""

    def __init__(self, may: bool | TidewireError, about: str = "tw.catalog") -> None:
        self.may = may
        self.about = about

    def may_write(self, topic: str) -> bool:
        assert topic == self.about
        if isinstance(self.may, TidewireError):
            raise self.may
        return self.may


@pytest.mark.parametrize(
    ("may", "verdict", "said"),
    [
        (True, Verdict.OK, "edges may write CREATE JOIN to `tw.catalog`"),
        (False, Verdict.WARN, "edges may not write CREATE JOIN to `tw.catalog`"),
        (TopicUnknown("there is none"), Verdict.OK, "`tw.catalog` is not there yet"),
        (KafkaFailure("nobody answers. Start it."), Verdict.WARN, "nobody answers"),
    ],
)
def test_who_may_not_ask_for_joins_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may: bool | TidewireError, verdict: Verdict, said: str
) -> None:
    monkeypatch.setattr(doctor, "Admin", lambda *_: Rights(may))
    monkeypatch.setattr(doctor, "read_catalog", lambda *_: Catalog())
    assert only(examine(settings(tmp_path, bootstrap="k:9092")), "catalog", verdict).found == said
    assert not found(examine(settings(tmp_path)), "catalog"), "the embedded broker grants everything"
    assert not found(examine(settings(tmp_path, bootstrap="k:9092", joins_on_demand=False)), "catalog")


@pytest.mark.parametrize(
    ("may", "verdict", "said"),
    [
        (True, Verdict.OK, "the engine may write view `v` to `out`"),
        (False, Verdict.FAIL, "the engine may not write view `v` to `out`"),
        (TopicUnknown("there is none"), Verdict.WARN, "`out`, the topic of view `v`, is not there"),
    ],
)
def test_views_that_the_engine_may_not_write_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may: bool | TidewireError, verdict: Verdict, said: str
) -> None:
    tables = "CREATE TABLE t (id BIGINT PRIMARY KEY); CREATE VIEW w AS SELECT id FROM t;"
    catalog = apply_ddl(Catalog(), f"{tables} CREATE VIEW v WITH ('topic'='out') AS SELECT id FROM w", 0)
    monkeypatch.setattr(doctor, "read_catalog", lambda *_: catalog)
    monkeypatch.setattr(doctor, "Admin", lambda *_: Rights(may, "out"))
    chosen = settings(tmp_path, bootstrap="k:9092", joins_on_demand=False)
    assert only(examine(chosen), "views", verdict).found == said
    assert not found(examine(settings(tmp_path)), "views")


class Policies:
    """An `Admin` of a cluster in which these topics are compacted."""

    def __init__(self, compact: set[str] | TidewireError) -> None:
        self.compact = compact

    def compacted(self, topics: list[str]) -> set[str]:
        if isinstance(self.compact, TidewireError):
            raise self.compact
        return self.compact.intersection(topics)


@pytest.mark.parametrize(
    ("compact", "said"),
    [
        ({"s", "t"}, "the topic `s` of stream `s` is compacted (cleanup.policy): Kafka deletes rows"),
        (KafkaFailure("nobody answers. Start it."), "nobody answers"),
        ({"t"}, ""),
        (TopicUnknown("there is none"), ""),
    ],
)
def test_streams_on_compacted_topics_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compact: set[str] | TidewireError, said: str
) -> None:
    tables = "CREATE TABLE t (id BIGINT PRIMARY KEY)"
    stream = "CREATE STREAM s (ts TIMESTAMP) WITH ('topic'='s', 'event_time'='ts', 'lateness'='1 s')"
    catalog = apply_ddl(Catalog(), f"{tables}; {stream}", 0)
    monkeypatch.setattr(doctor, "read_catalog", lambda *_: catalog)
    monkeypatch.setattr(doctor, "Admin", lambda *_: Policies(compact))
    findings = examine(settings(tmp_path, bootstrap="k:9092", joins_on_demand=False))
    assert [one.verdict for one in found(findings, "streams")] == [Verdict.WARN] * bool(said)
    assert all(one.found.startswith(said) and one.remedy for one in found(findings, "streams"))
    assert not found(examine(settings(tmp_path)), "streams")


@pytest.mark.broker
def test_a_cluster_that_asks_nobody_who_he_is_grants_everything(tmp_path: Path, topics: Topics, broker: str) -> None:
    chosen = settings(tmp_path, bootstrap=broker, prefix=topics.prefix)
    assert "may write CREATE JOIN" in only(examine(chosen), "catalog", Verdict.OK).found
