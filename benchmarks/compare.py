"""This tree against a commit, part by part and in turn: has anything become slower?

    python -m benchmarks.compare COMMIT --only edge [--only latency,restart ...] [--rounds 3] [--quick]

The commit is checked out into a temporary worktree. Each side runs once with small sizes, uncounted, which compiles its
kernels; then, in each round, the commit (A) and this tree (B) run the same parts, with this interpreter and its
packages, and of the benchmarks' own code each its own. Bytecode is kept whatever PYTHONDONTWRITEBYTECODE says, as where
tidewire is installed: otherwise every start would compile the sources again, and the tree with more of them be slower.
Told are the medians, the least and the largest of A, and B over
A. A figure is *worse* if B's median is more than 5 % worse than A's and beyond the worst that A had itself. Exit code 1 if
any is, 2 if a side could not run. Ctrl-C leaves neither worktree nor process.

`registration`, `restart` and `subs_1m_over_1k` are parts of `million`, which is run whole and told in part.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, NoReturn

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.report import GOALS, lines

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.05
STOP_SECONDS = 60.0
WITHIN = {"registration": "registration_s", "restart": "restart_s", "subs_1m_over_1k": "subs_1m_over_1k"}
"""Figures of the part `million` that can be asked for by themselves."""
RUNNER = """\
import json, signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
from rich.console import Console
from benchmarks.__main__ import run
from benchmarks.bench import QUICK, Sizes
target, small, *names = sys.argv[1:]
for figures in run(names, QUICK if small == "small" else Sizes(), Console(stderr=True)):
    Path(target).write_text(json.dumps(figures))
"""
Figures = dict[str, float]


class SideFailedError(RuntimeError):
    """One of the two trees could not run what was asked for."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure: what each round measured, of the commit and of this tree."""

    name: str
    before: list[float]
    after: list[float]

    @property
    def ratio(self) -> float:
        """This tree's median over the commit's; infinite where that is 0 and this is not."""
        before, after = median(self.before), median(self.after)
        return after / before if before else (1.0 if not after else float("inf"))

    @property
    def worse(self) -> bool:
        """Whether this tree is more than 5 % worse than the commit, and worse than any of its rounds."""
        after, sign = median(self.after), direction(self.name)
        if sign > 0:
            return self.ratio < 1 - TOLERANCE and after < min(self.before)
        return sign < 0 and self.ratio > 1 + TOLERANCE and after > max(self.before)


def direction(name: str) -> int:
    """Return 1 where more is better, -1 where less is, 0 for a figure that describes the load."""
    if name.split(".")[-1] in ("deliveries", "publications_per_s", "subscriptions", "rows") or name.startswith(
        "affected"
    ):
        return 0
    if name in GOALS:
        return 1 if GOALS[name][0] == ">=" else -1
    is_rate = any(part.endswith("_per_s") for part in name.split("."))
    return 1 if is_rate or name.startswith(("match_", "whole_over")) else -1


def compare(
    before: Path, after: Path, names: Sequence[str], rounds: int, small: bool, console: Console
) -> list[Comparison]:
    """Run both trees in turn and return the figures that both have. Raises SideFailedError."""
    parts = sorted({"million" if name in WITHIN else name for name in names})
    sides: dict[str, list[Figures]] = {"A": [], "B": []}
    for number in range(0 if small else -1, rounds):
        for side, tree in (("A", before), ("B", after)):
            console.print(f"{side}, " + (f"round {number + 1}" if number >= 0 else "warming up"), highlight=False)
            figures = measured(tree, parts, small or number < 0)
            if number >= 0:
                sides[side].append(figures)
    shared = [name for name in sides["A"][0] if all(name in found for found in (*sides["A"], *sides["B"]))]
    told = [name for name in shared if _asked_for(name, names)]
    return [Comparison(name, [f[name] for f in sides["A"]], [f[name] for f in sides["B"]]) for name in told]


def _asked_for(figure: str, names: Sequence[str]) -> bool:
    """Whether a figure is to be told: all are, unless only parts of `million` were asked for."""
    return any(name not in WITHIN or figure.startswith(WITHIN[name]) for name in names)


def measured(tree: Path, parts: Sequence[str], small: bool) -> Figures:
    """Run `parts` of the benchmarks of `tree` and return all that they show. Raises SideFailedError."""
    with tempfile.TemporaryDirectory(prefix="tidewire-compare-") as folder:
        target = Path(folder) / "figures.json"
        command = [sys.executable, "-c", RUNNER, str(target), "small" if small else "whole", *parts]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = kept | {"PYTHONPATH": str(tree)}
        with _running(subprocess.Popen(command, cwd=tree, env=environment, start_new_session=True)) as process:
            code = process.wait()
        if code or not target.exists():
            raise SideFailedError(f"the benchmarks of {tree} ended with code {code}, what they said stands above")
        figures: Mapping[str, Any] = json.loads(target.read_text())
    return {name: float(value.replace(",", "")) for name, value, *_ in lines(figures)}


@contextmanager
def _running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Leave nothing of `process` behind: first it may end what it has started, then all of it is killed."""
    try:
        yield process
    finally:
        descendants = _descendants(process.pid)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        for other in [*descendants, psutil.Process(process.pid)] if process.poll() is None else descendants:
            with suppress(psutil.NoSuchProcess):
                other.kill()
        process.wait()


def _descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


@contextmanager
def checked_out(root: Path, commit: str) -> Iterator[Path]:
    """Give a worktree of `commit`, which is gone afterwards. Raises SideFailedError if there is no such commit."""
    with tempfile.TemporaryDirectory(prefix="tidewire-compare-") as folder:
        tree = Path(folder).resolve() / "before"
        try:
            _git(root, "worktree", "add", "--quiet", "--detach", str(tree), commit)
            yield tree
        finally:
            with suppress(SideFailedError):
                _git(root, "worktree", "remove", "--force", str(tree))


def _git(root: Path, *arguments: str) -> None:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SideFailedError(f"git {' '.join(arguments)}: {done.stderr.strip()}")


def as_table(found: Sequence[Comparison]) -> Table:
    """Return the table for the terminal."""
    table = Table("figure", "A", "A least to largest", "B", "B over A", "", title="A: the commit, B: this tree")
    table.columns[0].overflow = "fold"
    for column in table.columns[1:5]:
        column.justify = "right"
    for one in found:
        spread = f"{min(one.before):,g} to {max(one.before):,g}"
        figures = f"{median(one.before):,g}", spread, f"{median(one.after):,g}", f"{one.ratio:.3f}"
        table.add_row(one.name, *figures, "worse" if one.worse else "")
    return table


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description="This tree against a commit.")
    parser.add_argument("commit", help="what to compare with, as git names it")
    parser.add_argument("--only", action="append", required=True, help="parts, with commas between; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs (3)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything works")
    chosen = parser.parse_args(arguments)
    names = [name.strip() for part in chosen.only for name in part.split(",")]
    console = Console()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with checked_out(root, chosen.commit) as tree:
            found = compare(tree, root, names, max(chosen.rounds, 1), chosen.quick, console)
    except SideFailedError as error:
        console.print(str(error), highlight=False, markup=False)
        return 2
    except KeyboardInterrupt:
        console.print("stopped")
        return 130
    console.print(as_table(found))
    return 1 if any(one.worse for one in found) else 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
