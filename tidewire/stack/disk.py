"""Room on the disk below the data directory: Kafka and RocksDB take a full disk badly, so we stop before it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from tidewire.stack.failure import DiskFullError

CHECK_SECONDS = 2.0


def free_megabytes(path: Path) -> int:
    """Return what is left for this user on the disk of `path`, or of its nearest parent that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free // 1_000_000


def require_room(path: Path, floor_mb: int) -> None:
    """Check that at least `floor_mb` megabytes are free. *Raises* DiskFullError."""
    free = free_megabytes(path)
    if free < floor_mb:
        raise DiskFullError(
            f"too little disk below `{path}`: expected at least {floor_mb} MB free, got {free} MB. "
            "Make room, or choose another `data_dir`, or lower `disk_floor_mb`."
        )
