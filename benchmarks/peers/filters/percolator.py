"""A percolator in Rust, asked over pipes (`percolators/src/main.rs` says what is sent).

It keeps what rows met last, as all do here that match one image at a time. Building its documents or events from the
integers is timed, and is what a program would do with a record that it has decoded.
"""

from __future__ import annotations

import subprocess
import time

import numpy as np
import psutil

from benchmarks.peers.filters.cargo import program
from benchmarks.peers.filters.workload import Changes, FilterWorkload
from benchmarks.peers.workload import I64


class Percolator:
    """One thread, of the other process."""

    whole = False

    def __init__(self, workload: FilterWorkload, arguments: tuple[str, ...]) -> None:
        self._workload, self.told = workload, 0
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([str(program()), *arguments], stdin=pipe, stdout=pipe, bufsize=0)
        self._hits, self._first = self._ask(_filters(workload)), 0
        numbers = np.arange(len(workload.rows))
        for start in range(0, len(numbers), workload.batch):
            part = numbers[start : start + workload.batch]
            self.take(self.prepare(Changes(part, workload.rows[part])))
        self._hits, self.told = self._hits[:0], 0

    def _ask(self, sent: bytes) -> I64:
        assert self._process.stdin is not None
        view = memoryview(sent)
        while view:
            view = view[self._process.stdin.write(view) :]
        many = np.frombuffer(self._read(8), np.int64)[0]
        return np.frombuffer(self._read(24 * int(many)), np.int64).reshape(-1, 3)

    def _read(self, many: int) -> bytes:
        assert self._process.stdout is not None
        read = bytearray()
        while len(read) < many:
            part = self._process.stdout.read(many - len(read))
            if not part:
                raise RuntimeError("the percolator has ended; what it said stands above")
            read += part
        return bytes(read)

    def prepare(self, changes: Changes) -> tuple[bytes, int]:
        """Return the bytes of a batch, and which change is its first."""
        words = np.column_stack([changes.row, changes.image])
        return np.int64(len(changes)).tobytes() + words.tobytes(), changes.first

    def take(self, prepared: tuple[bytes, int]) -> None:
        sent, self._first = prepared
        self._hits = self._ask(sent)
        self.told += len(self._hits)

    def busy(self) -> float:
        """Return the processor seconds of both processes."""
        other = psutil.Process(self._process.pid).cpu_times()
        return time.process_time() + other.user + other.system

    def answers(self) -> I64:
        return self._workload.codes(self._hits[:, 0] + self._first, self._hits[:, 1], self._hits[:, 2])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _filters(workload: FilterWorkload) -> bytes:
    asked, words = workload.filters, [len(workload.filters.columns)]
    for columns, lo, hi in zip(*(each.tolist() for each in asked), strict=True):
        conditions = [part for part in zip(columns, lo, hi, strict=True) if part[0] >= 0]
        words.append(len(conditions))
        words += [word for condition in conditions for word in condition]
    return np.array(words, np.int64).tobytes()
