"""Finding Java, and naming what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidewire.stack.failure import RequirementError
from tidewire.stack.java import find_java, proxy_flags


def pretend(home: Path, script: str) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return home


@pytest.mark.parametrize(("text", "version"), [("17.0.15", 17), ("21", 21), ("21.0.2-ea", 21)])
def test_supported_versions_are_found_also_in_a_path_with_a_blank(tmp_path: Path, text: str, version: int) -> None:
    home = pretend(tmp_path / "my java", f"echo 'openjdk version \"{text}\"' >&2")
    java = find_java({"JAVA_HOME": str(home)})
    assert (java.version, java.home) == (version, home)


def test_java_home_goes_before_path(tmp_path: Path) -> None:
    old = pretend(tmp_path / "old", "echo 'java version \"1.8.0_401\"' >&2")
    new = pretend(tmp_path / "new", "echo 'openjdk version \"17\"' >&2")
    environment = {"JAVA_HOME": str(new), "PATH": str(old / "bin")}
    assert find_java(environment).version == 17
    with pytest.raises(RequirementError, match=r"expected Java 17 or 21, got Java 8\. Install"):
        find_java({"PATH": str(old / "bin")})


def test_a_link_leads_to_the_real_home(tmp_path: Path) -> None:
    home = pretend(tmp_path / "jdk", "echo 'openjdk version \"17\"' >&2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_what_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(RequirementError, match="Java is missing"):
        find_java({"PATH": str(tmp_path)})
    with pytest.raises(RequirementError, match="JAVA_HOME has no Java"):
        find_java({"JAVA_HOME": str(tmp_path / "nope")})
    strange = pretend(tmp_path / "strange", "echo hello")
    with pytest.raises(RequirementError, match="'hello"):
        find_java({"JAVA_HOME": str(strange)})
    broken = pretend(tmp_path / "broken", "")
    (broken / "bin" / "java").chmod(0o644)
    with pytest.raises(RequirementError, match="does not run"):
        find_java({"JAVA_HOME": str(broken)})


def test_proxies_of_the_shell_are_told_to_java() -> None:
    assert proxy_flags({}) == []
    assert proxy_flags({"HTTPS_PROXY": "http://user:pass@p.example:8080/"}) == [
        "-Dhttps.proxyHost=p.example",
        "-Dhttps.proxyPort=8080",
    ]
    assert proxy_flags({"http_proxy": "p"}) == ["-Dhttp.proxyHost=p", "-Dhttp.proxyPort=80"]
    assert proxy_flags({"no_proxy": "localhost"}) == []
