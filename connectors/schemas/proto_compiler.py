"""Makes descriptors of the text of `.proto` files, by Google's own compiler (grpcio-tools, the extra `protoc`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from catalog.schema.proto_schema import with_built_in
from state.errors import UserError

_SECONDS = 60
_SHOWN = 500
_NOISE = re.compile(r"WARNING: All log messages|[IW]\d{4} ")


class NoProtoCompiler(UserError):
    """The text of a .proto file is to be read, and no compiler is installed."""

    code = "no_proto_compiler"


class ProtoTextError(UserError):
    """The text of a .proto file does not compile."""

    code = "proto_text"


def compile_proto(file: Path) -> bytes:
    """Return the descriptor set of `file` and all its imports, which are named relative to its folder.

    Cost: about 0.1 s, a process of its own. Raises NoProtoCompiler, ProtoTextError.
    """
    if find_spec("grpc_tools") is None:
        raise NoProtoCompiler(
            f"`{file.name}` needs a compiler: `pip install grpcio-tools`, or give the descriptor set that "
            "`protoc --include_imports --descriptor_set_out=FILE` makes of it."
        )
    return _compiled(file.parent, file.name, b"")


def compile_texts(texts: Mapping[str, str], root: str, made: bytes = b"") -> bytes:
    """Return the descriptor set of the file `root` of `texts`, which has its imports by the names in them.

    `made` is the descriptor set of further imports.

    Raises NoProtoCompiler, ProtoTextError.
    """
    with tempfile.TemporaryDirectory(prefix="tidewire-proto-") as folder:
        for name, text in texts.items():
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or "\0" in name:
                raise ProtoTextError(f"`{name[:60]}` is no name of a .proto file. Name it as it is imported.")
            place = Path(folder, *path.parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        if find_spec("grpc_tools") is None:
            raise NoProtoCompiler("a schema is the text of a .proto file: `pip install grpcio-tools` compiles it.")
        return _compiled(Path(folder), root, made)


def _compiled(folder: Path, name: str, made: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="tidewire-proto-") as scratch:
        out, known = Path(scratch, "set"), Path(scratch, "known")
        known.write_bytes(with_built_in(made))
        command = [
            sys.executable, "-m", "grpc_tools.protoc", f"-I{folder.absolute()}", f"--descriptor_set_in={known}",
            "--include_imports", f"--descriptor_set_out={out}", name,
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, cwd=scratch, check=False)
        lines = run.stderr.replace(f"{folder.absolute()}/", "").strip().splitlines()
        said = "; ".join(line for line in lines if not _NOISE.match(line))
        if run.returncode or not out.exists():
            raise ProtoTextError(f"`{name}` does not compile: {said[:_SHOWN]}")
        return out.read_bytes()
