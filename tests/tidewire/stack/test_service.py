"""Services: their stop and exit codes, in processes of their own, and their logs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import logging, sys, structlog
from state.errors import TidewireError, UserError
from tidewire import cli
from tidewire.stack.service import configure_logs, run_service

def run(stop):
    structlog.get_logger("tidewire.edge").info("listening", port=5)
    logging.getLogger("tidewire.engine").info("epoch %d", 7)
    logging.getLogger("other").info("not shown")
    errors = {"retry": TidewireError("try again"), "hopeless": TidewireError("no"), "user": UserError("yours")}
    error = errors.get(sys.argv[1])
    if error is not None:
        error.retry_helps = sys.argv[1] == "retry"
        raise error
    print("up", flush=True)
    stop.wait(120)

def status():
    configure_logs("info", sys.argv[2:] == ["json"])
    run_service(run)

import types
module = types.ModuleType("tidewire.commands.status"); module.status = status
sys.modules[module.__name__] = module
sys.exit(cli.run(["status"]))
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments], stdout=pipe, stderr=pipe, text=True, env=environment
    )


@pytest.mark.parametrize(("kind", "code"), [("retry", 1), ("hopeless", 9), ("user", 2)])
def test_the_exit_code_says_whether_a_new_start_helps(kind: str, code: int) -> None:
    process = start(kind)
    _, said = process.communicate(timeout=120)
    assert process.returncode == code
    assert "tidewire: " in said
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_it_end_by_itself(number: int) -> None:
    process = start("run")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "listening" in said
    assert "epoch 7" in said
    assert "not shown" not in said


def test_logs_can_be_json() -> None:
    _, said = start("user", "json").communicate(timeout=120)
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert [(line["logger"], line["event"], line["level"]) for line in lines] == [
        ("tidewire.edge", "listening", "info"),
        ("tidewire.engine", "epoch 7", "info"),
    ]
    assert lines[0]["port"] == 5
