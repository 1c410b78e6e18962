"""The golden files of refusals: statements, each with the code and the message that a user sees.

Each file is a list of blocks divided by lines of `====`; a block is the statement, a line `---- CODE`, and what
`str()` of the error says. `python -m tests.catalog.refusals` writes the answers of today; read the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.sql.errors import SqlError
from tests.catalog import chosen, joined, streamed, viewed
from tests.catalog.sample import CATALOG, compiler

HERE = Path(__file__).parent
_DIVIDER = "\n====\n"


def refuse_subscription(sql: str) -> SqlError | None:
    """What the compiler says against `sql`, or None."""
    return _caught(lambda: compiler().compile(sql))


def refuse_join(sql: str) -> SqlError | None:
    """What the compiler says against a question over several tables, or None."""
    return _caught(lambda: joined.compiler().compile(sql))


def refuse_catalog(sql: str) -> SqlError | None:
    """What the catalog says against `sql`, or None."""
    return _caught(lambda: apply_ddl(CATALOG, sql, 1))


def refuse_view(text: str) -> SqlError | None:
    """What the catalog says against `text` where there are views, or against a question over them, or None."""
    if text.startswith("SELECT"):
        return _caught(lambda: Compiler(viewed.CATALOG).compile(text))
    return _caught(lambda: apply_ddl(viewed.CATALOG, text, 1))


def refuse_stream(text: str) -> SqlError | None:
    """What the catalog says against `text` where there are streams, or against a question over their views, or None."""
    if text.startswith("SELECT"):
        return _caught(lambda: Compiler(streamed.CATALOG).compile(text))
    return _caught(lambda: apply_ddl(streamed.CATALOG, text, 1))


def refuse_chosen(text: str) -> SqlError | None:
    """What is said against a question to tables that choose their subscribers, or a text about them, or None."""
    if text.startswith("SELECT"):
        return _caught(lambda: chosen.compiler().compile(text))
    return _caught(lambda: apply_ddl(chosen.CATALOG, text, 2))


FILES: dict[str, Callable[[str], SqlError | None]] = {
    "refusals_subscription.txt": refuse_subscription,
    "refusals_join.txt": refuse_join,
    "refusals_catalog.txt": refuse_catalog,
    "refusals_view.txt": refuse_view,
    "refusals_stream.txt": refuse_stream,
    "refusals_audience.txt": refuse_chosen,
}


def read(name: str) -> list[tuple[str, str, str]]:
    """Statement, code and message of each block."""
    blocks = (HERE / name).read_text("utf-8").rstrip("\n").split(_DIVIDER)
    parts = [re.split(r"\n---- (\w+)\n", block, maxsplit=1) for block in blocks]
    return [(part[0], part[1] if len(part) > 1 else "", part[2] if len(part) > 1 else "") for part in parts]


def _caught(action: Callable[[], object]) -> SqlError | None:
    try:
        action()
    except SqlError as error:
        return error
    return None


def _rewritten(name: str) -> str:
    blocks = []
    for sql, _, _ in read(name):
        error = FILES[name](sql)
        assert error is not None, f"accepted: {sql}"
        blocks.append(f"{sql}\n---- {error.code}\n{error}")
    return _DIVIDER.join(blocks) + "\n"


if __name__ == "__main__":
    for file in FILES:
        (HERE / file).write_text(_rewritten(file), "utf-8")
