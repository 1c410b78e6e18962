"""The program of the Rust percolators (`percolators/`): built by cargo, of the versions that stand in its Cargo.lock."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.peers.contestant import NotInstalled, cache

SOURCE = Path(__file__).parent / "percolators"
MINUTES = 20


def program() -> Path:
    """Return where the program is when it is built."""
    return cache() / "percolators" / "release" / "percolators"


def build() -> None:
    """Build what is not built yet, outside of the sources. Cost: minutes the first time. Raises NotInstalled."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise NotInstalled("it is built by cargo, which is not on the PATH")
    command = [cargo, "build", "--release", "--locked", "--quiet", "--target-dir", str(cache() / "percolators")]
    try:
        subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"cargo had not built it after {MINUTES} minutes") from error
    except subprocess.CalledProcessError as error:
        said = [line.strip() for line in error.stderr.splitlines() if line.startswith("error")]
        raise NotInstalled((said or ["cargo said nothing"])[-1]) from error
