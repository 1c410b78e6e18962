"""What is too deep does not depend on how deep the caller stands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SqlError
from catalog.sql.own_stack import on_own_stack
from tests.catalog.sample import CATALOG

Result = TypeVar("Result")


def from_below(frames: int, call: Callable[[], Result]) -> Result:
    return call() if frames == 0 else from_below(frames - 1, call)


def depth(levels: int) -> int:
    return 0 if levels == 0 else 1 + depth(levels - 1)


@pytest.fixture(autouse=True)
def usual_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hypothesis and others raise Python's limit while they run."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    monkeypatch.setattr(sys, "setrecursionlimit", lambda _: None)
    yield
    monkeypatch.undo()
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("frames", [0, 300, 700])
def test_a_caller_leaves_as_much_room_as_any_other(frames: int) -> None:
    assert from_below(frames, lambda: on_own_stack(lambda: depth(900))) == 900
    with pytest.raises(RecursionError):
        from_below(frames, lambda: on_own_stack(lambda: depth(1_000)))


def verdict(read: Callable[[str], object], text: str) -> object:
    try:
        return bool(read(text))
    except SqlError as error:
        return error.code, error.message


@pytest.mark.parametrize(
    ("begin", "end"),
    [("CHECK " + "(", ")"), ("x INT DEFAULT ", ""), ("x INT", "[]"), ("x ARRAY<", "INT>"), ("PRIMARY KEY (", ")")],
)
@pytest.mark.parametrize("times", [3, 15, 25, 60, 120, 3_000])
def test_a_catalog_text_means_the_same_everywhere(begin: str, end: str, times: int) -> None:
    nested = begin + ("(" if begin.endswith("(") else "- " if not end else "") * times + "1" + end * times
    text = f"CREATE TABLE t (id INT PRIMARY KEY, {nested})"
    verdicts = [
        from_below(frames, lambda: verdict(lambda sql: apply_ddl(Catalog(), sql, 0), text)) for frames in (0, 700)
    ]
    assert verdicts[0] == verdicts[1] and verdicts[0] is not True


@pytest.mark.parametrize("times", [1, 10, 20, 30, 60])
def test_a_question_means_the_same_everywhere(times: int) -> None:
    sql = "SELECT COUNT(*) FROM stock WHERE " + "(" * times + "risk > 1" + ")" * times
    verdicts = [from_below(frames, lambda: verdict(Compiler(CATALOG).compile, sql)) for frames in (0, 400, 800)]
    assert verdicts[0] == verdicts[1] == verdicts[2]
