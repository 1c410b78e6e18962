"""Answers on standard output, remarks on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidewire.terminal import Terminal, table


def test_json_is_one_object_a_line_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(as_json=True)
    terminal.say("a remark")
    terminal.answer({"a": 1, "path": Path("/x"), "text": "ä [b]"}, "for people")
    out, err = capsys.readouterr()
    assert out == '{"a":1,"path":"/x","text":"ä [b]"}\n'
    assert err == "a remark\n"


def test_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().answer({}, "WHERE a = '[bold]'")
    assert capsys.readouterr().out == "WHERE a = '[bold]'\n"


def test_without_a_text_names_and_values_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().answer({"a": 1, "b": "x"})
    assert capsys.readouterr().out == "a: 1\nb: x\n"


def test_a_table_prints_cells_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().answer({}, table(["name", "n"], [("[red]x", 5), (None, 12)]))
    assert capsys.readouterr().out.split() == ["name", "n", "[red]x", "5", "12"]


@pytest.mark.parametrize(("columns", "lines"), [(None, 2), ("80", 5)])
def test_a_table_in_a_pipe_has_a_line_for_each_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str | None, lines: int
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    names = [f"a column of the name {i}" for i in range(20)]
    Terminal().answer({}, table(names, [["x" * 60] * 20]))
    out = capsys.readouterr().out.splitlines()
    assert len(out) == lines if columns is None else len(out) >= lines
    assert columns is None or max(map(len, out)) <= 80
    assert columns is not None or max(map(len, out)) < 2_000
