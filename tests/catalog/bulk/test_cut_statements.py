"""Statements cut in bulk are cut where `catalog.query.template.split` cuts them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.cut_statements import CutStatements
from catalog.query.template import split
from tests.effort import examples

texts = st.lists(st.text("'10.eE+-a_ <x", max_size=14) | st.text(max_size=8), max_size=12)


def cut(statements: list[str]) -> CutStatements:
    raw = [text.encode() for text in statements]
    sizes = np.array([len(text) for text in raw], np.int64)
    ends = np.cumsum(sizes)
    return CutStatements.of(np.frombuffer(b"".join(raw), np.uint8), ends - sizes, ends)


def simple(text: str) -> bool:
    literals = split(text)[1]
    rest = "".join(split(text)[0][0])
    comments = any("--" in literal or "/*" in literal for literal in literals)
    return rest.isascii() and "'" not in rest and not comments


@settings(max_examples=examples(150), deadline=None)
@given(texts)
def test_a_simple_statement_is_cut_as_its_template_says(statements: list[str]) -> None:
    made = cut(statements)
    assert made.simple.tolist() == [i for i, text in enumerate(statements) if simple(text)]
    for i in made.simple.tolist():
        assert (made.key(i), made.literals(i)) == split(statements[i]) and made.text(i) == statements[i]


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(st.sampled_from(["a=1", "a=22", "a='1'", "b=1", "a=1 b='x'", "a=1 b='y'", "a=2 b='x'", "'"]), max_size=20)
)
def test_statements_of_a_template_are_found_and_parted(statements: list[str]) -> None:
    made = cut(statements)
    found = [rows.tolist() for rows in made.by_template()]
    wanted: dict[object, list[int]] = {}
    for i in made.simple.tolist():
        wanted.setdefault(split(statements[i])[0], []).append(i)
    assert sorted(found) == sorted(wanted.values())
    for rows in made.by_template():
        for which in ([0], [int(made.counts[rows[0]]) - 1]):
            parts = made.by_literals(rows, np.array(which, np.int64))
            alike: dict[str, list[int]] = {}
            for i in rows.tolist():
                alike.setdefault(made.literals(i)[which[0]], []).append(i)
            assert sorted(part.tolist() for part in parts) == sorted(alike.values())


def test_those_with_a_hash_in_common_are_told_apart() -> None:
    made = cut(["a=1", "b=1", "a=2", "a=1"])
    forged = CutStatements(
        made.data, made.starts, made.ends, made.spans, made.first, made.counts, np.zeros(4, np.uint64)
    )
    assert [rows.tolist() for rows in forged.by_template()] == [[0, 2, 3]]
