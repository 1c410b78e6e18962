"""What a stack keeps is for its user alone: folders 0700, files 0600, from the first moment or from now on.

The folder of the user's choice is theirs: where other things lie in it, too, it stays as it is, and only what is ours
within is closed. What is behind a symbolic link, or belongs to another user, is not ours to change.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_OTHERS = 0o077
OURS = ("broker", "checkpoint", "log", "logs", "run", "spark", "jars")
_FILES_CLOSED = ("broker", "logs", "run")
"""Where files are closed one by one, too: they hold settings and what processes say, and there are few."""


@dataclass(slots=True)
class Closing:
    """What was open to other users: `closed` now, or still `open`, since it is another user's."""

    closed: list[Path] = field(default_factory=list)
    open: list[Path] = field(default_factory=list)


@contextmanager
def kept_private(folder: Path) -> Iterator[Closing]:
    """Close what a stack keeps in `folder` to other users, and let nothing be made that is not, by children neither.

    The mask of new files belongs to the process: one thread may do this at a time.
    """
    before = os.umask(_OTHERS)
    try:
        yield close_to_others(folder)
    finally:
        os.umask(before)


def close_to_others(folder: Path) -> Closing:
    """Take all rights of other users from what is ours in `folder`, and from itself if nothing else is there.

    *Cost*: a look at each file directly in a folder of ours that holds settings or logs.
    """
    ours = [folder / name for name in (*OURS, "lock")]
    whole = [folder] if {entry.name for entry in folder.iterdir()} <= {one.name for one in ours} else []
    files = [file for name in _FILES_CLOSED if (folder / name).is_dir() for file in (folder / name).iterdir()]
    done = Closing()
    for place in filter(_is_open, (*whole, *ours, *files)):
        (done.closed if _close(place) else done.open).append(place)
    return done


def _is_open(place: Path) -> bool:
    """Whether other users have any right to a file or folder that is there, and that is not behind a link."""
    try:
        found = place.lstat().st_mode
    except OSError:
        return False
    return bool(found & _OTHERS) and not stat.S_ISLNK(found)


def _close(place: Path) -> bool:
    """Close one file or folder; return whether it is."""
    try:
        found = place.lstat()
        if found.st_uid == os.geteuid():
            place.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
            return True
    except OSError:
        pass
    return False
