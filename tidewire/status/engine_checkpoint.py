"""Where the engine of a running tidewire keeps its checkpoint: as it has claimed, or as the user says.

Without a word of the user it is the one that the engine itself has named in `engines`, never a folder that only
happens to lie where this command was called: that may be of another stack, or of none.
"""

from __future__ import annotations

from pathlib import Path

from state.errors import UserError
from streaming.checkpoint.files import is_local_path, local_folder
from tidewire.settings import Settings
from tidewire.status.overview import EngineState


class NoCheckpoint(UserError):
    """There is no checkpoint of an engine where one was expected."""

    code = "no_checkpoint"


def locate_checkpoint(settings: Settings, data_dir: Path | None, engine: EngineState) -> str:
    """Return the checkpoint's location; `data_dir` is the option, `engine` what it has told. Raises NoCheckpoint."""
    if settings.checkpoint is not None or data_dir is not None or engine.checkpoint is None:
        where, whose = settings.checkpoint_location, "there is no checkpoint of an engine in"
    else:
        where, whose = engine.checkpoint, "the engine keeps its checkpoint where this machine has nothing:"
    if is_local_path(where) and not local_folder(where).is_dir():
        raise NoCheckpoint(
            f"{whose} `{where}`. Name the data directory of the stack by --data-dir, or the checkpoint by --checkpoint."
        )
    return where
