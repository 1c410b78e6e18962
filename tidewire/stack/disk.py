"""Room on the disk below the data directory: Kafka and RocksDB take a full disk badly, so we stop before it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from tidewire.option_name import option_of
from tidewire.stack.failure import DiskFullError

CHECK_SECONDS = 2.0


def free_megabytes(path: Path) -> int:
    """Return what is left for this user on the disk of `path`, or of its nearest parent that exists."""
    return shutil.disk_usage(nearest(path)).free // 1_000_000


def nearest(path: Path) -> Path:
    """Return `path`, or the nearest folder above it that is there for this user."""
    return next((place for place in (path, *path.parents) if is_there(place)), path)


def is_there(path: Path) -> bool:
    """Return whether something is there for this user to see; what stands behind a locked folder is not."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def require_room(path: Path, floor_mb: int) -> None:
    """Check that at least `floor_mb` megabytes are free. *Raises* DiskFullError."""
    free = free_megabytes(path)
    if free < floor_mb:
        raise DiskFullError(
            f"too little disk below `{path}`: expected at least {floor_mb} MB free, got {free} MB. "
            f"Make room, or choose another {option_of('data_dir')}, or lower {option_of('disk_floor_mb')}."
        )
