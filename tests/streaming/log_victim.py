"""An engine with a log in a process of its own, which kills itself at a chosen point of a chosen commit.

    python -m tests.streaming.log_victim '{"bootstrap": ..., "prefix": ..., "folder": ..., "jars": [...], "die": [...]}'

`before`: the batch is read, nothing of it is in the table; `after`: it is in the table and Spark has not heard of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

from pyspark.sql import DataFrame

from connectors.kafka.properties import KafkaProperties
from connectors.log.mark import LogMark
from connectors.topics import Topics
from streaming.engine.engine import Engine, EngineConfig
from streaming.log.keeper import LogConfig
from streaming.log.table import LogTable


def die_at(point: str, commit: int) -> None:
    """Make the writer of this process kill it."""
    plain = LogTable.append
    left = [commit]

    def append(table: LogTable, rows: DataFrame, mark: LogMark) -> None:
        left[0] -= 1
        if point == "before" and not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        plain(table, rows, mark)
        if point == "after" and not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    LogTable.append = append  # type: ignore[method-assign]


def main() -> None:
    told = json.loads(sys.argv[1])
    folder = Path(told["folder"])
    die_at(*told["die"])
    config = EngineConfig(
        KafkaProperties(told["bootstrap"]),
        str(folder / "checkpoint"),
        Topics(told["prefix"]),
        "local[2]",
        [Path(jar) for jar in told["jars"]],
        take_over=True,
        log=LogConfig(str(folder / "publications"), seconds=0.3),
    )
    Engine(config).run(threading.Event())


if __name__ == "__main__":
    main()
