"""Parts on the wire, and answers told apart by size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from operators.answer import Extremum, Members, Parts, Tally, apart, decode_parts, encode_parts, encoded_size

codes = st.integers(-(2**63), 2**63 - 1)
values = st.none() | codes | st.text(max_size=20)
parts = st.one_of(
    st.tuples(st.builds(Members, st.lists(values, max_size=20, unique=True).map(tuple))),
    st.lists(st.builds(Extremum, values) | st.builds(Tally.of, codes, st.integers()), min_size=1, max_size=4).map(
        tuple
    ),
)


@given(parts, st.integers(40, 200))
def test_what_is_told_apart_is_small_and_belongs_together(answer: Parts, most: int) -> None:
    assert decode_parts(encode_parts(answer)) == answer and len(encode_parts(answer)) <= encoded_size(answer)
    told = apart(answer, most)
    if not isinstance(answer[0], Members):
        assert told == [answer]
        return
    pieces = [piece for (piece,) in told if isinstance(piece, Members)]
    assert tuple(value for piece in pieces for value in piece.values) == answer[0].values
    for piece in pieces:
        assert len(encode_parts((piece,))) <= most or len(piece.values) == 1
