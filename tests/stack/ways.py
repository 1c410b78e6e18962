"""Ways to kill parts of a running stack by SIGKILL. Each counts one or more kills of the stack's."""

from __future__ import annotations

import random

import psutil

from tests.stack.live_stack import LiveStack


class Ways:
    """Kills what its methods name; `choose` says which of several."""

    def __init__(self, stack: LiveStack, choose: random.Random) -> None:
        self.stack = stack
        self.choose = choose

    def edge(self) -> None:
        self.stack.kill(f"edge-{self.choose.randrange(2)}")

    def both_edges(self) -> None:
        self.stack.kill("edge-0")
        self.stack.kill("edge-1")

    def broker(self) -> None:
        self.stack.kill("broker")

    def driver(self) -> None:
        self.stack.kill("engine")

    def jvm(self) -> None:
        self.stack.kill("engine", lambda process: process.name() == "java")

    def worker(self) -> None:
        self.stack.kill("engine", is_daemon)

    def jvm_and_edge(self) -> None:
        self.jvm()
        self.edge()

    def everything(self) -> None:
        self.stack.cut_power()
        self.stack.start()


def is_daemon(process: psutil.Process) -> bool:
    """Whether it is Spark's daemon of workers, or a worker, which has the same command line."""
    return "streaming.query.daemon" in " ".join(process.cmdline())
