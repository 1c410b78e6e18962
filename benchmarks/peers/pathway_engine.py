"""Pathway's engine, in a thread of its own: rows come through Python subjects in upsert mode, each batch one commit."""

from __future__ import annotations

import os
import queue
import threading
from typing import Any

import pathway as pw


class Feed(pw.io.python.ConnectorSubject):
    """Gives the engine what is put into the inbox, one commit each."""

    def __init__(self) -> None:
        super().__init__(session_type="upsert")
        self.inbox: queue.Queue[list[dict[str, Any]]] = queue.Queue()

    def run(self) -> None:
        while True:
            for row in self.inbox.get():
                self.next(**row)
            self.commit()


def start(told: Any, change: Any) -> queue.Queue[int]:
    """Run what leads to `told`, each row of which is given to `change`; return the moments that are through."""
    moments: queue.Queue[int] = queue.Queue()
    pw.io.subscribe(told, on_change=change, on_time_end=moments.put)
    threading.Thread(target=pw.run, kwargs={"monitoring_level": pw.MonitoringLevel.NONE}, daemon=True).start()
    return moments


def finish() -> None:
    """End the process, whose engine has no end of its own."""
    os._exit(0)
