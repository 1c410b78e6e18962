from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, join_of_name
from operators import first_joined_rows
from operators.answer_quota import AnswerQuota
from operators.coded_terms import CodedRows
from operators.first_joined_rows import FirstJoinedRows
from operators.join_rows import JoinRows, numbers_of
from operators.reply import PLAINLY, Asked, Digest, Refused, Rows, Same, decode_row
from state.row_digest import Digest as Told
from state.row_digest import hashes
from tests.effort import deep_examples
from tests.operators.cell_world import BIGINT, KEY_TYPES, CellWorld, catalog_of, draw_region
from tests.operators.test_join_rows import world_of
from tests.oracle.join_twin import answer, relation_of

KEY = bytes(range(16))
ANY = AnswerQuota(10**6, 10**9)


def first_rows_of(world: CellWorld, join: Join, quota: AnswerQuota = ANY, at_once: int = 10**6) -> FirstJoinedRows:
    relations = world.catalog.relations
    views = dict(zip(relations, world.view([]).views, strict=True))
    tables = {name: CodedRows(relation, world.rows[name]) for name, relation in relations.items()}
    joined = JoinRows(join, numbers_of(join, views))
    return FirstJoinedRows(relation_of(world.catalog, join), join, tables, joined, KEY, quota, at_once)


