"""Kernels are compiled anew when a file changes whose kernels they call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

from state.kernel import called, stamps

ROOMS = ("state", "catalog", "operators", "connectors", "shard", "overlay")
SIGNS = ("import numba", "import kernel", "connectors.json.scan import")
"""One of these has whoever compiles functions."""
LOW = "from state.kernel import kernel\n\n@kernel\ndef low(x):\n    return x + {}\n"
MIDDLE = "from state.kernel import kernel\nfrom low import low\n\n@kernel\ndef middle(x):\n    return low(x)\n"
HIGH = "from state.kernel import kernel\nfrom middle import middle\n\n@kernel\ndef high(x):\n    return middle(x)\n"


def answer(folder: Path, by: int) -> tuple[int, int]:
    """Return what `high` says of 1 where `low` adds `by`, and how often it was found in the cache."""
    for name, text in (("low", LOW.format(by)), ("middle", MIDDLE), ("high", HIGH)):
        (folder / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
    high = import_module("high").high
    return high(1), sum(high.stats.cache_hits.values())


def test_a_kernel_is_compiled_anew_when_one_below_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert answer(tmp_path, 1) == (2, 0)
    assert answer(tmp_path, 1) == (2, 1)
    assert answer(tmp_path, 100) == (101, 0)
    for name in ("low", "middle", "high"):
        del sys.modules[name]


def compiled() -> Iterator[Any]:
    for path in (path for room in ROOMS for path in Path(room).rglob("*.py")):
        if any(word in path.read_text() for word in SIGNS):
            for value in vars(import_module(".".join(path.with_suffix("").parts))).values():
                if isinstance(value, Dispatcher):
                    yield value


def below(made: Any) -> Iterator[Any]:
    for each in called(made):
        yield each
        yield from below(each)


def test_the_cache_of_each_compiled_function_knows_the_files_of_all_that_it_calls() -> None:
    found = [*compiled()]
    assert len(found) > 200
    blind = {(made, each) for made in found for each in below(made) if not stamps(made) >= stamps(each)}
    assert not blind, "decorate the first of each pair with state.kernel.kernel instead of numba.njit"
