"""What every worker of Flink SQL does alike: the local cluster inside one JVM, and its answers read from what it prints.

Parallelism 2, state on the heap, objects reused, mini-batches of 100 ms (they make the plan fold changes before it
aggregates). Tables are streams of changes in Debezium's JSON, as a database's log would be, in folders that the file
source watches every 50 ms; questions are rows of a CSV file. Answers go to the `print` connector, which writes every
change of one to standard output.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

SETTINGS = {
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "100 ms",
    "table.exec.mini-batch.size": "5000",
}
STREAM = (
    "WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'debezium-json', 'source.monitor-interval' = '50 ms')"
)
FIXED = "WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')"
PRINTED = "WITH ('connector' = 'print')"
STILL_S = 0.5
_TOLD = re.compile(rb"([+-])[IUD][AB]?\[([-\d, ]+)\]")


def environment() -> TableEnvironment:
    """Return a streaming environment of the local cluster."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in SETTINGS.items():
        tables.get_config().set(key, value)
    return tables


class Printed:
    """The changes of rows of whole numbers that the job prints; made before the job starts, it takes standard output."""

    def __init__(self, out: Path) -> None:
        self._out, self._read, self._rest = out, 0, b""
        os.dup2(os.open(out, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 1)

    def changes(self) -> Iterator[tuple[bool, tuple[int, ...]]]:
        """Yield what was printed since: whether a row came or went, and the row."""
        with self._out.open("rb") as out:
            out.seek(self._read)
            new = out.read()
        self._read += len(new)
        text = self._rest + new
        cut = text.rfind(b"\n") + 1
        self._rest = text[cut:]
        for sign, row in _TOLD.findall(text[:cut]):
            yield sign == b"+", tuple(map(int, row.split(b",")))

    def last_changes(self) -> Iterator[tuple[bool, tuple[int, ...]]]:
        """Yield what is printed until nothing has been for a while."""
        still = time.monotonic() + STILL_S
        while time.monotonic() < still:
            for each in self.changes():
                still = time.monotonic() + STILL_S
                yield each
            time.sleep(0.02)


def event(before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> str:
    """Return the line of a change: a row that came, went, or is another now."""
    op = "c" if before is None else "d" if after is None else "u"
    return json.dumps({"before": before, "after": after, "op": op}) + "\n"


def busy() -> float:
    """Return the processor seconds of all processes of this session: of the JVM, too."""
    own, ticks = os.getsid(0), 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:13])) if int(fields[3]) == own else 0
    return ticks / os.sysconf("SC_CLK_TCK")
