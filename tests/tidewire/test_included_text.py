import base64
from pathlib import Path

import pytest

from catalog.schema.proto_schema import ProtoSchema
from tidewire.included_text import include
from tidewire.text_input import UnreadableInput


def test_files_lie_beside_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "it's.avsc").write_text('{"doc": "it\'s"}\n')
    ddl = "WITH ('schema.7' = '@it''s.avsc', 'SCHEMA'='@it''s.avsc', 'topic'='@x')"
    text = """'{"doc": "it''s"}'"""
    assert include(ddl, tmp_path / "c.sql") == f"WITH ('schema.7' = {text}, 'SCHEMA'={text}, 'topic'='@x')"
    with pytest.raises(UnreadableInput, match=r"gone\.avsc"):
        include("WITH ('schema'='@gone.avsc')", tmp_path / "c.sql")


def test_protobuf_comes_as_descriptors(tmp_path: Path) -> None:
    (tmp_path / "t.proto").write_text('syntax = "proto3"; message T { int32 id = 1; }')
    found = include("'schema'='@t.proto'", tmp_path / "c.sql")
    text = found.removeprefix("'schema'='").removesuffix("'")
    assert ProtoSchema(text, "").names == ["T"]
    (tmp_path / "t.desc").write_bytes(base64.b64decode(text))
    assert include("'schema'='@t.desc'", tmp_path / "c.sql") == found
