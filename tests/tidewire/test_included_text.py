from pathlib import Path

import pytest

from tidewire.included_text import include
from tidewire.text_input import UnreadableInput


def test_files_lie_beside_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "it's.avsc").write_text('{"doc": "it\'s"}\n')
    ddl = "WITH ('schema.7' = '@it''s.avsc', 'SCHEMA'='@it''s.avsc', 'topic'='@x')"
    text = """'{"doc": "it''s"}'"""
    assert include(ddl, tmp_path / "c.sql") == f"WITH ('schema.7' = {text}, 'SCHEMA'={text}, 'topic'='@x')"
    with pytest.raises(UnreadableInput, match=r"gone\.avsc"):
        include("WITH ('schema'='@gone.avsc')", tmp_path / "c.sql")
