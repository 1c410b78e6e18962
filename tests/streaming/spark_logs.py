"""Writes the logs that Spark writes into a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

from operators.control import Offsets


def plan(folder: Path, batch: int, offsets: Offsets) -> None:
    """Write an entry of the offset log."""
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    (folder / "offsets" / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{json.dumps(offsets)}')


def commit(folder: Path, batch: int, offsets: Offsets | None = None) -> None:
    """Write an entry of the commit log; with `offsets` also the one of the offset log."""
    if offsets is not None:
        plan(folder, batch, offsets)
    (folder / "commits").mkdir(parents=True, exist_ok=True)
    (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
