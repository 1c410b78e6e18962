"""SIGKILL every few seconds on whatever runs just then, without waiting until what was killed is back."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import psutil

from tests.stack.live_stack import LiveStack
from tests.stack.ways import is_daemon
from tidewire.stack.child import session_members
from tidewire.stack.process_state import ProcessState, processes_in

TARGETS = ("broker", "driver", "jvm", "worker", "edge-0", "edge-1", "both edges", "all children")
LEAST_PAUSE, LONGEST_PAUSE = 4.0, 11.0


class Storm:
    """Kills in an order that `choose` makes: each target once, then each again in another order."""

    def __init__(self, stack: LiveStack, choose: random.Random) -> None:
        self.stack = stack
        self.struck: list[str] = []
        self._choose = choose

    def rage(self, seconds: float) -> None:
        """Kill something every 4 to 11 s; what is not there when its turn comes is left out."""
        end, targets = time.monotonic() + seconds, list[str]()
        while (now := time.monotonic()) < end:
            targets = targets or self._choose.sample(TARGETS, len(TARGETS))
            if self.strike(targets.pop()):
                time.sleep(max(0.0, now + self._choose.uniform(LEAST_PAUSE, LONGEST_PAUSE) - time.monotonic()))

    def strike(self, target: str) -> bool:
        """Kill `target`; return whether there was anything to kill."""
        victims = list(self._victims(target))
        if victims:
            self.stack.shoot(victims)
            self.struck.append(target)
        return bool(victims)

    def processes(self) -> list[ProcessState]:
        """Return what the stack says of its processes; it must not have ended."""
        status = self.stack.directory.read_status()
        assert status is not None, f"the stack has ended: {self.stack.said()}"
        return processes_in(status)

    def _victims(self, target: str) -> Iterator[int]:
        there = {process.name: process.pid for process in self.processes() if process.pid is not None}
        if target in ("jvm", "worker"):
            yield from [pid for pid in session_members(there.get("engine", -1)) if _is(pid, target)][:1]
        elif target == "all children":
            yield from [pid for session in there.values() for pid in session_members(session)]
        else:
            names = {"driver": ("engine",), "both edges": ("edge-0", "edge-1")}.get(target, (target,))
            yield from [there[name] for name in names if name in there]


def _is(pid: int, kind: str) -> bool:
    try:
        process = psutil.Process(pid)
        return is_daemon(process) if kind == "worker" else process.name() == "java"
    except psutil.Error:
        return False
