"""The embedded stack: a broker, the engine and edges on one data directory, from the first check to the clean stop.

Order of a start: lock, disk, Java, ports, jars; the broker until it answers; the topics; the engine and the edges
together. From then on a process that dies is started again for ever, unless it says that something must be mended.
Order of a stop: engine and edges together, each at the end of what it has begun (10 s at most), then the broker, which
they need for that. Whatever goes wrong in between, the stop happens.
"""

from __future__ import annotations

import http.client
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

import tidewire
from connectors.http.address import HttpAddress
from connectors.kafka.admin import Admin
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.settings import ENV_PREFIX, Settings
from tidewire.stack.broker import Broker
from tidewire.stack.child import Child
from tidewire.stack.data_directory import DEFAULT_DIRECTORY, DataDirectory, remember
from tidewire.stack.disk import CHECK_SECONDS, require_room
from tidewire.stack.failure import PortInUseError
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars, user_cache
from tidewire.stack.java import Java, find_java
from tidewire.stack.port import free_port, require_free
from tidewire.stack.private_files import Closing, close_to_others, kept_private
from tidewire.stack.supervisor import Service, Supervisor
from tidewire.stack.user import require_named_user

PROGRAM = (sys.executable, "-m", "tidewire")
_STEP_SECONDS = 0.2
_REMARK_SECONDS = 20.0
_LAST_PORT_SECONDS = 5.0

Say = Callable[[str], None]


