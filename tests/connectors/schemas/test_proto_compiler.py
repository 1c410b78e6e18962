import pytest

from connectors.schemas import proto_compiler
from connectors.schemas.proto_compiler import NoProtoCompiler, ProtoTextError, compile_proto, compile_texts


def test_imports_lie_beside_the_file(tmp_path):
    (tmp_path / "a.proto").write_text('syntax = "proto3"; import "b/c.proto"; message A { b.C c = 1; }')
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.proto").write_text('syntax = "proto3"; package b; message C { int32 x = 1; }')
    assert b"b/c.proto" in compile_proto(tmp_path / "a.proto")


def test_refusals_say_the_line(monkeypatch):
    with pytest.raises(ProtoTextError, match=r"does not compile: a\.proto:1:20: Expected"):
        compile_texts({"a.proto": 'syntax = "proto3"; mesage A {}'}, "a.proto")
    for name in ("../a.proto", "/etc/a.proto", "", "a\\b.proto"):
        with pytest.raises(ProtoTextError, match="no name of"):
            compile_texts({name: ""}, name)
    monkeypatch.setattr(proto_compiler, "find_spec", lambda name: None)
    with pytest.raises(NoProtoCompiler, match="pip install"):
        compile_texts({"a.proto": ""}, "a.proto")
