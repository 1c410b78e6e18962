"""Literals packed and statements written by compiled loops, against the code of single texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.arena.text_arena import sizes_of
from overlay.table.literal_code import pack, unpack
from overlay.table.literal_kernels import pack_all, write_all
from state.change_batch import I64
from tests.effort import examples

NUMBERS = st.text("0123456789.", min_size=1, max_size=4)
STRINGS = st.text("0a é-.''", max_size=5).map(lambda text: "'" + text.replace("'", "''") + "'")
LITERALS = st.lists(st.one_of(NUMBERS, STRINGS), max_size=3)
WHOLE = -1


def packed(rows: list[list[str]], count: int) -> list[bytes]:
    """The first `count` literals of each row, cut from one text with something between any two of them."""
    spans, first, data = list[tuple[int, int]](), list[int](), b""
    for literals in rows:
        first.append(len(spans))
        for literal in literals:
            data += b" = "
            spans.append((len(data), len(data) + len(literal.encode())))
            data += literal.encode()
    out, sizes = np.full(len(data) + 2 * len(rows) + 8, 0xFF, np.uint8), np.zeros(len(rows), np.int64)
    places = np.array(spans, np.int64).reshape(len(spans), 2)
    which = np.arange(len(rows))[::-1].copy()
    pack_all(np.frombuffer(data, np.uint8), places, np.array(first, np.int64), which, count, out, sizes)
    ends = np.cumsum(sizes).tolist()
    return [out[end - size : end].tobytes() for end, size in zip(ends, sizes.tolist(), strict=True)][::-1]


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(LITERALS, min_size=1, max_size=4))
def test_literals_are_packed_as_one_text_is(rows: list[list[str]]) -> None:
    count = min(map(len, rows))
    assert packed(rows, count) == [pack(" ".join(literals[:count])) for literals in rows]


@pytest.mark.parametrize(
    ("literals", "size"),
    [(["12"], 1), (["123"], 2), (["1", "2"], 2), (["'a'"], 3), (["'abc'"], 6), (["'é'"], 4), (["'éé'"], 7)],
)
def test_what_gets_no_shorter_stands_as_it_is(literals: list[str], size: int) -> None:
    (made,) = packed([literals], len(literals))
    assert len(made) == size
    assert (made[0] == 0xEE) is (size > len(" ".join(literals).encode()))
    assert unpack(made) == " ".join(literals)


def written(statements: list[tuple[int, bytes]], templates: list[list[str]]) -> list[str]:
    parts = [part.encode() for template in templates for part in template]
    edges: I64 = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes_of(parts))])
    first: I64 = np.cumsum([0, *map(len, templates)], dtype=np.int64)
    sizes = sizes_of([literals for _, literals in statements])
    data = np.frombuffer(b"".join(literals for _, literals in statements), np.uint8)
    most = sum(map(len, parts)) * len(statements) + 2 * len(data)
    out, lengths = np.zeros(most, np.uint8), np.zeros(len(statements), np.int64)
    numbers = np.array([template for template, _ in statements], np.int64)
    flat = np.frombuffer(b"".join(parts), np.uint8)
    write_all(data, np.cumsum(sizes) - sizes, sizes, numbers, flat, edges, first, out, lengths)
    ends = np.cumsum(lengths).tolist()
    return [out[end - n : end].tobytes().decode() for end, n in zip(ends, lengths.tolist(), strict=True)]


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(LITERALS, min_size=1, max_size=4), st.text("ab é", max_size=2))
def test_statements_are_their_parts_with_the_literals_between(rows: list[list[str]], more: str) -> None:
    """A space within quotes parts nothing; behind the last literal stands the last part, be it empty or not."""
    templates = [[f"p{i}{k}=" for k in range(len(literals))] + [more] for i, literals in enumerate(rows)]
    statements = [(i, pack(" ".join(literals))) for i, literals in enumerate(rows)]
    wanted = ["".join(part + literal for part, literal in zip(parts, [*of, ""], strict=True))
              for parts, of in zip(templates, rows, strict=True)]  # fmt: skip
    assert written(statements, templates) == wanted


def test_a_statement_that_is_kept_whole_stands_among_the_others() -> None:
    statements = [(0, pack("5")), (WHOLE, b"SELECT 'a b' x"), (1, pack("")), (WHOLE, b""), (0, pack("'it''s a'"))]
    assert written(statements, [["a = ", "!"], ["all"]]) == ["a = 5!", "SELECT 'a b' x", "all", "", "a = 'it''s a'!"]
