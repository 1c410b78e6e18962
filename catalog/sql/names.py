"""Names in SQL: unquoted ones fold to lower case, quoted ones are kept."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_ELSEWHERE = frozenset({
    "variadic", "trailing", "symmetric", "summarize", "do", "initially", "placing", "cast", "analyse", "check",
    "only", "asymmetric", "both", "pivot_longer", "lambda", "leading", "pivot_wider", "deferrable", "verbose",
    "columns", "concurrently", "collation", "try_cast", "generated", "at", "freeze", "authorization", "tuple",
    "unpack", "positional",
})  # fmt: skip
"""Words that DuckDB reserves and the parser does not: the query of a view is read by both."""


@cache
def _reserved() -> frozenset[str]:
    """Return the words that are no names; the parser is loaded for it, which shards have no other need of."""
    from sqlglot.tokens import Tokenizer

    return frozenset(word for keyword in Tokenizer.KEYWORDS for word in keyword.lower().split())


def folded(identifier: exp.Expr) -> str:
    """Return the name that an identifier stands for.

    >>> from sqlglot import exp
    >>> folded(exp.to_identifier("Risk")), folded(exp.to_identifier("Risk", quoted=True))
    ('risk', 'Risk')
    """
    name: str = identifier.this
    return name if identifier.args.get("quoted") else name.lower()


def quoted(name: str) -> str:
    """Return `name` as SQL that reads as this name again, quoted only where it must be.

    >>> quoted("risk"), quoted("Risk"), quoted("order")
    ('risk', '"Risk"', '"order"')
    """
    if _PLAIN.fullmatch(name) and name not in _reserved():
        return name
    return '"' + name.replace('"', '""') + '"'


def quoted_for_all(name: str) -> str:
    """Return `name` as SQL that DuckDB, too, reads as this name again.

    >>> quoted_for_all("risk"), quoted_for_all("at"), quoted_for_all("order")
    ('risk', '"at"', '"order"')
    """
    return f'"{name}"' if name in _ELSEWHERE else quoted(name)
