"""Subscription records and ids that somebody could send: right ones, and those on which readers fall over."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tests.connectors.json_texts import deep, documents, numbers, scalars, texts

_WHERE = "SELECT MIN(price) FROM stock WHERE "
_TAILS = ["risk > 1", "risk BETWEEN 1 AND 2", "price < 2.50 AND exchange = 'NYSE'", ""]
_PREFIXES = [
    "(",
    "NOT ",
    "- ",
    "-(",
    "CASE WHEN ",
    "CAST(",
    "ARRAY[",
    "{",
    "[",
    "INTERVAL ",
    "risk::int",
    "a.",
    "'",
    '"',
    "/*",
]


def _chained(prefix: str, times: int, tail: str) -> str:
    return _WHERE + prefix * times + tail


long_sql = st.builds(
    _chained, st.sampled_from(_PREFIXES), st.sampled_from([1, 20, 30, 60, 900, 5_000]), st.sampled_from(_TAILS)
)
number_sql = numbers.map(lambda number: f"{_WHERE}price > {number}")
plain_sql = st.sampled_from(
    [_WHERE + tail for tail in _TAILS[:3]] + ["SELECT COUNT(*) FROM stock", "SELECT 1", "", "\0"]
)
option_sql = st.builds(
    "{} {}".format,
    plain_sql,
    st.sampled_from(
        ["NOTIFY LATEST", "NOTIFY MIN CHANGE " + "9" * 70, "TTL " + "9" * 30, "TTL 0", "DELIVER PUSH", "TTL 5 DAYS"]
    ),
)
sql = st.one_of(plain_sql, number_sql, long_sql, option_sql)
written = st.one_of(sql.map(json.dumps), sql.map(lambda text: f'"{text}"'), scalars)
"""What may stand behind `sql` or `template`, as JSON or nearly."""
marked = st.one_of(
    st.sampled_from(
        ['"SELECT MIN(price) FROM stock WHERE price > ?"', '"SELECT COUNT(*) FROM stock WHERE exchange = ?"']
    ),
    written,
)
params = st.one_of(
    st.lists(st.one_of(scalars, numbers, deep), max_size=2).map(lambda all: "[" + ",".join(all) + "]"), texts
)
policies = st.sampled_from(
    [
        '"LATEST"',
        '"MIN CHANGE 0.5"',
        '"MIN CHANGE %s"' % ("9" * 30_000),
        '"MIN CHANGE 0.%s %%"' % ("1" * 90),
        '"MIN CHANGE -1"',
        "5",
    ]
)
seconds = st.one_of(st.sampled_from(["60", "0", "-1", "1.0", "true", "3162240000", "3162240001"]), numbers)
beside = st.lists(
    st.one_of(
        policies.map('"notify":{}'.format),
        seconds.map('"ttl":{}'.format),
        st.sampled_from(['"push"', '"PUSH"', "null", "{}"]).map('"deliver":{}'.format),
        texts.map('"x":{}'.format),
        st.sampled_from(['"":1', '"sql":"x"', '"\\ud800":1', '"%s":1' % ("k" * 5_000), '"sql\\u0000":1']),
    ),
    max_size=2,
)
asked = st.one_of(
    written.map('"sql":{}'.format),
    st.tuples(marked, params).map(lambda both: '"template":{},"params":{}'.format(*both)),
)
records = st.one_of(
    st.tuples(asked, beside).map(lambda all: ("{" + ",".join([all[0], *all[1]]) + "}").encode(errors="surrogatepass")),
    written.map(lambda text: b'{"sql":%s}' % text.encode()),
    documents,
)
ids = st.one_of(
    st.sampled_from(
        [b"", b"@", b"@progress", b"\xff", b"\xed\xa0\x80", b"\0", b"a" * 1_024, b"a" * 1_025, b"\0" * 300_000]
    ),
    st.sampled_from(["é", "a/b", "{}", '"', "\n", "\u2028", "\ufeff", "😀"]).map(str.encode),
    st.binary(max_size=6),
)
own_ids = ['"a"', "null", "5", '""', '"@x"', '"\\n"', '"\\ud800"', f'"{"x" * 1_025}"', f'"{"é" * 600}"']
bodies = st.tuples(st.one_of(st.sampled_from(own_ids), scalars), sql.map(json.dumps), beside).map(
    lambda all: ",".join([f'{{"id":{all[0]},"sql":{all[1]}', *all[2]]).encode(errors="surrogatepass") + b"}"
)
"""Bodies of HTTP requests: records with an id among their members."""
