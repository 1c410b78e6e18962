"""Which bucket of its table a record was taken in, told from its Kafka key by the documented rule.

    crc32(canonical JSON of the `bucket.by` columns, in the order of the CREATE TABLE) modulo `buckets`

Written a second time, from texts of values (`decoding`). A key that is none belongs to bucket 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from zlib import crc32

from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import Bad, key_texts

_DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")


def bucket_of(table: Table, key: bytes | None) -> int:
    """Return the number of the bucket. Cost: 10 us."""
    if not table.bucket_by or key is None:
        return 0
    try:
        texts = key_texts(table, key)
    except Bad:
        return 0
    return bucket_with(table, dict(zip((c.name for c in table.columns if c.name in table.key), texts, strict=True)))


def bucket_with(table: Table, texts: Mapping[str, str]) -> int:
    """Return the number of the bucket of the row that has these texts in the columns of `bucket.by`."""
    members = [
        f"{json.dumps(column.name, ensure_ascii=False)}:{_json(column.type, texts[column.name])}"
        for column in table.columns
        if column.name in table.bucket_by
    ]
    return crc32(("{" + ",".join(members) + "}").encode()) % table.buckets


def _json(type: str, text: str) -> str:
    """Return the canonical JSON of a value.

    >>> _json("DECIMAL(9,2)", "1.5"), _json("TIMESTAMP", "2026-03-01 10:00:00"), _json("BIGINT", "7")
    ('"1.50"', '"2026-03-01T10:00:00"', '7')
    """
    decimal = _DECIMAL.fullmatch(type)
    if decimal is not None:
        return f'"{Decimal(text):.{decimal[1]}f}"'
    if type == "TIMESTAMP":
        return f'"{text.replace(" ", "T")}"'
    return json.dumps(text, ensure_ascii=False) if type in ("VARCHAR", "DATE") else text
