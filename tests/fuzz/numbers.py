"""One number everywhere: as a record, as a literal, as a parameter, and as the verification reads both."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind, place
from connectors.dead_letter import RecordFault
from connectors.json.document import Number
from connectors.json.scalar import read_scalar
from operators.exact_units import unit_of
from tests.catalog.sample import of
from tests.oracle.naive_float import hard_texts, naive_nearest
from tidewire.verification.input import decoding
from tidewire.verification.recompute.history import connect
from tidewire.verification.records.question import Query, parse

TYPES = [of("REAL"), of("DOUBLE"), of("DECIMAL", 12, 2), of("DECIMAL", 18, 18), of("DECIMAL", 38, 10), of("BIGINT")]
_DIGITS = st.text("0123456789", min_size=1, max_size=45)
_WHOLE = _DIGITS.map(lambda text: text.lstrip("0") or "0")
_EXPONENT = st.builds("{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 400))
_FAR = st.sampled_from(["e99999999999999999999", "e-99999999999999999999", "E+00000000000000000000001"])
_PLAIN = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-"]),
    _WHOLE,
    st.just("") | _DIGITS.map(".".__add__),
    st.just("") | _EXPONENT | _FAR,
)
_database = lru_cache(1)(connect)
NUMBERS = st.tuples(st.sampled_from(TYPES), hard_texts() | hard_texts(small=True) | _PLAIN)


def is_one_number(drawn: tuple[ColumnType, str]) -> None:
    """Check that a literal meets what was published as the same text, here and in the verification."""
    type_, text = drawn
    try:
        stored = read_scalar(type_, Number(text))
    except RecordFault:
        stored = None
    floor, ceiling = place(type_, LiteralKind.NUMBER, text) or (0, 0)
    if type_.kind in (Kind.REAL, Kind.DOUBLE):
        assert floor == ceiling
    elif abs(float(text)) < 1e300 and "99999" not in text:
        exact = Fraction(text) * 10**type_.scale
        assert floor == exact // 1 and ceiling == -(-exact // 1)
    if stored is not None:
        code = unit_of(type_, stored) if isinstance(stored, str) else stored
        assert (floor, ceiling) == (code, code)
    _as_verified(type_, text, stored)


def _as_verified(type_: ColumnType, text: str, stored: Any) -> None:
    named = str(type_).replace("REAL", "FLOAT")
    try:
        value = decoding.scalar(named, decoding.Number(text))
    except decoding.Bad:
        assert stored is None
        return
    assert stored is not None
    if type_.kind in (Kind.REAL, Kind.DOUBLE):
        assert float(value) == naive_nearest(text, 32 if type_.kind is Kind.REAL else 64)
    if type_.kind is Kind.DECIMAL and not type_.coded:
        return
    database = _database()
    row = f"CAST('{value}' AS {named}) AS x, 0 AS __from, 1 AS __to, 7 AS r"
    database.execute(f"CREATE OR REPLACE TABLE t AS SELECT {row}")
    for operator in ("=", "<", ">="):
        question = parse(database, Query(f"SELECT MIN(x) FROM t WHERE x {operator} {text}"), set())
        found = database.execute(question.selection(database, ["r"], {"x": named})).fetchall()
        assert len(found) == ("=" in operator), operator
