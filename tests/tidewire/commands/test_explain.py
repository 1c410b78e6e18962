"""`tidewire explain`, against a file of statements: what a question is compiled to, and how a refusal is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidewire.commands import in_memory
from tests.tidewire.commands.in_memory import InMemory, Refusals, connected, refusals
from tidewire.cli import run
from tidewire.commands import explain as module

DDL = "CREATE TABLE {table} (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "either SQL or a template"),
        (["SELECT 1", "--template", "SELECT ?"], "either SQL or a template"),
        (["SELECT 1", "--id", ""], "Choose another id."),
        (["SELECT 1", "--params", "5"], "Put the constants in brackets"),
        (["SELECT 1", "--catalog", ""], "expected a path, got ''"),
        (["SELECT 1", "--catalog", "none.sql"], "`none.sql` cannot be read"),
    ],
)
def test_what_cannot_be(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("explain", *arguments)


def test_the_catalog_in_force_is_asked_where_there_is_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    connected(
        monkeypatch, module, InMemory(f"{DDL.format(table='stock')}; CREATE TABLE item (symbol VARCHAR PRIMARY KEY)")
    )
    assert in_memory.run("explain", "SELECT MIN(price) FROM stock", "--id", "s", "--json") == 0
    said = json.loads(capfd.readouterr().out)
    assert said["outputs"] == ["MIN(price)"] and said["virtual_edge"] is not None
    assert in_memory.run("explain", "SELECT stock.price FROM stock JOIN item ON stock.symbol = item.symbol") == 0
    assert "waits for" in capfd.readouterr().out, "nobody has asked for this join yet"


def test_explain_needs_no_broker_with_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "catalog.sql"
    file.write_text(DDL.format(table="stock"))
    assert run(["explain", "SELECT MIN(price) FROM stock WHERE price < 2", "--catalog", str(file)]) == 0
    assert 'price from the lowest to "1.99"' in capsys.readouterr().out
    assert run(["explain", "--catalog", str(file)]) == 2
    assert run(["explain", "SELECT MIN(price) FROM stock", "--catalog", str(tmp_path / "none.sql")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_explain_tells_a_refusal_as_an_object(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "catalog.sql"
    file.write_text(DDL.format(table="stock"))
    for sql, code, place in (
        ("SELECT MIN(prise) FROM stock", "unknown_column", (1, 12)),
        ("SELECT MIN(price)\nFORM stock", "syntax", (2, 1)),
        ("SELECT MIN(price) FROM stock NOTIFY SOMETIMES", "syntax", (1, 37)),
        ("", "syntax", None),
    ):
        assert run(["explain", sql, "--catalog", str(file), "--json"]) == 2
        said = json.loads(capsys.readouterr().out)
        assert (said["status"], said["code"]) == ("refused", code)
        assert said["message"] and said["hint"]
        assert (said.get("line"), said.get("column")) == (place or (None, None))
    assert run(["explain", "SELECT MIN(prise) FROM stock", "--catalog", str(file)]) == 2
    assert "no column `prise`" in capsys.readouterr().err
    for text in (
        "CREAT TABLE t (id INT PRIMARY KEY)",
        "CREATE TABLE t (id INT PRIMARY KEY) WITH ('topic'='mine.acks')",
    ):
        file.write_text(text)
        assert run(["explain", "SELECT COUNT(*) FROM t", "--catalog", str(file), "--prefix", "mine.", "--json"]) == 2
        assert json.loads(capsys.readouterr().out)["code"] in ("syntax", "conflict")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("[12345678901234567890.12]", 'price from "12345678901234567890.13" to the highest'),
        ("[-0.0000000000000000000000000001]", 'price from "0.00" to the highest'),
        ("[1e400]", "empty: no row can ever be in it"),
        ("[-1e400]", "price from the lowest"),
        ("[1e99999999999999999999]", "an exponent beyond 999,999"),
        ("[%s]" % ("9" * 5_000), "more than 4,000 digits"),
        ("[" * 9_000, "nested more than 64 deep"),
        ("[NaN]", "NaN is not a JSON value"),
        ("[[1]]", "must have plain values as `params`"),
        ("5", "Put the constants in brackets"),
        ('["\udcff"]', "is not UTF-8"),
        ("", "expected a JSON array, got ''"),
    ],
)
def test_parameters_are_exact_and_bounded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, params: str, said: str
) -> None:
    file = tmp_path / "catalog.sql"
    file.write_text("CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(38,2))", encoding="utf-8-sig")
    template = "SELECT MIN(price) FROM stock WHERE price > ?"
    code = run(["explain", "--catalog", str(file), "--template", template, "--params", params])
    out, err = capsys.readouterr()
    assert said in " ".join((out + err).split()) and code == (0 if out else 2) and len(err) < 1_000
