"""a-tree, an index of boolean expressions in Rust after the paper of that name: shared conditions are evaluated once."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.filters.percolator import Percolator
from benchmarks.peers.filters.workload import FilterWorkload
from benchmarks.peers.worker import main


def build(workload: FilterWorkload, folder: Path) -> Percolator:
    """Start it with the filters of a workload."""
    return Percolator(workload, ("a-tree",))


if __name__ == "__main__":
    main(build, FilterWorkload.load)