def digest_of(relation, names: list[str], rows: list[tuple]) -> Told:
    """Return the digest of projected rows, whose texts are numbered anew."""
    if not rows:
        return Told()
    columns, valid, texts = [], [], []
    for place, name in enumerate(names):
        values, coded = [row[place] for row in rows], relation.column(name).type.coded
        columns.append(np.array([0 if v is None else v if coded else i for i, v in enumerate(values)], np.int64))
        valid.append(np.array([v is not None for v in values], np.bool_))
        texts.append(None if coded else [str(v) for v in values])
    return Told.of(*hashes(KEY, columns, valid, texts))


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(KEY_TYPES), data=st.data())
@settings(max_examples=deep_examples(2_000, few=8), deadline=None)
def test_each_region_is_answered_as_it_is_asked_however_many_are_asked_together(rng: Random, types, data):
    catalog = catalog_of(types)
    world, stored = world_of(rng, catalog)
    tables = {name: dict(enumerate(rows)) for name, rows in stored.items()}
    by_join: dict[str, list[Region]] = {}
    for _ in range(rng.randint(1, 12)):
        region = draw_region(rng, catalog, 3, 2)
        by_join.setdefault(region.shape.relation, []).append(region)
    quota = AnswerQuota(rng.choice((0, 2, 10**6)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_joined_rows, "_ALONE", rng.choice((0, 0, 3)))
        if rng.random() < 0.7:  # divides and goes alone where it would not for few rows
            patch.setattr(first_joined_rows, "_FEW_JOINED", rng.choice((0, 3)))
            patch.setattr(first_joined_rows, "_JOINED_A_REGION", rng.choice((0, 1)))
            patch.setattr(first_joined_rows, "_MANY", rng.choice((0, 3)))
            patch.setattr(first_joined_rows, "_FEW", rng.choice((1, 16)))
        for name, regions in by_join.items():
            join = join_of_name(name)
            relation = relation_of(catalog, join)
            bags = [answer(catalog, region, tables) for region in regions]
            truths = [
                digest_of(relation, [*r.shape.shown], [*b.elements()]) for r, b in zip(regions, bags, strict=True)
            ]
            asked = [
                Asked(rng.choice((None, truth, truth + Told(0, 1), Told(7))), rng.random() < 0.3) for truth in truths
            ]
            found = first_rows_of(world, join, quota, rng.choice((1, 5, 10**6))).answers(regions, asked)
            for how, reply, bag, truth in zip(asked, found.answers, bags, truths, strict=True):
                check(how, reply, bag, truth, quota)


def check(asked: Asked, reply: object, bag: Counter, truth: Told, quota: AnswerQuota) -> None:
    if asked.told == truth:
        assert reply == Same(truth.count, truth.low, truth.high)
    elif asked.digest_only:
        assert reply == Digest(truth.count, truth.low, truth.high)
    elif truth.count > quota.rows:
        assert isinstance(reply, Refused) and reply.code == "quota"
        assert reply.message.startswith(f"{truth.count:,} rows")
    else:
        assert isinstance(reply, Rows) and reply.last
        assert Counter(tuple(decode_row(row)) for row in reply.rows) == bag


CATALOG = catalog_of((BIGINT, BIGINT, BIGINT))
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
SHAPE = FilterShape(JOIN.name, ("0.id", "1.id"), (), ("0.x", "1.x"), (), (0, 1))


def region(*bounds: tuple[int, int]) -> Region:
    box = {place: ValueSet.of([each]) for place, each in enumerate(bounds)}
    return Region(SHAPE, b"[]", terms=encode_terms([box]))


def crowded(rows: int, keys: int = 1) -> CellWorld:
    """Two tables of as many rows, whose x is their number and k one of `keys`."""
    world, row = CellWorld(CATALOG), {"j": None, "y": None, "v": None}
    publications = [[(name, i, {"id": i, "k": i % keys, "x": i, **row})] for name in "rs" for i in range(rows)]
    world.commit(world.view(publications))
    return world


def rows_of(reply: object) -> list[list]:
    assert isinstance(reply, Rows)
    return sorted(decode_row(row) for row in reply.rows)


def test_narrow_questions_about_a_crowded_key_are_answered_beside_a_wide_one_that_is_refused_with_its_count():
    world = crowded(3_000)
    narrow = [region((i, i + 1), (2 * i, 2 * i)) for i in range(0, 1_400, 7)]
    first_rows = first_rows_of(world, JOIN, AnswerQuota(100_000), at_once=100_000)
    found = first_rows.answers([region((0, 9_999), (0, 9_999)), *narrow], [PLAINLY] * 201).answers
    assert isinstance(found[0], Refused) and found[0].message.startswith("9,000,000 rows meet it")
    assert [rows_of(each) for each in found[1:]] == [[[i, 2 * i], [i + 1, 2 * i]] for i in range(0, 1_400, 7)]
    assert first_rows.work < 1_000_000, "of 9,000,000 joined rows"


def test_digests_of_more_than_there_may_be_in_memory_are_summed_up_in_parts_and_beyond_a_bound_refused(monkeypatch):
    world = crowded(300)
    every = region((0, 299), (0, 299))
    truth = digest_of(relation_of(CATALOG, JOIN), ["0.id", "1.id"], [(i, k) for i in range(300) for k in range(300)])
    asked = [
        Asked(digest_only=True),
        Asked(told=truth),
        Asked(told=truth + Told(0, 1)),
        Asked(by_keys=True, told=truth),
    ]
    first_rows = first_rows_of(world, JOIN, AnswerQuota(10), at_once=1_000)
    digest, same, other, by_keys = first_rows.answers([every] * 4, asked).answers
    assert digest == Digest(truth.count, truth.low, truth.high)
    assert same == by_keys == Same(truth.count, truth.low, truth.high)
    assert isinstance(other, Refused) and other.message.startswith("90,000 rows")
    monkeypatch.setattr(first_joined_rows, "MOST_SUMMED", 80_000)
    assert all(isinstance(each, Refused) for each in first_rows.answers([every] * 4, asked).answers)


def test_a_region_of_two_boxes_is_counted_by_what_meets_them(monkeypatch):
    world = crowded(60)
    boxes = [
        {0: ValueSet.of([(0, 29)]), 1: ValueSet.of([(0, 0)])},
        {0: ValueSet.of([(30, 59)]), 1: ValueSet.of([(1, 1)])},
    ]
    both = Region(SHAPE, b"[]", terms=encode_terms(boxes))
    (reply,) = first_rows_of(world, JOIN, AnswerQuota(60), at_once=1).answers([both], [PLAINLY]).answers
    assert len(rows_of(reply)) == 60
    (reply,) = first_rows_of(world, JOIN, AnswerQuota(59), at_once=1).answers([both], [PLAINLY]).answers
    assert isinstance(reply, Refused) and reply.message.startswith("60 rows")
    monkeypatch.setattr(first_joined_rows, "MOST_SUMMED", 50)
    (reply,) = first_rows_of(world, JOIN, AnswerQuota(59), at_once=1).answers([both], [PLAINLY]).answers
    assert isinstance(reply, Refused) and reply.message.startswith("more than ")


def test_a_cycle_that_would_be_walked_too_far_is_refused_with_what_was_found(monkeypatch):
    world = CellWorld(CATALOG)
    row = {"k": 0, "y": None}
    rows = [(t, i, {"id": i, "j": i % 2, "x": i, "v": i % 9, **row}) for t in "rst" for i in range(40)]
    world.commit(world.view([[each] for each in rows]))
    triangle, _ = Join.of(["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j")), ((0, "v"), (2, "v"))])
    shape = FilterShape(triangle.name, ("0.id",), (), ("0.x",), (), ())
    every = Region(shape, b"[]", terms=encode_terms([{}]))
    found = sum(20 for i in range(40) for k in range(40) if i % 9 == k % 9)

    def answered(quota: int) -> object:
        return first_rows_of(world, triangle, AnswerQuota(quota), at_once=100).answers([every], [PLAINLY]).answers[0]

    assert len(rows_of(answered(found))) == found
    assert answered(found - 1) == AnswerQuota(found - 1).beyond(found)
    monkeypatch.setattr(first_joined_rows, "MOST_SUMMED", 1_000)
    refused = answered(10)
    assert isinstance(refused, Refused) and refused.message.startswith("more than ")


def test_what_several_ask_alike_is_looked_for_once():
    first_rows = first_rows_of(crowded(100), JOIN)
    found = first_rows.answers([region((0, 99), (0, 99))] * 1_000, [PLAINLY] * 1_000)
    assert found.rows == 10_000 and first_rows.work < 20_000
    assert {len(reply.rows) for reply in found.answers} == {10_000}


def test_no_regions_have_no_answers():
    assert first_rows_of(crowded(1), JOIN).answers([], []).answers == []
