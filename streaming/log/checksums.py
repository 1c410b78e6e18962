"""Checksums beside the commits of a local Delta table, which nobody reads once a checkpoint has taken the commits in.

A commit leaves four files: itself, Delta's checksum of the table, and a checksum of either by Hadoop's local file
system. Delta lists all of them with every batch; three files fewer a commit keep that cheap when a table is old
(`log_20k_over_2k`). Both kinds may be missing: Delta then reads the checkpoint, Hadoop then checks nothing. Object
stores have none of Hadoop's, and list from the checkpoint on.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

_CHECKSUM = re.compile(r"(\d{20})\.crc|\.(\d{20})\.(?:json|crc)\.crc")


def drop_checksums(log: Path) -> int:
    """Delete those of commits before the newest checkpoint from `log`, a table's `_delta_log`; return how many.

    Cost: one listing, and 10 us a file deleted.
    """
    with suppress(FileNotFoundError, ValueError, KeyError):
        newest = int(json.loads((log / "_last_checkpoint").read_bytes())["version"])
        old = [path for path in log.iterdir() if _is_before(newest, path.name)]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)
    return 0


def _is_before(version: int, name: str) -> bool:
    found = _CHECKSUM.fullmatch(name)
    return found is not None and int(found[1] or found[2]) < version
