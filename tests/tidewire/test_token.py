"""`tidewire token`: a token that its line in the settings knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.http.bearer_token import hash_of
from tidewire.cli import run
from tidewire.settings import SettingError, load_settings


def test_the_line_knows_the_token(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["token", "acme"]) == 0
    told, line = (text.partition(": ")[2] for text in capsys.readouterr().out.splitlines())
    config = tmp_path / "t.toml"
    config.write_text(f"[tenants]\n{line}\n")
    assert load_settings(config).http_rules.tenants == {"acme": hash_of(told)}


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["token", "*", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["sha256"] == hash_of(made["token"])


def test_a_name_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["token", "a/b"]) == 2
    assert "a/b" in capsys.readouterr().err


def test_a_token_in_place_of_its_hash_is_refused_and_not_shown() -> None:
    with pytest.raises(SettingError, match="SHA-256") as refused:
        load_settings(tenants={"acme": "my-secret"})
    assert "my-secret" not in str(refused.value)


def test_a_child_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(tenants={"a": "0" * 64}, http_origins=["https://a.example"])
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings().http_rules == settings.http_rules
