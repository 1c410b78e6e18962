"""What a stack keeps is for its user alone: folders 0700, files 0600, from the first moment or from now on.

The folder of the user's choice is theirs: where other things lie in it, too, it stays as it is, and only what is ours
within is closed. What is behind a symbolic link, or belongs to another user, is not ours to change.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_OTHERS = 0o077
OURS = ("broker", "checkpoint", "log", "logs", "run", "spark", "jars")
_FILES_CLOSED = ("broker", "logs", "run")
"""Where files are closed one by one, too: they hold settings and what processes say, and there are few."""


@dataclass(slots=True)
class Closing:
    """What was open to other users: `closed` now, or still `open`, since it is another user's.

    `within_reach`: whether other users could get to what is closed now, through the folder that it is in.
    """

    closed: list[Path] = field(default_factory=list)
    open: list[Path] = field(default_factory=list)
    within_reach: bool = False


@contextmanager
def kept_private(folder: Path) -> Iterator[Closing]:
    """Close what a stack keeps in `folder` to other users, and let nothing be made that is not, by children neither.

    The mask of new files belongs to the process: one thread may do this at a time.
    """
    before = os.umask(_OTHERS)
    try:
        with suppress(OSError):  # what stands in its way is for Spark to say
            (folder / "log").mkdir(exist_ok=True)  # made by Spark it would be open to all
        yield close_to_others(folder)
    finally:
        os.umask(before)


def close_to_others(folder: Path) -> Closing:
    """Take all rights of other users from what is ours in `folder`, and from itself if nothing else is there.

    *Cost*: a look at each file directly in a folder of ours that holds settings or logs.
    """
    folder = folder.resolve()
    ours = [folder / name for name in (*OURS, "lock")]
    whole = [folder] if {entry.name for entry in _entries(folder)} <= {one.name for one in ours} else []
    files = [file for name in _FILES_CLOSED for file in _entries(folder / name)]
    done = Closing(within_reach=_is_open(folder))
    for place in filter(_is_open, (*whole, *ours, *files)):
        (done.closed if _close(place) else done.open).append(place)
    return done


def _entries(folder: Path) -> list[Path]:
    """Return what lies in a folder; nothing where it is not there, or not for us to see."""
    try:
        return [] if folder.is_symlink() else list(folder.iterdir())
    except OSError:
        return []


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
