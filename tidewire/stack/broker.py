"""The embedded broker: one Apache Kafka KRaft node on the loopback interface, in one JVM with a 512 MB heap.

Measured: 4 s to start, 320 MB. Everything it keeps is in `<data directory>/broker`; it runs with that as working
directory and names its log directory relative to it, so that no character of the path can upset a properties file.
"""

from __future__ import annotations

import base64
import os
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from connectors.kafka.admin import Admin
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.properties import KafkaProperties
from tidewire.stack.child import Child, tail
from tidewire.stack.class_archive import broker_archive
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.java import Java, find_java
from tidewire.stack.port import LOOPBACK, free_port, is_listening, require_free

DEFAULT_PORT = 19092
START_SECONDS = 90.0
_JVM_FLAGS = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
)
"""One collector thread and the quick compiler alone: what the best compiler gains a broker on one machine does not pay
for what it takes from engine and edge beside it in the first minutes (measured: docs/performance.md)."""


class Broker:
    """A broker that can be started, stopped, killed and started again on the same data and port.

    Args:
        data_dir: the data directory; the broker uses `broker/` and `logs/` in it.
        port: where clients connect; 0 takes a free one, which is kept over restarts of this object.
        jars: the jars of the set `broker`, or the directory they are in.
        overrides: broker properties that replace those of `conf/broker.properties`.
        java: the Java to use; found by itself when it is not given.
        flags: more flags of the broker's Java.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int = DEFAULT_PORT,
        jars: Path | Sequence[Path] = (),
        overrides: Mapping[str, str] | None = None,
        java: Java | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        self.port = port or free_port()
        self.home = Path(data_dir).absolute() / "broker"
        self.log = Path(data_dir).absolute() / "logs" / "broker.log"
        self.child: Child | None = None
        self._jars = sorted(jars.glob("*.jar")) if isinstance(jars, Path) else [Path(jar) for jar in jars]
        self._overrides = dict(overrides or {})
        self._java = java
        self._flags = tuple(flags)

    @property
    def bootstrap(self) -> str:
        """The address for `bootstrap.servers`."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def alive(self) -> bool:
        """Whether the JVM runs."""
        return self.child is not None and self.child.alive

    def start(self, patience: float = START_SECONDS) -> None:
        """Start and return when it answers; the data directory is formatted on the first start.

        Raises:
            PortInUseError: the port is taken.
            ChildFailedError: it ended, or did not answer within `patience` seconds; with the tail of its log.
        """
        self.launch()
        self.await_ready(patience)

    def launch(self) -> Child:
        """Start the JVM and return at once. *Raises* as `start`, but does not wait for the first answer."""
        require_free(self.port, "the broker", "broker_port")
        java = self._java or find_java()
        for directory in (self.home, self.log.parent):
            directory.mkdir(parents=True, exist_ok=True)
        self._write_properties()
        if not (self.home / "log" / "meta.properties").exists():
            self._format(java)
        command = [*self._jvm(java, self._flags), "kafka.Kafka", "server.properties"]
        self.child = Child("broker", command, self.log, self.home, os.environ)
        return self.child

    def await_ready(self, patience: float = START_SECONDS) -> None:
        """Wait until it answers a request for metadata. *Raises* ChildFailedError as `start`."""
        deadline = time.monotonic() + patience
        while not self.answers():
            if not self.alive:
                raise ChildFailedError(
                    f"the broker ended while it started. Its log `{self.log}` ends with:\n{tail(self.log)}"
                )
            if time.monotonic() > deadline:
                self.kill()
                raise ChildFailedError(
                    f"the broker gave no answer in {patience:g} s. Its log `{self.log}` ends with:\n{tail(self.log)}"
                )
            time.sleep(0.1)

    def answers(self) -> bool:
        """Return whether it serves metadata now. *Cost*: about 10 ms, at most 2 s."""
        if not is_listening(self.port):
            return False
        with suppress(KafkaFailure):
            Admin(KafkaProperties(self.bootstrap), timeout=2.0).topics()
            return True
        return False

    def stop(self, patience: float = 20.0) -> None:
        """Stop cleanly (about 1 s); killed after `patience` seconds."""
        if self.child is not None:
            self.child.stop(patience)

    def kill(self) -> None:
        """Kill it as a power cut would."""
        if self.child is not None:
            self.child.kill()

    def _jvm(self, java: Java, flags: Sequence[str] = ()) -> list[str]:
        classes = os.pathsep.join(str(jar) for jar in self._jars)
        log = [f"-Dtidewire.log={self.log}", "-Dlog4j2.configurationFile=log4j2.properties"]
        archived = broker_archive(java, self._jars).flags
        return [str(java.program), *_JVM_FLAGS, *archived, *flags, *log, "-cp", classes]

    def _write_properties(self) -> None:
        own = {
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{LOOPBACK}:{(controller := free_port())}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
            "log.dirs": "log",
        }
        lines = [f"{_escape(name)}={_escape(value)}" for name, value in (own | self._overrides).items()]
        text = (files("conf") / "broker.properties").read_text() + "\n" + "\n".join(lines) + "\n"
        (self.home / "server.properties").write_text(text)
        (self.home / "log4j2.properties").write_text((files("conf") / "log4j2-broker.properties").read_text())

    def _format(self, java: Java) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        form = ["format", f"--cluster-id={cluster}", "-c", "server.properties"]
        command = [*self._jvm(java), "kafka.tools.StorageTool", *form]
        done = subprocess.run(command, cwd=self.home, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise ChildFailedError(
                f"`{self.home}` could not be formatted for the broker: {(done.stderr or done.stdout).strip()}"
            )


def _escape(text: str) -> str:
    """Write `text` as a properties file wants it: Java reads these as Latin-1 with backslash escapes."""
    plain = text.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(c if c.isascii() else "".join(f"\\u{unit:04x}" for unit in _utf16(c)) for c in plain)


def _utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be")
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]
