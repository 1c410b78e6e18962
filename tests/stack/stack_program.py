"""`tidewire`, as the stack of a crash test runs it: the same, but the engine can be told to die at a chosen point.

up       runs broker, engine and edges with this very program
engine   kills its own process once, when a file `die-POINT` lies in the data directory, which is renamed to
         `died-POINT` just before: `untold` between a batch's commit and its progress, `unlogged` and `logged`
         before and after a commit of the log; while a cell comes live `unseeded` and `seeded` before and after its
         seed is written, `entered` when the sidecar is, and `touched` before the query is started and the catalog
         announced
others   as always
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

ASKED, DONE = "die-untold", "died-untold"
PROGRAM = (sys.executable, __file__)


def die_if_asked(point: str) -> None:
    """Kill this process if its test wants it to die here."""
    folder = Path(os.environ["TIDEWIRE_DATA_DIR"])
    if (folder / f"die-{point}").exists():
        (folder / f"die-{point}").rename(folder / f"died-{point}")
        os.kill(os.getpid(), signal.SIGKILL)


def engine() -> None:
    from operators.control import Progress
    from streaming.engine import engine as module
    from streaming.engine.cell_births import CellBirths
    from streaming.epoch.progress import ProgressWriter
    from streaming.log.table import LogTable

    class DyingWriter(ProgressWriter):
        def write(self, progress: Progress) -> None:
            if progress.batch > self.last:
                die_if_asked("untold")
            super().write(progress)

    class DyingEngine(module.Engine):
        def __init__(self, config: module.EngineConfig) -> None:
            super().__init__(config, progress_writer=DyingWriter)

    append = LogTable.append

    def dying_append(table: LogTable, *arguments: object) -> None:
        die_if_asked("unlogged")
        append(table, *arguments)  # type: ignore[arg-type]
        die_if_asked("logged")

    seed, touch = CellBirths._seed, CellBirths.touch

    def dying_seed(births: CellBirths, *arguments: object) -> None:
        die_if_asked("unseeded")
        seed(births, *arguments)  # type: ignore[arg-type]
        die_if_asked("seeded")

    def dying_touch(births: CellBirths) -> None:
        fresh = any(cell.touch is None for cell in births.sidecar.cells.values())
        if fresh:
            die_if_asked("entered")
        touch(births)
        if fresh:
            die_if_asked("touched")

    CellBirths._seed = dying_seed  # type: ignore[method-assign]
    CellBirths.touch = dying_touch  # type: ignore[method-assign]
    module.Engine = DyingEngine  # type: ignore[misc]
    LogTable.append = dying_append  # type: ignore[method-assign]


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
