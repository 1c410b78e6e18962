"""Class archives: what Java has read, linked and verified of our jars in one run, mapped into memory by all later ones.

Spark loads some 15,000 classes before its first answer, and the broker 5,000; from an archive an engine takes a third
less processor time to start (Java calls it a dynamic archive of class data sharing).

1. An archive belongs to one Java and one class path: its name has a digest of both, with the sizes and times of jars.
2. It is made by `tidewire doctor --setup` and stands beside the jars, in `classes/`: `class_training.py`, in a process
   of its own, runs what is to be archived; what it prints is told only when it fails.
3. Java checks it again at each start. Where it is not there, or does not fit, Java reads the jars as ever, silently.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tidewire.stack.child import Child
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.jars import pyspark_jars
from tidewire.stack.java import Java

KEPT = 3
"""How many archives of a kind stay, the newest: each clone of a project has a Spark of its own."""
_OPTIONS = "spark.driver.extraJavaOptions"
_INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}
"""What Python does with three rows need not be compiled for it, which takes a minute where that was never done."""
_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """Where the classes of one class path are, or would be, archived."""

    file: Path

    @property
    def is_there(self) -> bool:
        """Whether it was made."""
        return self.file.is_file()

    @property
    def flags(self) -> list[str]:
        """What makes a Java use it; nothing when it was not made."""
        return [f"-XX:SharedArchiveFile={self.file}", *_QUIET] if self.is_there else []

    def keep(self, made: Path) -> None:
        """Take what a Java with the flags of `recording` wrote when it ended; drop the oldest of the kind.

        It may stand in another file system: it is there whole, or not at all.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(f".{os.getpid()}.part")
        shutil.move(made, part)
        part.replace(self.file)
        kind = self.file.name.partition("-")[0]
        archives = sorted(self.file.parent.glob(f"{kind}-*.jsa"), key=lambda path: path.stat().st_mtime)
        for old in archives[:-KEPT]:
            with suppress(OSError):
                old.unlink()


def class_archives(java: Java, jars: Mapping[str, Sequence[Path]]) -> dict[str, ClassArchive]:
    """Return the archives of all that we start, by the name of its set of jars."""
    return {"broker": broker_archive(java, jars["broker"]), "spark": spark_archive(java, jars["spark"])}


def archive_classes(java: Java, jars: Mapping[str, Sequence[Path]], say: Callable[[str], None]) -> None:
    """Make the archives of broker and Spark that are missing. Takes 30 to 90 s, 270 MB.

    Raises:
        TidewireError, OSError: broker or engine did not run, or no archive came of it; nothing is kept then.
    """
    absent = {kind: archive for kind, archive in class_archives(java, jars).items() if not archive.is_there}
    if not absent:
        return
    say("archiving the classes of Spark and of the broker, once: starts are quicker with it (about a minute)")
    with tempfile.TemporaryDirectory(prefix="tidewire-classes-") as name:
        folder = Path(name)
        _train(folder, jars, list(absent))
        for kind, archive in absent.items():
            if not (folder / f"{kind}.jsa").is_file():
                raise ChildFailedError(f"Java wrote no archive of the classes of {kind}")
            archive.keep(folder / f"{kind}.jsa")


def _train(folder: Path, jars: Mapping[str, Sequence[Path]], absent: Sequence[str]) -> None:
    (folder / "jars.json").write_text(json.dumps({kind: [str(jar) for jar in own] for kind, own in jars.items()}))
    command = [sys.executable, "-m", "tidewire.stack.class_training", str(folder), *absent]
    child = Child("class training", command, folder / "training.log", folder, os.environ | _INTERPRETED)
    try:
        while child.alive:
            time.sleep(0.2)
    finally:
        child.kill()
    if child.exit_code != 0:
        raise ChildFailedError(f"broker and engine did not run:\n{child.tail(3)}")


def recording(target: Path) -> list[str]:
    """Return the flags with which a Java writes an archive when it ends (some 5 to 20 s), and compiles quickly."""
    return [f"-XX:ArchiveClassesAtExit={target}", "-XX:TieredStopAtLevel=1", *_QUIET]


def broker_archive(java: Java, jars: Sequence[Path]) -> ClassArchive:
    """Return the archive of the broker's class path."""
    return _archive("broker", java, jars, jars)


def spark_archive(java: Java, jars: Sequence[Path]) -> ClassArchive:
    """Return the archive of Spark; `jars` are those that come with a session, whose classes Java does not archive.

    *Cost*: the names, sizes and times of PySpark's 300 jars, some 3 ms.
    """
    return _archive("spark", java, jars, sorted(pyspark_jars().glob("*.jar")))


def with_java_options(spark: Mapping[str, str], flags: Sequence[str]) -> dict[str, str]:
    """Return Spark's settings with flags for its Java before the user's own, which win.

    >>> with_java_options({_OPTIONS: "-Xss4m"}, ["-XX:SharedArchiveFile=/my jars/a.jsa"])
    {'spark.driver.extraJavaOptions': '"-XX:SharedArchiveFile=/my jars/a.jsa" -Xss4m'}
    """
    if not flags:
        return dict(spark)
    quoted = ['"' + flag.replace("\\", "\\\\").replace('"', '\\"') + '"' for flag in flags]
    return {**spark, _OPTIONS: " ".join([*quoted, spark.get(_OPTIONS, "")]).strip()}


def _archive(kind: str, java: Java, beside: Sequence[Path], path: Sequence[Path]) -> ClassArchive:
    digest = hashlib.sha256(f"{java.home}\0{java.build}".encode())
    for jar in path:
        with suppress(OSError):
            stat = jar.stat()
            digest.update(f"\0{jar}\0{stat.st_size}\0{stat.st_mtime_ns}".encode())
    folder = beside[0].parent if beside else Path()
    return ClassArchive(folder / "classes" / f"{kind}-{digest.hexdigest()[:16]}.jsa")
