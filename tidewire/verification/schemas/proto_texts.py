"""Texts of `.proto` files to descriptors, by Google's compiler as its Python package has it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from tidewire.verification.schemas.proto_schemas import small_files
from tidewire.verification.schemas.registry import Silent
from tidewire.verification.schemas.schema_fault import NoSchema

_SECONDS = 60


def compiled(root: str, texts: Mapping[str, str], made: Sequence[FileDescriptorProto]) -> Iterable[FileDescriptorProto]:
    """Return the file `root` and all that it imports, from `texts` by name and from files that are `made` already.

    Raises NoSchema if it does not compile, Silent without a compiler.
    """
    if find_spec("grpc_tools") is None:
        raise Silent("the registry has the text of a .proto file, to compile it `pip install tidewire[protoc]`")
    with tempfile.TemporaryDirectory(prefix="tidewire-verify-") as folder:
        place = Path(folder, "texts").absolute()
        for name, text in texts.items():
            _write(place, name, text)
        return _run(Path(folder), place, root, made)


def _write(place: Path, name: str, text: str) -> None:
    path = Path(place, name)
    if "\0" in name or "\\" in name or name in ("", ".") or ".." in path.parts or not path.is_relative_to(place):
        raise NoSchema("a name of a file that is none")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _run(folder: Path, place: Path, root: str, made: Sequence[FileDescriptorProto]) -> Iterable[FileDescriptorProto]:
    known, out = folder / "known", folder / "out"
    has = {f"{file.package}.{message.name}" for file in made for message in file.message_type}
    small = [file for file in small_files() if f"{file.package}.{file.message_type[0].name}" not in has]
    known.write_bytes(FileDescriptorSet(file=[*made, *small]).SerializeToString())
    place.mkdir(exist_ok=True)
    options = [f"-I{place}", f"--descriptor_set_in={known}", "--include_imports", f"--descriptor_set_out={out}"]
    command = [sys.executable, "-m", "grpc_tools.protoc", *options, root]
    try:
        run = subprocess.run(command, capture_output=True, timeout=_SECONDS, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        raise Silent(f"`{root}` was not compiled within {_SECONDS} s") from None
    if run.returncode or not out.exists():
        raise NoSchema(f"{root} does not compile")
    files: Iterable[Any] = FileDescriptorSet.FromString(out.read_bytes()).file
    return files
