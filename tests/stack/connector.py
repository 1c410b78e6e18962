"""A Kafka Connect worker with Debezium's connectors for PostgreSQL: a real producer of changes, killed and started.

One JVM in standalone mode; its offsets are in a file of `home`, so that it goes on where it was. Killed, it may publish
again what it had published: at least what came since the file was written, twice a second.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.stack.live_stack import eventually
from tests.stack.postgres import Postgres
from tidewire.stack.child import Child
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars
from tidewire.stack.java import find_java
from tidewire.stack.port import LOOPBACK, free_port

_JARS = Path(__file__).with_name("connect_jars.toml")
_JSON = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True)
class Source:
    """Publishes `tables` to topics `NAME.public.TABLE`. `schema`: each record has its own. `more`: its options."""

    name: str
    tables: str
    schema: bool = False
    more: Mapping[str, str] = field(default_factory=dict)

    def properties(self, database: Postgres) -> dict[str, str]:
        """Return what Connect is told."""
        return {
            "name": self.name,
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "database.hostname": LOOPBACK,
            "database.port": str(database.port),
            "database.user": "postgres",
            "database.password": "x",
            "database.dbname": "postgres",
            "topic.prefix": self.name,
            "slot.name": self.name,
            "publication.name": self.name,
            "publication.autocreate.mode": "filtered",
            "table.include.list": self.tables,
            "skipped.operations": "none",
            "topic.creation.default.replication.factor": "1",
            "topic.creation.default.partitions": "1",
            "key.converter": _JSON,
            "value.converter": _JSON,
            "key.converter.schemas.enable": str(self.schema).lower(),
            "value.converter.schemas.enable": str(self.schema).lower(),
            "heartbeat.interval.ms": "1000",
            "poll.interval.ms": "50",
            "status.update.interval.ms": "500",
        } | dict(self.more)


class Connector:
    """One worker that runs all `sources`."""

    def __init__(self, home: Path, database: Postgres, bootstrap: str, sources: Sequence[Source]) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self.log = home / "connect.log"
        chosen = os.environ.get("TIDEWIRE_CONNECT_JARS_DIR")
        directories = [folder / "connect" for folder in jar_directories(home, Path(chosen) if chosen else None)]
        self._jars = require_jars(read_jar_sets(_JARS.read_text())["connect"], directories)
        worker = {
            "bootstrap.servers": bootstrap,
            "key.converter": _JSON,
            "value.converter": _JSON,
            "offset.storage.file.filename": str(home / "offsets"),
            "offset.flush.interval.ms": "500",
            "listeners": f"http://{LOOPBACK}:{free_port()}",
            "plugin.discovery": "service_load",
        }
        _write(home / "worker.properties", worker)
        for source in sources:
            _write(home / f"{source.name}.properties", source.properties(database))
        (home / "log4j2.properties").write_text(_LOG)
        self._files = [f"{source.name}.properties" for source in sources]
        self.child: Child | None = None
        self.kills = 0

    def start(self) -> None:
        """Start it and wait until all its sources stream."""
        classes = os.pathsep.join(map(str, self._jars))
        command = [str(find_java().program), "-Xmx512m", "-Dlog4j2.configurationFile=log4j2.properties", "-cp", classes]
        command += ["org.apache.kafka.connect.cli.ConnectStandalone", "worker.properties", *self._files]
        at = self.log.stat().st_size if self.log.exists() else 0
        self.child = child = Child("connect", command, self.log, self._home, os.environ)

        def streams() -> bool:
            assert child.alive, f"the connector has ended: {child.tail(30)}"
            with self.log.open("rb") as log:
                log.seek(at)
                return log.read().count(b"Processing messages") >= len(self._files)

        eventually(streams, f"the connector to stream; see {self.log}", 240)

    def kill(self) -> None:
        """SIGKILL it."""
        if self.child is not None:
            self.child.kill()
            self.kills += 1


_LOG = """status = warn
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c{1})%n
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
logger.clients.name = org.apache.kafka.clients
logger.clients.level = warn
"""


def _write(path: Path, properties: Mapping[str, str]) -> None:
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
