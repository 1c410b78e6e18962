"""The jars of Spark's Kafka connector and of the broker: fetched once, verified always, then used offline.

How a set of jars comes to be there:

1. `conf/jars.toml` names the coordinates of each set and the SHA-256 of every file that must come of them.
2. The first directory that holds all files of a set, intact, is used: nothing is resolved, nobody is asked.
3. Otherwise the Ivy inside PySpark resolves the coordinates into a folder of its own; each file is verified there and
   then moved into the first writable directory by a rename, under a lock: two processes at once, or a kill
   halfway, leave whole files only.
4. A file with another checksum is thrown away together with Ivy's cache and everything is fetched once more; a
   second mismatch is an error that names both checksums.

*Cost* of verifying both sets (58 MB): about 0.1 s at each start.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from xml.sax.saxutils import quoteattr

from tidewire.stack.disk import is_there
from tidewire.stack.failure import NoPermissionError, RequirementError
from tidewire.stack.java import Java, find_java, proxy_flags

PATTERN = "[artifact]-[revision](-[classifier]).[ext]"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class JarSet:
    """A class path: what to ask for, what to leave out, and the SHA-256 of each file by its name."""

    name: str
    coordinates: tuple[str, ...]
    exclude: tuple[str, ...]
    sha256: Mapping[str, str]


def read_jar_sets(text: str | None = None) -> dict[str, JarSet]:
    """Return all sets of `conf/jars.toml`, by name."""
    text = (files("conf") / "jars.toml").read_text(encoding="utf-8") if text is None else text
    return {
        name: JarSet(name, tuple(entry["coordinates"]), tuple(entry["exclude"]), entry["sha256"])
        for name, entry in tomllib.loads(text).items()
    }


def user_cache(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the user's cache directory for tidewire, None when the user has no home (no HOME, no passwd entry)."""
    environment = os.environ if environment is None else environment
    xdg = environment.get("XDG_CACHE_HOME", "")
    if Path(xdg).is_absolute():
        return Path(xdg) / "tidewire"
    try:
        home = Path(environment["HOME"]) if environment.get("HOME") else Path.home()
    except RuntimeError:
        return None
    return home / ".cache" / "tidewire"


def jar_directories(data_dir: Path, chosen: Path | None = None) -> list[Path]:
    """Return where jars may be, best first: the chosen directory, or the user's cache and then the data directory."""
    if chosen is not None:
        return [chosen]
    cache = user_cache()
    return [folder / "jars" for folder in (cache, data_dir) if folder is not None]


def missing(jars: JarSet, directory: Path) -> list[str]:
    """Return the files of the set that `directory` does not hold intact. *Cost*: reads all of them."""
    return [name for name, expected in jars.sha256.items() if checksum(directory / name) != expected]


