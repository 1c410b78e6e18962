"""What is fuzzed of the strict decoders: random schemas, damaged records, and the words of their dead letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.connectors import test_dead_letter_words
from tests.connectors.avro_samples import samples
from tests.connectors.formats import test_avro_datum
from tests.tidewire.verification.input import test_proto_older


def words_are_ours(drawn: tuple[str, bytes | None, bytes | None]) -> None:
    for said in test_dead_letter_words.words_of(*drawn):
        assert not test_dead_letter_words.FOREIGN.search(test_dead_letter_words.QUOTED.sub("", said)), said


def damaged_row(name: str) -> st.SearchStrategy[tuple[str, bytes | None, bytes | None]]:
    row = test_dead_letter_words.TABLES[name][1]
    odd = st.one_of(
        st.none(), st.binary(max_size=16), test_avro_datum.CUTS.map(lambda c: test_avro_datum.damaged(row, c))
    )
    return st.tuples(st.just(name), st.one_of(odd, st.just(b"1")), odd)


STRICT: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    "avro-schemas": (samples(), test_avro_datum.says_what_was_written),
    "avro-datums": (test_avro_datum.DAMAGED, test_avro_datum.both_read_alike),
    "proto2": (
        st.lists(test_proto_older.PIECES, max_size=6).map(b"".join),
        lambda data: test_proto_older.READERS.read(None, data) and None,
    ),
    "dead-letters": (st.sampled_from(sorted(test_dead_letter_words.TABLES)).flatmap(damaged_row), words_are_ours),
}
