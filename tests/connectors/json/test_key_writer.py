from __future__ import annotations

import random

import numpy as np

from catalog.types.column_type import Kind
from connectors.json.byte_layout import ByteLayout
from connectors.json.canonical_key import CanonicalKey
from connectors.json.document import parse_document
from connectors.json.key_writer import KeyWriter
from connectors.json.scalar import read_scalar
from tests.connectors.documents import TEXTS, Publisher, relation_of
from tests.connectors.relations import STOCK, key_of


def written(relation, keys):
    """The keys, each a tuple of codes or texts, as the batch writer spells them."""
    columns = list(zip(*keys, strict=True))
    coded = [isinstance(column[0], int) for column in columns]
    codes = [
        np.array(column if is_code else [0] * len(keys), np.int64)
        for column, is_code in zip(columns, coded, strict=True)
    ]
    texts = [
        None if is_code else ByteLayout.of(column, text=True) for column, is_code in zip(columns, coded, strict=True)
    ]
    return KeyWriter(CanonicalKey(relation).columns).write(codes, texts).byte_strings()


def check(relation, keys):
    canonical = CanonicalKey(relation)
    assert written(relation, keys) == [canonical.write(key) for key in keys]


def test_texts_have_the_escapes_that_json_demands():
    check(STOCK, [(text,) for text in (*TEXTS, "".join(map(chr, range(300))), "\U0010ffff")])


def test_ends_of_each_type():
    check(key_of(Kind.BIGINT), [(-(2**63),), (2**63 - 1,), (0,), (-1,), (10,)])
    check(key_of(Kind.BOOLEAN), [(0,), (1,)])
    check(key_of(Kind.DECIMAL, 18, 18), [(10**18 - 1,), (1 - 10**18,), (0,), (-1,), (1,)])
    check(key_of(Kind.DECIMAL, 12, 2), [(5,), (-50,), (12345,), (10,), (100,)])
    check(key_of(Kind.DECIMAL, 5, 0), [(0,), (-7,), (99999,)])
    check(key_of(Kind.DATE), [(day,) for day in range(-719_162, 2_932_897, 97)])
    check(key_of(Kind.TIMESTAMP), [(-62_135_596_800_000_000,), (253_402_300_799_999_999,), (-1,), (0,), (1_000_000,)])


def test_keys_of_any_relation():
    for seed in range(60):
        rng = random.Random(seed)
        relation = relation_of(rng)
        publisher = Publisher(relation, rng, care=1.0)
        columns = CanonicalKey(relation).columns
        keys = [
            tuple(read_scalar(c.type, parse_document(publisher.usual(c.type).encode())) for c in columns)
            for _ in range(8)
        ]
        check(relation, keys)
