"""Files of a checkpoint: plain ones on this machine, or whatever Spark reaches through Hadoop (HDFS, S3, ABFS ...)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from state.errors import StateError


class Files(Protocol):
    """What a checkpoint needs of a file system; paths are relative to the checkpoint's folder."""

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes, or None if there is none."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Replace the file as a whole: after a crash there is the old one or the new one."""
        ...

    def exists(self, path: str) -> bool:
        """Whether the file is there."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in `folder`; none if it does not exist."""
        ...


class LocalFiles:
    """Files below a folder of this machine. *Cost*: `exists` takes microseconds, `write` waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes, or None if there is none."""
        try:
            return (self._folder / path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes) -> None:
        """Replace the file; the name changes only once the bytes are on the disk."""
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.{os.getpid()}")
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
        with contextlib.suppress(OSError):
            _sync_folder(target.parent)

    def exists(self, path: str) -> bool:
        """Whether the file is there."""
        return (self._folder / path).exists()

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in `folder`; none if it does not exist."""
        try:
            return [path.name for path in (self._folder / folder).iterdir()]
        except FileNotFoundError:
            return []


class HadoopFiles:
    """Files behind a URI, through the classes that write the query's own checkpoint.

    Writing goes through Hadoop's FileContext where the store has one: its rename replaces a file, which that of the
    older FileSystem does not everywhere (seen with `file:`).
    *Cost*: one request to the store, and 1 ms between Python and the JVM, for every call.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        jvm: Any = spark._jvm
        package = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        conf = spark._jsparkSession.sessionState().newHadoopConf()
        self._jvm = jvm
        self._uri = uri.rstrip("/")
        self._store = getattr(getattr(package, "CheckpointFileManager$"), "MODULE$").create(self._path(""), conf)
        try:
            self._replacing = package.FileContextBasedCheckpointFileManager(self._path(""), conf)
        except Py4JJavaError:
            self._replacing = self._store

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._uri}/{path}")

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes, or None if there is none."""
        if not self.exists(path):
            return None
        stream = self._store.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, data: bytes) -> None:
        """Replace the file as the store does it atomically (rename, or one upload).

        Raises StateError if the old one is still there afterwards.
        """
        self._store.mkdirs(self._path(path).getParent())
        stream = self._replacing.createAtomic(self._path(path), True)
        try:
            stream.write(bytearray(data))
            stream.close()
        except BaseException:
            stream.cancel()
            raise
        if self.read(path) != data:
            raise StateError(f"`{self._uri}/{path}` could not be replaced: the store does not overwrite. Use another.")

    def exists(self, path: str) -> bool:
        """Whether the file is there."""
        return bool(self._store.exists(self._path(path)))

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in `folder`; none if it does not exist."""
        if not self.exists(folder):
            return []
        return [status.getPath().getName() for status in self._store.list(self._path(folder))]


def is_local_path(uri: str) -> bool:
    """Whether a checkpoint lies in this machine's file system."""
    return uri.startswith("file:") or "://" not in uri


def local_folder(uri: str) -> Path:
    """Return the folder that a local checkpoint's path or `file:` URI names."""
    return Path(unquote(urlsplit(uri).path)) if uri.startswith("file:") else Path(uri)


def open_files(spark: SparkSession, uri: str) -> LocalFiles | HadoopFiles:
    """Return the files of the checkpoint at `uri`."""
    return LocalFiles(local_folder(uri)) if is_local_path(uri) else HadoopFiles(spark, uri)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
