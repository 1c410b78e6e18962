"""What a table keeps; its messages and answers: tests/operators/test_range_questions.py."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.query.value_set import ValueSet
from catalog.schema.relation import Column
from operators.answer import Extremum
from operators.coded_terms import CodedRows
from operators.first_rows import FirstRows
from operators.reply import PLAINLY, Asked
from shard.tables import Table, warm
from state import byte_table, row_digest
from state.blob import read_blob, write_blob
from state.rank_order import RankKey
from tests.operators.test_range_questions import CHANNELS, MODULES, ROW, loaded
from tests.operators.watched import BIGINT, RELATION, VARCHAR, batch_of, channel, dumped, reopened


def test_appended_nullable_columns_are_null_and_can_be_listened_to() -> None:
    wider = replace(RELATION, columns=(*RELATION.columns, Column("z", BIGINT), Column("v", VARCHAR)))
    operator = reopened(wider, dumped(loaded((1, ROW))))
    operator.check()
    shapes = [Shape("t", (Output("min", "z"),), ("v",), "x"), Shape("t", (Output("max", "v"),), (), "v")]
    operator.listen([each for shape in shapes for each in shape.channels])
    answers = operator.snapshot([Region(shapes[0], b'["a"]'), Region(shapes[1], b"[]", b"", b"\xff")])
    assert answers.has_new.tolist() == [False, False]
    assert answers.parts == {1: (Extremum(),)}
    assert dumped(reopened(wider, dumped(operator))) == dumped(operator)


def test_partitions_that_moved_are_counted_and_kept() -> None:
    operator, changes = loaded((1, ROW)), batch_of([(1, ROW), (1, ROW)])
    changes.partition[:] = [1, 2]
    operator.apply(changes)
    assert operator.moved_partitions == 1
    restored = reopened(RELATION, dumped(operator))
    assert restored.moved_partitions == 1


def followed(table: Table, base: bytes, delta: Mapping[str, Any]) -> bool:
    """Whether the table of `base`, with `delta`, is `table` to the byte."""
    again = reopened(RELATION, base)
    again.take_over(read_blob(write_blob(b"TWDELTA\x00", 1, "", delta), b"TWDELTA\x00", 1, ""))
    again.check()
    return dumped(again) == dumped(table)


def test_a_delta_says_what_is_listened_to_and_what_changed() -> None:
    table = loaded((1, ROW), (2, ROW | {"e": "b"}))
    base = dumped(table)
    table.begin()
    table.listen(CHANNELS)
    table.apply(batch_of([(2, None), (3, ROW | {"e": "new", "s": "é"}), (1, ROW | {"e": "newer"})]))
    assert followed(table, base, table.delta())
    base = dumped(table)
    table.begin()
    assert followed(table, base, table.delta()), "nothing has happened"
    table.forget(CHANNELS[3:])
    assert followed(table, base, table.delta())


def test_texts_that_were_sorted_for_a_moment_stay_so() -> None:
    table = loaded((1, ROW | {"s": "b"}), (2, ROW | {"s": "a"}))
    table.listen([channel("rows", None, ("s",))])
    base = dumped(table)
    table.begin()
    table.listen([channel("min", "s")])
    table.forget([channel("min", "s")])
    assert followed(table, base, table.delta())
    assert dumped(table) != base, "the numbers are others than before"


RANKS: list[RankKey] = [
    ((1, False, True), (4, True, False)),
    ((5, False, True),),
    ((6, True, True), (5, False, False)),
]


def test_rank_orders_beside_the_channels_are_part_of_base_and_delta() -> None:
    """Numbers of texts follow from what is ranked: a table that is read goes on as the one that was never closed."""
    table = loaded((1, ROW | {"s": "b"}), (2, ROW | {"s": "a", "e": None}), channels=[])
    table.begin()
    base = dumped(table)
    table.order_by(RANKS[:2])
    table.apply(batch_of([(3, ROW | {"s": "aa", "w": "-2.00"}), (4, ROW | {"s": None, "y": None})]))
    table.check()
    assert followed(table, base, table.delta())
    for orders in (RANKS[1:], [*RANKS[:1], ((2,), None)], []):
        base = dumped(table)
        assert dumped(reopened(RELATION, base)) == base
        table.begin()
        table.order_by(orders)
        table.apply(batch_of([(5, ROW | {"s": f"a{len(orders)}", "e": "A"}), (1, None)]))
        table.check()
        again = reopened(RELATION, base)
        again.take_over(read_blob(write_blob(b"TWDELTA\x00", 1, "", table.delta()), b"TWDELTA\x00", 1, ""))
        again.order_by(orders)
        again.check()
        assert dumped(again) == dumped(table)


def test_warm_leaves_one_specialisation_of_each_kernel() -> None:
    warm()
    operator = loaded((1, ROW), (2, ROW | {"s": "a", "w": "2.00"}), channels=CHANNELS)
    operator = reopened(RELATION, dumped(operator))
    operator.apply(batch_of([(3, ROW | {"s": "aa", "w": "0.50"})]))
    for each in CHANNELS:
        function = {"rows": "count", "values": "sum"}.get(each.kind, each.kind)
        shape = Shape("t", (Output(function, each.column),), each.equal, each.range)
        group = group_key(tuple("a" if name in "es" else 0 for name in each.equal))
        text = each.range in ("s", "w")
        operator.snapshot([Region(shape, group, b"a", b"c") if text else Region(shape, group)])
    row_digest.warm()
    box = {0: ValueSet(((b"a", b"b"),)), 1: ValueSet(((b"", b"\xff"),), True)}
    filters = Region(FilterShape("t", ("s", "w"), (), ("s", "w"), (), ()), b"[]", terms=encode_terms([box]))
    first_rows = FirstRows(CodedRows(RELATION, operator.stored), bytes(16))
    first_rows.answers([filters] * 2, [PLAINLY, Asked(digest_only=True)])
    for module in (*MODULES, row_digest):
        for kernel in module.ENTRIES:
            assert len(kernel.signatures) == 1, kernel
    with pytest.raises(TypeError):
        byte_table._gather(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1))