class EmbeddedStack:
    """One run of the stack. `run` returns only when it was stopped or could not go on.

    Args:
        settings: with `bootstrap` set, no broker is started and that cluster is used.
        say: gets remarks for a person: what is waited for, what died.
        program: what is called with `engine` or `edge` and their options.
    """

    def __init__(self, settings: Settings, say: Say, program: Sequence[str] = PROGRAM) -> None:
        self.settings = settings
        self.directory = DataDirectory(settings.data_dir)
        self._say = say
        self._program = list(program)
        self._state = "starting"
        self._since = datetime.now(UTC)
        self._broker: Broker | None = None
        first = settings.http_port
        self._http_ports = [first + i if first else free_port() for i in range(settings.edges)]
        self._advertised = [settings.advertised(number) for number in range(settings.edges)]
        self._disk_checked = 0.0

    def run(self, on_ready: Callable[[dict[str, Any]], None]) -> None:
        """Run until KeyboardInterrupt, then stop cleanly (2-15 s).

        Raises:
            StackError: a check failed, the disk filled up, a process says that something must be mended, or died again
                and again before all were ready. Nothing is left running.
        """
        new = self.directory.is_new
        with self.directory.held():
            java, jars = self._prepare()
            self._name_the_last_one(new)
            with kept_private(self.directory.path) as closing, Supervisor(self._say) as supervisor:
                self._say_what_was_open(closing, new)
                try:
                    self._start(supervisor, java, jars)
                    self._keep_running(supervisor, on_ready)
                except KeyboardInterrupt:
                    self._say("stopping")
                finally:
                    self._stop(supervisor)

    @property
    def bootstrap(self) -> str:
        """The address of the cluster in use."""
        return self.settings.bootstrap or (self._broker.bootstrap if self._broker else self.settings.address)

    def describe(self, supervisor: Supervisor) -> dict[str, Any]:
        """Return what the status file and `up --json` say."""
        return {
            "state": self._state,
            "pid": os.getpid(),
            "since": self._since.isoformat(timespec="seconds"),
            "data_dir": str(self.directory.path),
            "bootstrap": self.bootstrap,
            "prefix": self.settings.prefix,
            "http": [HttpAddress("http", self.settings.http_host, port).url for port in self._http_ports],
            "children": msgspec.to_builtins(supervisor.describe()),
        }

    def _prepare(self) -> tuple[Java, dict[str, list[Path]]]:
        """Check everything that can be checked before a process starts."""
        settings = self.settings
        require_room(self.directory.path, settings.disk_floor_mb)
        require_named_user()
        java = find_java()
        self._require_ports()
        sets = read_jar_sets()
        wanted = ["spark", "broker"] if settings.embedded else ["spark"]
        directories = jar_directories(settings.data_dir, settings.jars_dir)
        return java, {
            name: require_jars(
                sets[name], directories, progress=self._say, ivy_settings=settings.ivy_settings, java=java
            )
            for name in wanted
        }

    def _name_the_last_one(self, new: bool) -> None:
        """The default is a folder of the working directory: say so where that is another than yesterday's."""
        if self.directory.path == DEFAULT_DIRECTORY.absolute():
            before = remember(self.directory.path, user_cache())
            if new and before is not None:
                self._say(f"`{self.directory.path}` is a new data directory; the last one used was `{before}`")

    def _say_what_was_open(self, closing: Closing, new: bool) -> None:
        """What we have just made ourselves is no news."""
        if closing.closed and closing.within_reach and not new:
            self._say(f"other users could read what is in `{self.directory.path}`; it is closed to them now")
        if closing.open:
            named = ", ".join(f"`{place}`" for place in closing.open[:3])
            self._say(f"other users may read {named}, and we cannot close it: `chmod go=` by its owner does")

    def _require_ports(self) -> None:
        settings = self.settings
        if settings.embedded and settings.broker_port:
            self._await_port(settings.broker_port, "the broker", "broker_port", "127.0.0.1")
        for port in self._http_ports:
            self._await_port(port, "an edge's HTTP", "http_port", settings.http_host)

    def _await_port(self, port: int, purpose: str, setting: str, host: str) -> None:
        """Give the children of an `up` that was just killed the moment that they need to end."""
        deadline = time.monotonic() + (_LAST_PORT_SECONDS if self.directory.status_file.exists() else 0.0)
        while time.monotonic() < deadline:
            try:
                return require_free(port, purpose, setting, host)
            except PortInUseError:
                time.sleep(0.1)
        return require_free(port, purpose, setting, host)

    def _start(self, supervisor: Supervisor, java: Java, jars: dict[str, list[Path]]) -> None:
        settings = self.settings
        if settings.embedded:
            broker = Broker(settings.data_dir, settings.broker_port, jars["broker"], settings.broker, java)
            self._broker = broker
            supervisor.start(Service("broker", broker.launch, lambda child: broker.answers(), ()))
            self._await_all(supervisor)
        self._ensure_topics(supervisor)
        supervisor.start(self._engine(java))
        for number in range(settings.edges):
            supervisor.start(self._edge(number))

    def _await_all(self, supervisor: Supervisor) -> None:
        self._write_status(supervisor)
        remark_at = time.monotonic() + _REMARK_SECONDS
        while not supervisor.ready:
            if supervisor.step():
                self._write_status(supervisor)
            if time.monotonic() > remark_at:
                remark_at += _REMARK_SECONDS
                self._say_who_is_waited_for(supervisor)
            self._check_disk()
            time.sleep(_STEP_SECONDS)

    def _say_who_is_waited_for(self, supervisor: Supervisor) -> None:
        waiting = [keep.service.name for keep in supervisor.keeps if not keep.ready]
        if waiting:  # the last one may have become ready just now
            self._say(f"waiting for {', '.join(waiting)}; see {', '.join(self._log_of(name) for name in waiting)}")

    def _log_of(self, name: str) -> str:
        return str(self.directory.logs / f"{name}.log")

    def _ensure_topics(self, supervisor: Supervisor) -> None:
        """Create the topics that are missing; wait for a cluster that is not there yet, saying so."""
        properties = KafkaProperties(self.bootstrap, self.settings.kafka)
        while True:
            try:
                Admin(properties).ensure_topics(Topics(self.settings.prefix), self.settings.virtual_edges)
                return
            except KafkaFailure as failure:
                if not failure.retry_helps:
                    raise
                self._say(f"waiting for Kafka: {failure}")
            supervisor.step()
            self._check_disk()
            time.sleep(1.0)

    def _keep_running(self, supervisor: Supervisor, on_ready: Callable[[dict[str, Any]], None]) -> None:
        self._await_all(supervisor)
        close_to_others(self.directory.path)  # Hadoop may give its folders a mode of its own
        self._state = "ready"
        supervisor.keep_for_ever()
        self._write_status(supervisor)
        on_ready(self.describe(supervisor))
        while True:
            time.sleep(_STEP_SECONDS)
            if supervisor.step():
                self._write_status(supervisor)
            self._check_disk()

    def _check_disk(self) -> None:
        now = time.monotonic()
        if now - self._disk_checked >= CHECK_SECONDS:
            self._disk_checked = now
            require_room(self.directory.path, self.settings.disk_floor_mb)

    def _stop(self, supervisor: Supervisor) -> None:
        self._state = "stopping"
        edges = [f"edge-{number}" for number in range(self.settings.edges)]
        supervisor.stop([["engine", *edges], ["broker"]])

    def _write_status(self, supervisor: Supervisor) -> None:
        self.directory.write_status(self.describe(supervisor))

    def _engine(self, java: Java) -> Service:
        """The engine is ready when it tells progress, which it does also while nothing arrives."""
        told = -1

        def launch() -> Child:
            nonlocal told
            told = self._batches_told()
            return self._child("engine", ["engine"], {"JAVA_HOME": str(java.home)})

        def ready(child: Child) -> bool:
            nonlocal told
            now = self._batches_told()
            if told < 0:
                told = now
            return now > told

        return Service("engine", launch, ready)

    def _batches_told(self) -> int:
        """Return where the topic `batches` ends; -1 while Kafka does not answer, which proves nothing."""
        try:
            admin = Admin(KafkaProperties(self.bootstrap, self.settings.kafka), timeout=2.0)
            return sum(admin.end_offsets(Topics(self.settings.prefix).batches).values())
        except KafkaFailure:
            return -1

    def _edge(self, number: int) -> Service:
        name, port = f"edge-{number}", self._http_ports[number]
        advertised = self._advertised[number]
        command = ["edge", "--http-port", str(port), *(["--advertised", advertised.url] if advertised else [])]
        host = self.settings.http_host
        return Service(name, lambda: self._child(name, command, {}), lambda child: is_healthy(host, port))

    def _child(self, name: str, command: list[str], more: dict[str, str]) -> Child:
        environment = child_environment(self.settings) | {"TIDEWIRE_BOOTSTRAP": self.bootstrap} | more
        log = self.directory.logs / f"{name}.log"
        return Child(name, [*self._program, *command], log, self.directory.run, environment)


def child_environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which a child has our settings, our code and our interpreter, wherever it runs."""
    rooms = str(Path(tidewire.__file__).resolve().parent.parent)
    path = [rooms, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    told = {ENV_PREFIX + name.upper() for name in (*Settings.model_fields, "config")}
    kept = {name: value for name, value in os.environ.items() if name not in told}
    own = {"PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1", "PYSPARK_PYTHON": sys.executable}
    return kept | settings.as_environment() | own


def is_healthy(host: str, port: int) -> bool:
    """Return whether `GET /health` of an edge answers 200. No proxy is asked. *Cost*: at most 1 s."""
    connection = http.client.HTTPConnection(host, port, timeout=1.0)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
