from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tidewire.text_input import STDIN, UnreadableInput, open_input, read_text


def test_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes("ä\n".encode())
    assert read_text(tmp_path / "f") == "ä\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe")))
    with open_input(STDIN) as stream:
        assert stream.read() == b"from a pipe"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"none` cannot be read: No such file"):
        read_text(tmp_path / "none")
    with pytest.raises(UnreadableInput, match="cannot be read: Is a directory"):
        read_text(tmp_path)
    (tmp_path / "bytes").write_bytes(b"ab\xff")
    with pytest.raises(UnreadableInput, match="is not UTF-8: byte 2"):
        read_text(tmp_path / "bytes")
