"""mokaccino, a percolator in Rust: its index of clauses, then its exact check of who is left.

`MATCHERS`, how many clauses of a filter it indexes, is its default, and of 2, 3, 5 and 10 it was fastest here.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.filters.percolator import Percolator
from benchmarks.peers.filters.workload import FilterWorkload
from benchmarks.peers.worker import main

MATCHERS = 3


def build(workload: FilterWorkload, folder: Path) -> Percolator:
    """Start it with the filters of a workload."""
    return Percolator(workload, ("mokaccino", str(MATCHERS)))


if __name__ == "__main__":
    main(build, FilterWorkload.load)
