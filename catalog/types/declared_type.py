"""Reads the type of a declared column; the words are the SQL standard's, each with one meaning.

    BOOLEAN BOOL · SMALLINT · INTEGER INT · BIGINT · REAL · DOUBLE [PRECISION] · DECIMAL(p[,s]) NUMERIC DEC
    DATE · TIMESTAMP · VARCHAR TEXT
    INT4RANGE · INT8RANGE · NUMRANGE(p[,s]) · DATERANGE · TSRANGE · FLOAT8RANGE · TEXTRANGE

A length (`VARCHAR(10)`), a precision (`TIMESTAMP(3)`) and a display width (`INT(11)`) are refused, since nothing
would enforce them; FLOAT is refused, since some databases give it 32 bits and others 64.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.sql.errors import SqlError
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import MAX_PRECISION, ColumnType, Kind
from catalog.types.foreign_types import instead_of

_WORDS: dict[str, tuple[Kind, exp.DType]] = {
    "BOOLEAN": (Kind.BOOLEAN, exp.DType.BOOLEAN),
    "BOOL": (Kind.BOOLEAN, exp.DType.BOOLEAN),
    "SMALLINT": (Kind.SMALLINT, exp.DType.SMALLINT),
    "INTEGER": (Kind.INTEGER, exp.DType.INT),
    "INT": (Kind.INTEGER, exp.DType.INT),
    "BIGINT": (Kind.BIGINT, exp.DType.BIGINT),
    "REAL": (Kind.REAL, exp.DType.FLOAT),
    "DOUBLE": (Kind.DOUBLE, exp.DType.DOUBLE),
    "DOUBLE PRECISION": (Kind.DOUBLE, exp.DType.DOUBLE),
    "DECIMAL": (Kind.DECIMAL, exp.DType.DECIMAL),
    "NUMERIC": (Kind.DECIMAL, exp.DType.DECIMAL),
    "DEC": (Kind.DECIMAL, exp.DType.DECIMAL),
    "DATE": (Kind.DATE, exp.DType.DATE),
    "TIMESTAMP": (Kind.TIMESTAMP, exp.DType.TIMESTAMP),
    "VARCHAR": (Kind.VARCHAR, exp.DType.VARCHAR),
    "TEXT": (Kind.VARCHAR, exp.DType.TEXT),
    "INT4RANGE": (Kind.INT4RANGE, exp.DType.INT4RANGE),
    "INT8RANGE": (Kind.INT8RANGE, exp.DType.INT8RANGE),
    "NUMRANGE": (Kind.NUMRANGE, exp.DType.NUMRANGE),
    "DATERANGE": (Kind.DATERANGE, exp.DType.DATERANGE),
    "TSRANGE": (Kind.TSRANGE, exp.DType.TSRANGE),
    "FLOAT8RANGE": (Kind.FLOAT8RANGE, exp.DType.USERDEFINED),
    "TEXTRANGE": (Kind.TEXTRANGE, exp.DType.USERDEFINED),
}
_SCALED = (Kind.DECIMAL, Kind.NUMRANGE)

_KNOWN = "Known types: " + ", ".join(k.value + ("(p,s)" if k in _SCALED else "") for k in Kind) + "."
DECIMAL_DIGITS = f"a DECIMAL has 1 to {MAX_PRECISION} digits, of which 0 to all stand after the point"
_SAID_OF_COLUMNS = frozenset({
    "NOT", "NULL", "PRIMARY KEY", "PRIMARY", "KEY", "DEFAULT", "UNIQUE", "CHECK", "REFERENCES", "GENERATED", "COLLATE",
    "COMMENT", "CONSTRAINT", "AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY", "AS", "ON",
})  # fmt: skip
"""Words that may stand behind a type."""


def read_type(item: exp.ColumnDef, name: str, source: StatementText) -> ColumnType:
    """Return the type of the declared column `name`. Raises CatalogError with code `unsupported_type`."""
    span = source.span(item.this)
    token = source.token_after(span[1]) if span else None
    kind = item.args.get("kind")
    if not isinstance(kind, exp.DataType) or token is None:
        what = f"column `{name}` has no type"
        raise source.refusal("syntax", what, item.this, f"Write it after the name: {name} BIGINT.")
    word = token.text.upper()
    known = _WORDS.get(word)
    if known is None or kind.this is not known[1] or kind.args.get("nested") or kind.args.get("values"):
        raise refused_type(written_type(source.tokens, token, source.sql), token, source)
    if known[0] in _SCALED:
        return _scaled(known[0], kind, name, token, source)
    if kind.expressions:
        what = f"{word} takes nothing in parentheses here: nothing would enforce it"
        place = kind if source.span(kind) else token
        raise source.refusal("unsupported_type", what, place, f"Write {name} {word}.")
    return ColumnType(known[0])


def refused_type(written: str, place: Token, source: StatementText) -> SqlError:
    """Return the refusal of a type as it is written, with what to write instead."""
    instead = instead_of(written, tuple(_WORDS))
    hint = _KNOWN if instead is None else f"{instead} {_KNOWN}" if instead.startswith("Did") else instead
    return source.refusal("unsupported_type", f"`{written[:60]}` is no type", place, hint)


def written_type(tokens: Sequence[Token], first: Token, sql: str) -> str:
    """Return a type as it is written, from its first token on."""
    depth, end = 0, first.end + 1
    for token in tokens:
        if token.start < first.start:
            continue
        word = token.text.upper()
        depth -= word in (")", ">", "]")
        if depth < 0 or (depth == 0 and (word in (",", ";") or word in _SAID_OF_COLUMNS)):
            break
        depth += word in ("(", "<", "[")
        end = token.end + 1
    return sql[first.start : end]


def _scaled(of: Kind, kind: exp.DataType, name: str, token: Token, source: StatementText) -> ColumnType:
    numbers = [p.this for p in kind.expressions]
    if not numbers:
        what = f"the {token.text.upper()} of column `{name}` needs its number of digits"
        raise source.refusal(
            "unsupported_type", what, token, f"Write {name} {of.value}(12,2): 12 digits, 2 after the point."
        )
    if len(numbers) > 2:
        what = f"a {token.text.upper()} takes two numbers: how many digits, and how many of them after the point"
        place = kind if source.span(kind) else token
        raise source.refusal("unsupported_type", what, place, f"Write {name} {of.value}(12,2), for example.")
    digits = [int(n.name) if isinstance(n, exp.Literal) and n.is_int and len(n.name) < 5 else -1 for n in numbers]
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    if not (1 <= precision <= MAX_PRECISION and 0 <= scale <= precision):
        what = DECIMAL_DIGITS
        place = kind if source.span(kind) else token
        raise source.refusal("unsupported_type", what, place, f"Write {name} {of.value}(12,2), for example.")
    return ColumnType(of, precision, scale)
