from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil

from streaming.query.daemon import KERNELS, MODULES, parent_watched, preload


def test_what_is_preloaded_can_be() -> None:
    assert preload(MODULES, ()) == []
    assert all(name in sys.modules for name in MODULES)


def test_a_worker_loads_neither_a_parser_nor_a_planner_nor_a_table_format() -> None:
    """Each start pays for what is loaded: of what is needed elsewhere only, a worker loads nothing."""
    code = "import sys; from streaming.query.daemon import preload; preload(kernels=()); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    names = set(loaded.stdout.split())
    assert "streaming.query.adapter" in names
    elsewhere = {"sqlglot", "duckdb", "deltalake", "confluent_kafka", "kafka", "starlette", "structlog", "overlay"}
    assert names.isdisjoint(elsewhere | {"catalog.ddl.statements", "catalog.query.compiler", "catalog.view"})


def test_what_cannot_be_loaded_is_said_and_ends_nothing() -> None:
    said = preload(["no_such_module"], ["json"])
    assert [message.split(":")[1].strip() for message in said] == [
        "`no_such_module` could not be loaded before the fork",
        "`json` could not be loaded before the fork",
    ]


def test_the_kernels_are_there() -> None:
    assert KERNELS == (
        "shard.tables",
        "state.row_digest",
        "state.filter_index",
        "catalog.bulk.term_columns",
        "state.boxes",
        "connectors.json.format",
        "connectors.formats.bucket",
    )


def test_it_does_not_outlive_a_parent_that_dies_while_it_loads() -> None:
    child = (
        "from streaming.query.daemon import parent_watched as w; import time\n"
        "with w(): print(1, flush=True); time.sleep(600)"
    )
    parent = (
        "import subprocess, sys\n"
        f"made = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        "made.stdout.readline(); print(made.pid)"
    )
    started = subprocess.run([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    orphan = int(started.stdout)
    deadline = time.monotonic() + 240
    while psutil.pid_exists(orphan) and psutil.Process(orphan).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_timer_is_gone_afterwards() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with parent_watched():
        assert signal.getitimer(signal.ITIMER_REAL)[1] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before
