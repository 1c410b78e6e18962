from __future__ import annotations

import json
import random
from decimal import Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import Kind
from connectors.json import byte_layout, key_writer
from connectors.json.format import JsonFormat, warm
from connectors.json.kernel import scan_records
from connectors.json.writer import RowEncoder
from tests.connectors.documents import Publisher, relation_of
from tests.connectors.relations import STOCK, one_column, records
from tests.effort import examples
from tests.oracle.json_twin import meaning


def check_against_the_twin(relation, keyless, pairs):
    """Each record means what the twin says; the order is kept; nothing is lost."""
    decoded = JsonFormat(relation, keyless).decode(records(pairs))
    meanings = [meaning(relation, keyless, key, value) for key, value in pairs]
    dead = [100 + i for i, found in enumerate(meanings) if found is None]
    got = [letter.offset for letter in decoded.dead]
    assert got == dead, [pairs[offset - 100] for offset in set(got) ^ set(dead)]
    alive = [(100 + i, found) for i, found in enumerate(meanings) if found is not None]
    changes = decoded.changes
    arrays = (changes.codes, changes.valid, changes.live, changes.partition, changes.offset, changes.kept)
    assert all(array is None or array.flags.c_contiguous for array in arrays)
    assert changes.offset.tolist() == [offset for offset, _ in alive]
    assert changes.keys == [found.key for _, found in alive]
    assert changes.live.tolist() == [found.live for _, found in alive]
    for j, (_, found) in enumerate(alive):
        assert codes_of(relation, changes, j) == found.codes if found.live else True, pairs[changes.offset[j] - 100]
    seen = {name: sum(found.live for _, found in alive) for name in decoded.seen}
    for name, rows in decoded.seen.items():
        assert rows <= seen[name]
    return decoded


def codes_of(relation, changes, j):
    codes = {}
    for c, column in enumerate(relation.columns):
        if changes.kept is not None and changes.kept[c, j]:
            continue
        if not changes.valid[c, j]:
            codes[column.name] = None
            assert changes.texts[c][j] is None if c in changes.texts else changes.codes[c, j] == 0
        else:
            codes[column.name] = changes.texts[c][j] if c in changes.texts else int(changes.codes[c, j])
    return codes


@given(st.integers(0, 2**32), st.sampled_from((0.7, 0.95, 1.0)))
@settings(max_examples=examples(150), deadline=None)
def test_batches_mean_what_the_naive_twin_says(seed, care):
    rng = random.Random(seed)
    relation = relation_of(rng)
    publisher = Publisher(relation, rng, care)
    check_against_the_twin(relation, rng.random() < 0.3, [publisher.record() for _ in range(40)])


BIG = b'{"symbol":"A","exchange":"' + b"x" * 10_000_000 + b'"}'


def rows(m):
    return [encode_record(i) for i in range(m)]


def encode_record(i):
    return RowEncoder(STOCK).record({"symbol": f"S{i % 7}", "exchange": None, "risk": i / 7, "price": Decimal(i) / 100})


def test_order_is_kept_around_everything_that_is_odd():
    pairs = rows(6)
    pairs[1] = (b"S1", b"{}")
    pairs[3] = (b'"A"', BIG)
    pairs[4] = (pairs[4][0], None)
    pairs[5] = (b' "S5"', pairs[5][1])
    decoded = check_against_the_twin(STOCK, False, pairs)
    assert decoded.changes.offset.tolist() == [100, 102, 104, 105]
    assert decoded.changes.partition.tolist() == [3] * 4
    assert [letter.code for letter in decoded.dead] == ["malformed_key", "too_large"]
    letter = decoded.dead[1]
    assert (letter.topic, letter.partition, letter.offset, letter.timestamp) == ("t", 3, 103, 3_005)
    assert (letter.key, letter.value) == pairs[3]


def test_batches_of_one_kind_and_the_empty_one():
    empty = JsonFormat(STOCK).decode(records([]))
    assert (len(empty.changes), empty.dead, empty.changes.codes.shape) == (0, [], (4, 0))
    for pairs in ([(b'"A"', None)] * 3, [(None, None)] * 3, [(b'"A"', b"x")] * 3, rows(3)):
        check_against_the_twin(STOCK, False, pairs)
    check_against_the_twin(STOCK, True, [(None, value) for _, value in rows(3)])


def test_an_answer_does_not_depend_on_where_a_batch_is_cut():
    rng = random.Random(11)
    pairs = [Publisher(STOCK, rng, 0.9).record() for _ in range(60)]
    whole = JsonFormat(STOCK).decode(records(pairs))
    parts = [JsonFormat(STOCK).decode(records([pair])) for pair in pairs]
    assert whole.changes.keys == [key for part in parts for key in part.changes.keys]
    assert whole.changes.codes.tolist() == np.hstack([part.changes.codes for part in parts]).tolist()
    assert [letter.message for letter in whole.dead] == [letter.message for part in parts for letter in part.dead]


def test_what_our_publisher_writes_never_needs_the_exact_decoder():
    for seed in range(25):
        rng = random.Random(seed)
        relation = relation_of(rng)
        publisher, encoder = Publisher(relation, rng, care=1.0), RowEncoder(relation)
        pairs = []
        for _ in range(20):
            texts = {column.name: publisher.scalar(column) for column in relation.columns}
            row = {name: json.loads(text, parse_float=Decimal, parse_int=Decimal) for name, text in texts.items()}
            pairs.append(encoder.record(row))
            pairs.append((encoder.key(row), None))
        decoder = JsonFormat(relation)
        decoder._exact = None
        assert not decoder.decode(records(pairs)).dead
        check_against_the_twin(relation, False, pairs)


def test_unknown_members_are_sampled_from_one_record():
    pairs = rows(4)
    many = ",".join(f'"n{i}":{i}' for i in range(30))
    pairs[1] = (b'"A"', b'{"bad')
    pairs[2] = (b'"A"', f'{{"symbol":"A","{"y" * 100}":1,{many}}}'.encode())
    pairs[3] = (b'"A"', b'{"symbol":"A","other":1}')
    decoded = JsonFormat(STOCK).decode(records(pairs))
    assert decoded.unknown == ["y" * 64, *(f"n{i}" for i in range(19))]
    assert decoded.seen == {"symbol": 3, "exchange": 1, "risk": 1, "price": 1}


def test_kept_columns_are_marked():
    relation = one_column(Kind.BIGINT, absent="keep")
    decoded = JsonFormat(relation).decode(
        records([(b"1", b'{"k":1}'), (b"1", b'{"v":null}'), (b"1", None), (b"1", b'{"k":1,"v":4}')])
    )
    assert decoded.changes.kept.tolist() == [[False] * 4, [True, False, False, False]]
    assert decoded.changes.valid.tolist() == [[True, True, False, True], [False, False, False, True]]
    assert decoded.changes.codes.tolist() == [[1, 1, 0, 1], [0, 0, 0, 4]]


def test_each_kernel_is_compiled_for_one_kind_of_arguments():
    warm()
    test_what_our_publisher_writes_never_needs_the_exact_decoder()
    for kernel in (scan_records, byte_layout._compare, byte_layout._unescape, key_writer._write_keys):
        assert len(kernel.signatures) == 1, kernel
