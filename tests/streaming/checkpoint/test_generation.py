from __future__ import annotations

from pathlib import Path

import pytest

from state.errors import StateError
from streaming.checkpoint.files import LocalFiles
from streaming.checkpoint.generation import FILE, Generation, Generations, RebuildAskedError


def test_from_the_first_generation_to_the_next(tmp_path: Path) -> None:
    generations = Generations(LocalFiles(tmp_path), "file:/c")
    assert generations.read() == Generation(0, None)
    assert generations.location() == "file:/c"
    generations.check()
    generations.ask("stock")
    with pytest.raises(RebuildAskedError, match="the state of `stock` is to be rebuilt"):
        generations.check()
    assert generations.read() == Generation(0, "stock")
    assert generations.location() == "file:/c"
    generations.enter(1)
    assert generations.read() == Generation(1, None)
    assert generations.location() == "file:/c/rebuilt-1"
    assert generations.location(0) == "file:/c"


def test_a_file_that_is_none_of_ours(tmp_path: Path) -> None:
    LocalFiles(tmp_path).write(FILE, b"{")
    with pytest.raises(StateError, match=r"generation.json` cannot be read"):
        Generations(LocalFiles(tmp_path), "c").read()
