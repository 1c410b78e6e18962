"""A soak of a whole real stack: `python -m tests.soak [--minutes 60] [--rate 1000] [--subscriptions 100000] ...`

Publishes steadily while subscriptions come, are replaced, end and expire, and something is killed every minute; looks
at memory and disk every ten seconds, verifies at the end, and writes `benchmarks/results/soak.json` (of less than an
hour: `local-soak.json`). Exit 0 only if nothing failed. Ctrl-C stops everything.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.report import circumstances, write
from tests.soak.findings import figures_of, show
from tests.soak.soak import Plan, Soak

RESULTS = Path("benchmarks/results")


def main() -> int:
    chosen = _chosen()
    plan = Plan(chosen.minutes, chosen.rate, chosen.subscriptions, chosen.kill_every, chosen.turnover)
    console, clock, began = (
        Console(stderr=chosen.json, highlight=False, soft_wrap=True),
        time.monotonic(),
        datetime.now(UTC),
    )
    folder = Path(tempfile.mkdtemp(prefix="tidewire-soak-"))
    soak = Soak(plan, folder / "data", lambda text: console.print(f"{time.monotonic() - clock:7.1f} s  {text}"))
    passed = False
    try:
        _run(soak)
        figures: dict[str, Any] = circumstances(plan, began) | figures_of(soak.outcome, soak.stack.topics)
        passed = not figures["failures"]
        show(soak.outcome, soak.stack.topics, console)
        target = RESULTS / ("soak.json" if plan.minutes >= 60 else "local-soak.json")
        write(figures, target)
        console.print(f"written to {target}")
        if chosen.json:
            print(json.dumps(figures))
    except KeyboardInterrupt:
        console.print("interrupted: stopping everything")
        return 130
    finally:
        soak.close()
        if chosen.discard or (passed and not chosen.keep):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            console.print(f"what it left is in {folder}")
    return 0 if passed else 1


def _run(soak: Soak) -> None:
    """Run it; what breaks is a failure to be told beside all figures there are."""
    try:
        soak.run()
    except Exception as error:
        if soak.outcome.census is None:
            raise
        soak.outcome.failures.append(f"{type(error).__name__}: {error}")


def _chosen() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Soak a whole stack.")
    parser.add_argument("--minutes", type=float, default=Plan.minutes, help="how long publications come")
    parser.add_argument("--rate", type=float, default=Plan.rate, help="publications a second")
    parser.add_argument("--subscriptions", type=int, default=Plan.subscriptions, help="how many stand at a time")
    parser.add_argument("--kill-every", type=float, default=Plan.kill_every, help="seconds between two kills")
    parser.add_argument("--turnover", type=float, default=Plan.turnover, help="part replaced or ended in a minute")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--keep", action="store_true", help="keep the data directory, with its logs, after a success")
    parser.add_argument("--discard", action="store_true", help="delete the data directory even after a failure")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
