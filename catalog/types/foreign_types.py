"""Types of other databases, by the word that a declaration begins with, and what to write instead of them here."""

from __future__ import annotations

from catalog.sql.errors import near

_TEXT = "Write VARCHAR."
_LARGE = "Write DECIMAL(20,0), which holds all of 64 bits without a sign."
_ZONE = "Write TIMESTAMP, and publish times of one zone, such as UTC."
_BYTES = "Bytes have no type here: leave the column out, or publish them as text and write VARCHAR."
_NESTED = "A column holds one value: declare a column for each member that is asked for, and leave the others out."
_PLACE = "Places have no type here: declare columns of type DOUBLE, such as one for each coordinate."
_MEMBERS = "Write VARCHAR, or a column for each member that is asked for."
_WORDS: dict[str, tuple[str, ...]] = {
    "Write REAL for 32 bits or DOUBLE for 64.": ("FLOAT",),
    "Write REAL.": ("FLOAT4", "FLOAT32", "SINGLE", "BINARY_FLOAT"),
    "Write DOUBLE.": ("FLOAT8", "FLOAT64", "BINARY_DOUBLE"),
    "Write VARCHAR; values are not padded.": ("CHAR", "CHARACTER", "NCHAR", "BPCHAR"),
    _TEXT: (
        "STRING", "NVARCHAR", "NVARCHAR2", "VARCHAR2", "CHARACTER VARYING", "CHAR VARYING", "CLOB", "NCLOB", "NTEXT",
        "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "CITEXT", "NAME", "UUID", "GUID", "UNIQUEIDENTIFIER", "ENUM", "INET",
        "CIDR", "MACADDR", "UTF8", "STR", "LVARCHAR", "FIXEDSTRING", "KEYWORD",
    ),
    _MEMBERS: ("JSON", "JSONB", "XML", "HSTORE", "VARIANT", "OBJECT", "SUPER"),
    "Write SMALLINT.": (
        "TINYINT", "INT1", "INT2", "INT16", "SHORT", "BYTE", "SMALLSERIAL", "SERIAL2", "YEAR", "UINT8", "UTINYINT",
        "BYTEINT",
    ),
    "Write INTEGER.": (
        "INT4", "INT32", "INT3", "MEDIUMINT", "SERIAL", "SERIAL4", "SIGNED", "UINT16", "USMALLINT", "UMEDIUMINT",
    ),
    "Write BIGINT.": (
        "INT8", "INT64", "LONG", "BIGSERIAL", "SERIAL8", "UINT", "UINT32", "UINTEGER", "ROWID", "OID", "COUNTER",
    ),
    _LARGE: ("UINT64", "UBIGINT"),
    "Write DECIMAL(38,0).": ("HUGEINT", "INT128", "UHUGEINT", "UINT128", "INT256", "UINT256", "BIGINTEGER", "VARINT"),
    "Write DECIMAL(12,2): 12 digits, 2 after the point.": (
        "NUMBER", "MONEY", "SMALLMONEY", "BIGDECIMAL", "BIGNUMERIC", "DECIMAL32", "DECIMAL64", "DECIMAL128", "DECFLOAT",
        "CURRENCY",
    ),
    "Write BOOLEAN.": ("BIT", "LOGICAL"),
    "Write DATE.": ("DATE32",),
    "Write TIMESTAMP.": (
        "DATETIME", "DATETIME2", "DATETIME64", "SMALLDATETIME", "TIMESTAMP_NTZ", "TIMESTAMPNTZ", "TIMESTAMP_S",
        "TIMESTAMP_MS", "TIMESTAMP_US", "TIMESTAMP_NS",
    ),
    _ZONE: ("TIMESTAMPTZ", "TIMESTAMP_LTZ", "TIMESTAMPLTZ", "TIMESTAMP_TZ", "DATETIMEOFFSET", "INSTANT"),
    "A time of day has no type here: write VARCHAR, in which '09:30:00' compares as it should.": ("TIME", "TIMETZ"),
    "A span of time has no type here: write BIGINT, and publish it in one unit, such as seconds.": (
        "INTERVAL", "DURATION",
    ),
    _BYTES: (
        "BYTEA", "BLOB", "BYTES", "BINARY", "VARBINARY", "LONGBLOB", "MEDIUMBLOB", "TINYBLOB", "IMAGE", "RAW", "VARBIT",
        "BINARY LARGE OBJECT",
    ),
    _NESTED: (
        "ARRAY", "LIST", "MAP", "STRUCT", "ROW", "TUPLE", "NESTED", "RECORD", "MULTISET", "SET", "VECTOR",
        "TSVECTOR", "UNION",
    ),
    "Write INT4RANGE, INT8RANGE, NUMRANGE(12,2), DATERANGE, TSRANGE, FLOAT8RANGE or TEXTRANGE.": ("RANGE",),
    "Write TSRANGE, and publish times of one zone, such as UTC.": ("TSTZRANGE",),
    "A column holds one range: declare a column for each that is asked for.": (
        "INT4MULTIRANGE", "INT8MULTIRANGE", "NUMMULTIRANGE", "DATEMULTIRANGE", "TSMULTIRANGE", "TSTZMULTIRANGE",
    ),
    _PLACE: ("POINT", "GEOMETRY", "GEOGRAPHY", "LINESTRING", "POLYGON", "BOX", "CIRCLE"),
}  # fmt: skip
_INSTEAD = {word: hint for hint, words in _WORDS.items() for word in words}
_UNSIGNED = {
    "TINYINT": "Write SMALLINT.",
    "SMALLINT": "Write INTEGER.",
    "MEDIUMINT": "Write INTEGER.",
    "INT": "Write BIGINT.",
    "INTEGER": "Write BIGINT.",
    "BIGINT": _LARGE,
}


def is_foreign(word: str) -> bool:
    """Whether a word in upper case begins a type of another database."""
    return word in _INSTEAD or word == "UNSIGNED"


def instead_of(written: str, known: tuple[str, ...]) -> str | None:
    """Return what to write instead of a type as it is written; None where nothing is known to be meant.

    >>> instead_of("INT8", ()), instead_of("number(10, 2)", ()), instead_of("intt", ("INT", "DATE"))
    ('Write BIGINT.', 'Write DECIMAL(10, 2).', 'Did you mean INT?')
    """
    words = " ".join(written.upper().split())
    first, arguments = words.partition("(")[0].partition("<")[0].strip(), written.partition("(")[2]
    head = first.split(" ")[0]
    if "[" in words or "<" in words:
        return _NESTED
    if head == "UNSIGNED" or first.endswith("UNSIGNED"):
        return _UNSIGNED.get(first.removeprefix("UNSIGNED").removesuffix("UNSIGNED").strip(), "Write BIGINT.")
    if head in ("TIMESTAMP", "TIME") and "ZONE" in words:
        return _ZONE if head == "TIMESTAMP" else _INSTEAD["TIME"]
    if head in ("NUMBER", "BIGNUMERIC") and arguments.replace(" ", "").rstrip(")").replace(",", "").isdigit():
        return f"Write DECIMAL({arguments}."
    if hint := _INSTEAD.get(first) or _INSTEAD.get(head):
        return hint
    meant = near(first, known)[:1]
    return f"Did you mean {meant[0]}?" if meant and meant[0] != first else None
