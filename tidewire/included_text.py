"""Files that a catalog's text includes: 'schema.7' = '@trade.avsc' becomes the text of the file.

The catalog's topic then holds the schema itself, so every process reads records by the same one, for ever. A file with
Protobuf descriptors, or the text of a `.proto` file, becomes the base64 of the descriptors.
"""

from __future__ import annotations

import re
from pathlib import Path

from catalog.schema.proto_schema import schema_text
from connectors.schemas.proto_compiler import compile_proto
from tidewire.text_input import STDIN, open_input, text_of

_INCLUDED = re.compile(r"""('schema(?:\.[0-9]+)?'\s*=\s*)'@((?:[^']|'')+)'""", re.IGNORECASE)


def include(ddl: str, file: Path) -> str:
    """Return `ddl`, which stands in `file`, with the texts of the files that it names; they lie beside it.

    Raises UnreadableInput, and NoProtoCompiler or ProtoTextError of a `.proto` file.
    """
    folder = Path() if file == STDIN else file.parent

    def text(match: re.Match[str]) -> str:
        content = _content(folder / match[2].replace("''", "'"))
        return f"{match[1]}'{content.strip().replace(chr(39), chr(39) * 2)}'"

    return _INCLUDED.sub(text, ddl)


def _content(path: Path) -> str:
    with open_input(path) as stream:
        data = stream.read()
    descriptors = compile_proto(path) if path.suffix == ".proto" else data
    return schema_text(descriptors) or text_of(data, path)
