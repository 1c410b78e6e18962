"""Find the Java that runs Spark and the broker, and name what is wrong with it before either starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidewire.stack.failure import RequirementError

SUPPORTED = (17, 21)
_ACTION = "Install Java 17 or 21, or set JAVA_HOME to one that is installed."


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that was asked for its version. `home` is what JAVA_HOME must say, `program` is `home/bin/java`.

    `build` is all that it says of itself, which another build of the same version says otherwise.
    """

    program: Path
    home: Path
    version: int
    build: str = ""


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """Return the Java of JAVA_HOME or, without it, of PATH. *Cost*: one short JVM, about 0.1 s.

    Raises:
        RequirementError: there is none, it does not run, or it is neither 17 nor 21.
    """
    environment = os.environ if environment is None else environment
    program = _program(environment)
    text = _ask_version(program)
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    if found is None:
        raise RequirementError(
            f"`{program}` does not say which Java it is: expected a version, got {text!r}. {_ACTION}"
        )
    version = int(found.group(1))
    if version not in SUPPORTED:
        raise RequirementError(
            f"`{program}` is of a wrong version: expected Java 17 or 21, got Java {version}. {_ACTION}"
        )
    return Java(program, program.resolve().parent.parent, version, text)


def _program(environment: Mapping[str, str]) -> Path:
    home = environment.get("JAVA_HOME", "")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.is_file():
            raise RequirementError(f"JAVA_HOME has no Java: expected a file `{program}`, got none. {_ACTION}")
        return program
    found = shutil.which("java", path=environment.get("PATH", os.defpath))
    if found is None:
        raise RequirementError(f"Java is missing: JAVA_HOME is not set and PATH has no `java`. {_ACTION}")
    return Path(found)


def _ask_version(program: Path) -> str:
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RequirementError(f"`{program}` does not run: {error}. {_ACTION}") from error
    return done.stderr or done.stdout


def proxy_flags(environment: Mapping[str, str] | None = None) -> list[str]:
    """Translate the proxy variables of the shell, which Java ignores, into Java's system properties.

    >>> proxy_flags({"https_proxy": "http://proxy.example:3128", "no_proxy": "localhost,.example"})
    ['-Dhttps.proxyHost=proxy.example', '-Dhttps.proxyPort=3128', '-Dhttp.nonProxyHosts=localhost|*.example']
    """
    environment = os.environ if environment is None else environment
    flags: list[str] = []
    for scheme in ("http", "https"):
        address = environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY") or ""
        found = re.fullmatch(r"(?:\w+://)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+)(?::(\d+))?/?", address)
        if found:
            flags.append(f"-D{scheme}.proxyHost={found.group(1)}")
            flags.append(f"-D{scheme}.proxyPort={found.group(2) or (443 if scheme == 'https' else 80)}")
    without = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if flags and without:
        hosts = [host.strip() for host in without.split(",") if host.strip()]
        flags.append("-Dhttp.nonProxyHosts=" + "|".join("*" + host if host.startswith(".") else host for host in hosts))
    return flags
