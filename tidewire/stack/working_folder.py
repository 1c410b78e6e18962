"""Where an engine's Spark keeps its working files: below the data directory, a folder for each engine process.

Two engines may meet on one data directory, of which one refuses to work: it must not take the other's files away.
What an engine that was killed has left there is removed by the next one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil


def working_folder(data_dir: Path) -> Path | None:
    """Return an empty folder for this process; None, which means Spark's own choice, without a data directory.

    Raises:
        OSError: it cannot be made.
    """
    if not data_dir.is_dir():
        return None
    folders = data_dir / "spark"
    own = folders / str(os.getpid())
    for folder in folders.glob("*"):
        if folder == own or not (folder.name.isdigit() and psutil.pid_exists(int(folder.name))):
            shutil.rmtree(folder, ignore_errors=True)
    own.mkdir(parents=True, exist_ok=True)
    return own
