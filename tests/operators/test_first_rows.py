from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from operators.answer import Tally
from operators.answer_quota import AnswerQuota
from operators.coded_terms import CodedRows
from operators.first_rows import FirstRows, channels_of, columns_of
from operators.reply import PLAINLY, Asked, Digest, Refused, Rows, Same, decode_row
from state.row_digest import Digest as Told
from state.row_digest import hashes
from tests.effort import deep_examples
from tests.operators.filter_rows import CHANGES, OUTPUTS, REGIONS, store_of
from tests.operators.watched import RELATION
from tests.oracle.naive_first_rows import Row, bag_of, meets, totals_of

KEY = bytes(range(16))
ALL = Region(FilterShape("t", ("id", "s"), (), (), (), (0,)), b"[]", terms=encode_terms([{}]))


def digest_of(names: list[str], rows: list[Row]) -> Told:
    """Return the digest of projected rows, whose texts are numbered anew."""
    if not rows:
        return Told()
    columns, valid, texts = [], [], []
    for name in names:
        values = [row[name] for row in rows]
        coded = RELATION.column(name).type.coded
        numbered = [0 if v is None else v if coded else i for i, v in enumerate(values)]
        columns.append(np.array(numbered, np.int64))
        valid.append(np.array([v is not None for v in values], np.bool_))
        texts.append(None if coded else [str(v) for v in values])
    return Told.of(*hashes(KEY, columns, valid, texts))


def check(region: Region, asked: Asked, answer: object, rows: list[Row]) -> None:
    shape = region.shape
    assert isinstance(shape, FilterShape)
    mine = [row for row in rows if meets(RELATION, region, row)]
    if shape.outputs:
        parts = [totals_of(RELATION, each.column, each.kind == "values", mine) for each in channels_of(shape)]
        assert answer == tuple(Tally.of(*part) for part in parts)
        return
    truth = digest_of([shape.shown[i] for i in shape.keys] if asked.by_keys else [*shape.shown], mine)
    if asked.told == truth:
        assert answer == Same(truth.count, truth.low, truth.high)
    elif asked.digest_only:
        assert answer == Digest(truth.count, truth.low, truth.high)
    else:
        assert isinstance(answer, Rows) and answer.last
        told = [tuple(decode_row(row)) for row in answer.rows]
        assert told == [tuple(row[name] for name in shape.shown) for row in mine]
        assert Counter(told) == bag_of(RELATION, region, rows)


@pytest.mark.deep
@given(changes=CHANGES, regions=st.lists(REGIONS, max_size=5), data=st.data())
@settings(max_examples=deep_examples(300), deadline=None)
def test_each_filter_is_answered_as_it_is_asked(changes, regions, data):
    store, rows = store_of(changes)
    asked = []
    for region in regions:
        by_keys = bool(region.shape.keys) and data.draw(st.booleans())
        shown = [region.shape.shown[i] for i in region.shape.keys] if by_keys else [*region.shape.shown]
        truth = digest_of(shown, [row for row in rows if meets(RELATION, region, row)]) if shown else Told()
        told = data.draw(st.sampled_from([None, truth, truth + Told(0, 1, 0)]))
        asked.append(Asked(told, data.draw(st.booleans()), by_keys))
    for many in (0, 10):
        found = FirstRows(CodedRows(RELATION, store), KEY, many).answers(regions, asked)
        assert found.rows == sum(meets(RELATION, region, row) for region in regions for row in rows)
        for region, how, answer in zip(regions, asked, found.answers, strict=True):
            check(region, how, answer, rows)


def test_a_filter_whose_rows_differ_from_what_was_told_is_not_answered_with_those_of_one_that_was_told_nothing():
    store, _ = store_of([(i, {"s": text}) for i, text in enumerate(["", "bcdef", "b"])])
    none = Region(ALL.shape, b"[]", terms=encode_terms([]))
    asked = [Asked(told=Told(1, 2, 3)), PLAINLY]
    found = FirstRows(CodedRows(RELATION, store), KEY).answers([none, ALL], asked)
    assert [len(answer.rows) for answer in found.answers] == [0, 3]


@pytest.mark.parametrize(("name", "most"), [("rows", 2), ("bytes", 3 * 16 + 3 + 8 + 4 - 1)])
def test_what_is_too_large_is_refused_but_for_its_digest(name, most):
    store, rows = store_of([(i, {"s": text}) for i, text in enumerate(["", "bcdef", "b"])])
    asked = [PLAINLY, Asked(digest_only=True), Asked(told=digest_of(["id", "s"], rows))]

    def answers(quota):
        return FirstRows(CodedRows(RELATION, store), KEY, quota=quota).answers([ALL, ALL, ALL], asked).answers

    assert isinstance(answers(AnswerQuota())[0], Rows)
    refused, digest, same = answers(AnswerQuota(**{name: most}))
    assert isinstance(refused, Refused) and refused.code == "quota" and "SNAPSHOT NONE" in refused.hint
    assert isinstance(digest, Digest) and digest.count == 3 and same == Same(digest.count, digest.low, digest.high)
    assert isinstance(answers(AnswerQuota(**{name: most + 1}))[0], Rows)


def test_a_shape_needs_what_it_shows_compares_and_sums_up():
    assert columns_of(FilterShape("t", ("x", "x"), (), ("e",), (), ())) == {"x", "e"}
    assert columns_of(FilterShape("t", (), OUTPUTS[1], ("f",), (), ())) == {"x", "e", "f"}
