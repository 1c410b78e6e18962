"""Texts that people could send as JSON: plain ones, and those with what readers have fallen over."""

from __future__ import annotations

from hypothesis import strategies as st

digits = st.one_of(
    st.integers(0, 99).map(str), st.sampled_from(["9" * n for n in (20, 400, 4_000, 4_001, 4_301, 9_000)])
)
exponents = st.one_of(
    st.just(""),
    st.tuples(
        st.sampled_from(["e", "E", "e+", "e-", "E-"]),
        st.sampled_from(
            ["0", "5", "400", "00000000000000000001", "999999", "1000000", "9" * 19, "9" * 20, "9" * 5_000]
        ),
    ).map("".join),
)
numbers = st.tuples(
    st.sampled_from(["", "-"]), digits, st.sampled_from(["", ".0", ".5", "." + "1" * 500]), exponents
).map("".join)
"""Mostly JSON numbers, some of them far beyond what anybody means."""
strings = st.sampled_from(
    [
        '""',
        '"a"',
        '"é"',
        '"\\u00e9\\n"',
        '"\\u0000"',
        '"\\ud800"',
        '"\\udc00x"',
        '"\\ud83d\\ude00"',
        '"\\x"',
        '"\x01"',
        '"',
    ]
)
words = st.sampled_from(
    ["null", "true", "false", "NaN", "Infinity", "-Infinity", "nul", "01", ".5", "5.", "+1", "1e", ""]
)
scalars = st.one_of(numbers, strings, words)


def _nested(depth: int, pair: tuple[str, str], inner: str) -> str:
    return pair[0] * depth + inner + pair[1] * depth


deep = st.builds(
    _nested,
    st.sampled_from([1, 30, 63, 64, 65, 1_000, 30_000]),
    st.sampled_from([("[", "]"), ('{"a":', "}"), ("[", ""), ('[{"a":', "}]"), ("[[],", "]")]),
    st.sampled_from(["", "1", "null", '"["']),
)
"""Nested up to what the reader takes, and far beyond."""
names = st.sampled_from(['"a"', '"b"', '"id"', '"\\u0000"', '"' + "x" * 2_000 + '"', '"é"', '"\\ud800"'])
texts = st.recursive(
    st.one_of(scalars, deep),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ",".join(items) + "]"),
        st.lists(st.tuples(names, inner).map(":".join), max_size=3).map(lambda items: "{" + ", ".join(items) + "}"),
    ),
    max_leaves=6,
)
beginnings = st.sampled_from([b"", b"", b"", b" ", b"\xef\xbb\xbf", b"\xff", b"\0", b"\x0b"])
endings = st.sampled_from([b"", b"", b"", b"\n", b" ", b",", b"\xc3", b"x"])
documents = st.tuples(beginnings, texts.map(lambda text: text.encode(errors="surrogatepass")), endings).map(b"".join)
