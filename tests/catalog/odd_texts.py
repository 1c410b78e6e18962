"""Catalog texts that somebody could send: what nests without end, and numbers beyond all measure."""

from __future__ import annotations

from hypothesis import strategies as st

_PLACES = [
    "CREATE TABLE t (id INT PRIMARY KEY, x {})",
    "CREATE TABLE t (id INT PRIMARY KEY, x INT{})",
    "CREATE TABLE t (id INT PRIMARY KEY, x INT DEFAULT {})",
    "CREATE TABLE t (id INT, PRIMARY KEY {})",
    "CREATE TABLE t (id INT PRIMARY KEY, CHECK {})",
    "CREATE TABLE t (id INT PRIMARY KEY, x DECIMAL({}))",
    "CREATE TABLE t (id INT PRIMARY KEY, x VARCHAR({}))",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ({})",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('buckets'='{}','bucket.by'='id')",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('format'='csv','delimiter'='{}')",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('format'='avro','schema'='{}')",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('format'='avro','schema.{}'='\"int\"')",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('format'='protobuf','schema'='{}')",
    "CREATE TABLE t (id INT PRIMARY KEY) WITH ('topic'='{}')",
    "CREATE TABLE {} (id INT PRIMARY KEY)",
    "CREATE TABLE t AS {}",
    "DROP TABLE {}",
    "CREATE JOIN {}",
    "REFUSE JOIN a, b BECAUSE {}",
    "{}",
]
_LINKS = [
    "(", ")", "[", "[]", "{", "- ", "NOT ", "ARRAY<", "STRUCT<a ", "MAP<", "CASE WHEN ", "CAST(", "a.", "a,", ";", "'",
    '"', "/*", "--", "'a'='b',", "::int", " AND 1", " COLLATE x", "CREATE TABLE x AS ", "SELECT ", "(SELECT ", "BEGIN ",
    "\0", "9", "0.", "A", "1e9", "é", "😀", '{"type":', '["null",', '{"type":"array","items":',
    '{"type":"record","name":"r","fields":[{"name":"id","type":',
]  # fmt: skip


def _text(place: str, links: list[tuple[str, int]], end: str) -> str:
    return place.replace("{}", "".join(link * times for link, times in links) + end, 1)


texts = st.builds(
    _text,
    st.sampled_from(_PLACES),
    st.lists(st.tuples(st.sampled_from(_LINKS), st.sampled_from([1, 2, 30, 300, 1_500])), min_size=1, max_size=2),
    st.sampled_from(["", "1", "INT", "x", '"int"', '"size":' + "9" * 5_000 + "}", '"size":1e99999999999999999999}']),
)
