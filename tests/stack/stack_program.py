"""`tidewire`, as the stack of a crash test runs it: the same, but the engine can be told to die at a chosen point.

up       runs broker, engine and edges with this very program
engine   kills its own process once, between a batch's commit and its progress, when the file `die-untold` lies in
         the data directory; the file is renamed to `died-untold` just before
others   as always
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

ASKED, DONE = "die-untold", "died-untold"
PROGRAM = (sys.executable, __file__)


def engine() -> None:
    from operators.control import Progress
    from streaming import engine as module
    from streaming.progress import ProgressWriter

    folder = Path(os.environ["TIDEWIRE_DATA_DIR"])

    class DyingWriter(ProgressWriter):
        def write(self, progress: Progress) -> None:
            if progress.batch > self.last and (folder / ASKED).exists():
                (folder / ASKED).rename(folder / DONE)
                os.kill(os.getpid(), signal.SIGKILL)
            super().write(progress)

    class DyingEngine(module.Engine):
        def __init__(self, config: module.EngineConfig) -> None:
            super().__init__(config, progress_writer=DyingWriter)

    module.Engine = DyingEngine  # type: ignore[misc]


def up() -> None:
    from tidewire.stack import embedded

    plain = embedded.EmbeddedStack

    class OwnStack(plain):
        def __init__(self, settings: object, say: object) -> None:
            super().__init__(settings, say, PROGRAM)  # type: ignore[arg-type]

    embedded.EmbeddedStack = OwnStack  # type: ignore[misc]


if __name__ == "__main__":
    {"engine": engine, "up": up}.get(sys.argv[1], lambda: None)()
    from tidewire.cli import main

    main()