def checksum(path: Path) -> str | None:
    """Return the SHA-256 of a file in hexadecimal, None when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def find_jars(jars: JarSet, directories: Iterable[Path]) -> list[Path] | None:
    """Return the files of the set from the first directory that holds all of them intact, or None."""
    for directory in directories:
        if is_there(directory) and not missing(jars, directory):
            return [directory / name for name in jars.sha256]
    return None


def require_jars(
    jars: JarSet,
    directories: Sequence[Path],
    *,
    progress: Progress = lambda text: None,
    ivy_settings: Path | None = None,
    java: Java | None = None,
) -> list[Path]:
    """Return the files of the set, fetched if no directory holds them yet (about 10 s a set).

    Raises:
        RequirementError: they cannot be fetched, or what comes has other checksums, or there is no Java.
        NoPermissionError: none of the directories can be written.
    """
    found = find_jars(jars, directories)
    if found is not None:
        return found
    directory = _writable(directories)
    with _locked(directory, progress):
        if missing(jars, directory):
            _fetch(jars, directory, java or find_java(), ivy_settings, progress)
    return [directory / name for name in jars.sha256]


def _writable(directories: Sequence[Path]) -> Path:
    reasons: list[str] = []
    for directory in directories:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except OSError as error:
            reasons.append(f"`{directory}`: {error.strerror}")
    raise NoPermissionError(f"the jars cannot be stored: {'; '.join(reasons)}. Set `jars_dir` to one you can write.")


@contextmanager
def _locked(directory: Path, progress: Progress) -> Iterator[None]:
    with (directory / ".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another process is fetching jars; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(jars: JarSet, directory: Path, java: Java, ivy_settings: Path | None, progress: Progress) -> None:
    wrong: list[str] = []
    for _ in range(2):
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as folder:
            _run_ivy(jars, Path(folder), java, ivy_settings, progress)
            wrong = missing(jars, Path(folder) / "jars")
            if not wrong:
                for name in jars.sha256:
                    (Path(folder) / "jars" / name).replace(directory / name)
                return
            came = checksum(Path(folder) / "jars" / wrong[0])
        progress(f"`{wrong[0]}` is not what it should be; fetching once more")
    what = f"SHA-256 {came}" if came else "no such file"
    raise RequirementError(
        f"the jar `{wrong[0]}` of the set `{jars.name}` is not the one tidewire was tested with: expected SHA-256 "
        f"{jars.sha256[wrong[0]]}, got {what}. Check the proxy or mirror in between, or set `ivy_settings` to another."
    )


def _run_ivy(jars: JarSet, folder: Path, java: Java, ivy_settings: Path | None, progress: Progress) -> None:
    """Resolve the set into `folder/jars`, with a cache that is thrown away with the folder."""
    (folder / "ivy.xml").write_text(ivy_file(jars), encoding="utf-8")
    if ivy_settings is None:
        ivy_settings = folder / "ivysettings.xml"
        ivy_settings.write_text((files("conf") / "ivysettings.xml").read_text(encoding="utf-8"), encoding="utf-8")
    places = {"tidewire.ivy.cache": folder / "cache", "ivy.default.ivy.user.dir": folder, "user.home": folder}
    flags = [*(f"-D{name}={place}" for name, place in places.items()), *proxy_flags()]
    command = [str(java.program), "-Xmx512m", *flags, "-cp", str(pyspark_jars() / "*")]
    command += ["org.apache.ivy.Main", "-settings", str(ivy_settings), "-cache", str(folder / "cache")]
    command += ["-ivy", str(folder / "ivy.xml"), "-retrieve", str(folder / "jars" / PATTERN)]
    progress(f"fetching the {len(jars.sha256)} jars of the set `{jars.name}`")
    said: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ivy:
        try:
            for line in ivy.stdout or ():
                said.append(line.strip())
                if "[SUCCESSFUL" in line:
                    progress(f"{_count(said)} of {len(jars.sha256)}: {line.split('!')[-1].split('(')[0].strip()}")
        except BaseException:
            ivy.kill()
            raise
    if ivy.returncode != 0:
        raise RequirementError(
            f"the jars of the set `{jars.name}` could not be fetched: {_reason(said)}. Check the network "
            "(https_proxy is obeyed), name a mirror with `ivy_settings`, or a directory that has them with `jars_dir`."
        )


def _count(said: Iterable[str]) -> int:
    return sum("[SUCCESSFUL" in line for line in said)


def _reason(said: Sequence[str]) -> str:
    telling = [
        line for line in said if any(word in line.lower() for word in ("unresolved", "not found", "exception", "error"))
    ]
    return (telling or [line for line in said if line] or ["it said nothing"])[0].strip(": ")


def ivy_file(jars: JarSet) -> str:
    """Return the Ivy module that depends on the set's coordinates."""
    excludes = "".join(_exclude(*(coordinate + ":").split(":")[:2]) for coordinate in jars.exclude)
    dependencies = "".join(_dependency(coordinate, excludes) for coordinate in jars.coordinates)
    info = f'<info organisation="tidewire" module={quoteattr(jars.name)}/>'
    conf = '<configurations><conf name="default"/></configurations>'
    return f'<ivy-module version="2.0">{info}{conf}<dependencies>{dependencies}</dependencies></ivy-module>\n'


def _dependency(coordinate: str, excludes: str) -> str:
    organisation, name, revision = (quoteattr(part) for part in coordinate.split(":"))
    head = f'<dependency org={organisation} name={name} rev={revision} conf="default-&gt;master,runtime">'
    return f"{head}{excludes}</dependency>"


def _exclude(organisation: str, module: str) -> str:
    return f"<exclude org={quoteattr(organisation)}{f' module={quoteattr(module)}' if module else ''}/>"


def pyspark_jars() -> Path:
    """Return the directory of Spark's own jars. Raises RequirementError where PySpark is not installed."""
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise RequirementError("PySpark is missing: expected the package `pyspark`, got none. Install tidewire again.")
    return Path(next(iter(found.submodule_search_locations))) / "jars"
