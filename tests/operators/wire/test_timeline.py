from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as replace_struct

from catalog.schema.join import Join
from operators.packed import Header, PackedChanges, PackedError, PackedRows, unpack
from operators.record_error import VIEWS_FORMAT
from operators.timeline import SentColumn, SentRows, Timeline
from operators.wire.timeline import ChangesPart, RowsPart, joined, pack, split
from state.byte_runs import RECORD_BYTES
from tests.effort import examples
from tests.operators.test_packed import rewritten
from tests.operators.timelines import JOIN, OTHER, column, same, small

GOLDEN = Path(__file__).parent.parent / "golden"
HEADER = Header("", 5, "cell/r+s/0", 3, chunk=1, of=4, ve=2)


def records(timeline: Timeline, most: int | None = None) -> list[bytes]:
    parts = split(timeline) if most is None else split(timeline, most)
    return [pack(HEADER, part) for part in parts]


@given(most=st.integers(1, 400), order=st.randoms(use_true_random=False))
@settings(max_examples=examples(60), deadline=None)
def test_a_timeline_comes_back_from_chunks_of_any_size_in_any_order(most: int, order: Random):
    chunks = [unpack(record) for record in records(small(), most)]
    assert {type(chunk) for chunk in chunks} == {PackedRows, PackedChanges}
    order.shuffle(chunks)
    assert same(joined(chunks), small())  # type: ignore[arg-type]


def test_golden_bytes_stay_as_they_are():
    for record, name in zip(records(small()), ("rows", "more_rows", "changes"), strict=True):
        assert record == (GOLDEN / f"format_2_{name}.bin").read_bytes()


def viewed() -> Timeline:
    """The same, with a view of the name v in the place of s, of which nothing is sent."""
    view, none = replace(small().rows[1], table="v"), np.zeros(0, np.int64)
    table = np.where(small().table == 1, 2, small().table)
    return replace(small(), rows=(small().rows[0], SentRows("s", none, none, {}, {}), view), table=table)


def records_with_views() -> list[bytes]:
    header = replace_struct(HEADER, views=["v"], format=VIEWS_FORMAT)
    return [pack(header, part) for part in split(viewed())]


def test_views_stand_behind_the_tables_of_the_cell_as_the_header_names_them():
    assert same(joined([unpack(record) for record in records_with_views()]), viewed())  # type: ignore[arg-type]
    with pytest.raises(PackedError, match="of the cell"):
        unpack(pack(HEADER, list(split(viewed()))[1]))


def test_what_was_written_of_views_in_format_6_is_read_for_ever():
    written = [(GOLDEN / f"format_6_{name}.bin").read_bytes() for name in ("rows", "view_rows", "changes")]
    chunks = [unpack(record) for record in written]
    assert [(chunk.header.format, chunk.header.views) for chunk in chunks] == [(6, ["v"])] * 3
    assert [chunk.header.table for chunk in chunks[:2]] == ["r", "v"]
    assert same(joined(chunks), viewed())  # type: ignore[arg-type]
    assert records_with_views() == written, "and a batch that is written again has the same chunks"


def test_the_headers_say_what_a_chunk_has():
    left, right, changes = (unpack(record) for record in records(small()))
    assert isinstance(left, PackedRows) and isinstance(right, PackedRows) and isinstance(changes, PackedChanges)
    assert [(each.header.table, each.header.first, len(each)) for each in (left, right)] == [("r", 0, 3), ("s", 0, 2)]
    assert (changes.header.first_seq, changes.header.last_seq, len(changes)) == (103, 105, 3)
    assert left.header.needed == [["x", "y"]]
    keys = left.rows.keys
    assert keys[JOIN.name, 0, 0] is keys[OTHER.name, 0, 0], "keys by the same columns travel once"
    assert keys[OTHER.name, 1, 0] is not keys[OTHER.name, 0, 0]


def test_a_table_of_which_nothing_is_sent_is_empty():
    whole = small()
    none = np.zeros(0, np.int64)
    alone = replace(_changes(whole, [0, 2]), rows=(whole.rows[0], SentRows("s", none, none, {}, {})))
    assert same(joined([unpack(record) for record in records(alone)]), alone)


def _changes(timeline: Timeline, which: list[int]) -> Timeline:
    names = ("number", "table", "before", "after", "cause", "seq", "topic", "partition", "offset")
    return replace(timeline, **{name: getattr(timeline, name)[which] for name in names})


def test_one_change_with_50_000_partners_is_cut_into_records_that_a_broker_takes():
    count = 50_000
    partners = SentRows(
        "s", np.full(count, -1), np.full(count, 2**31 - 1), {(JOIN.name, 0, 1): np.zeros(count, np.int64)},
        {"note": column([f"partner number {i} of the row, at some length: {i * 7919}" for i in range(count)], True)},
    )  # fmt: skip
    whole = small()
    one = replace(_changes(whole, [0]), rows=(whole.rows[0], partners))
    chunks = records(one)
    assert 3 <= len(chunks) <= 10 and max(map(len, chunks)) <= RECORD_BYTES
    assert same(joined([unpack(record) for record in chunks]), one)


def test_the_names_of_many_joins_count_as_bytes_of_a_record():
    count, key = 60_000, np.arange(60_000)
    joins = [Join.of(["r", "s"], [((0, "k"), (1, f"column number {i}"))])[0] for i in range(2_000)]
    source = np.random.default_rng(1)
    columns = {"x": SentColumn(source.integers(-(2**62), 2**62, count), np.ones(count, np.bool_))}
    keys = {(join.name, 0, 1): key for join in joins}
    partners = SentRows("s", np.full(count, -1), np.full(count, 2**31 - 1), keys, columns)
    one = replace(_changes(small(), [0]), rows=(small().rows[0], partners))
    chunks = records(one)
    assert max(map(len, chunks)) <= RECORD_BYTES
    assert same(joined([unpack(record) for record in chunks]), one)


def test_where_a_timeline_is_cut_is_a_rule():
    """A batch that is written again, perhaps by a later version, is recognised by its chunks."""
    cut = [(type(part).__name__, part.first) for part in split(small(), 50)]
    assert cut == [
        ("RowsPart", 0), ("RowsPart", 1), ("RowsPart", 2), ("RowsPart", 0), *[("ChangesPart", i) for i in range(3)],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("which", "field", "value"),
    [
        (0, "table", "t"), (0, "table", ""), (0, "first", -1), (0, "count", 2), (0, "needed", []),
        (0, "needed", [["x", "x"]]), (0, "chunk", 9), (0, "shard", "r/0"), (0, "keys", [[2, 0, 0, 0]]),
        (0, "keys", [[0, -1, 0, 0]]), (0, "keys", [[0, 0, 0, 7]]), (2, "first", -1), (2, "count", 2),
        (2, "shard", "cell/s/0"), (2, "topics", ["a"]), (2, "chunk", 9),
    ],
)  # fmt: skip
def test_a_header_that_does_not_fit_is_refused(which, field, value):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(rewritten(records(small())[which], lambda header, *_: header.update({field: value})))


@pytest.mark.parametrize(
    ("which", "name", "least"),
    [
        (0, "born", -1), (0, "born", 9), (0, "died", 2**33), (0, "key/0", -2), (0, "value/1", 100), (0, "value/1", -1),
        (2, "number", -9), (2, "cause", -9), (2, "before", -2), (2, "after", -3), (2, "table", 2), (2, "topic", -1),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused(which, name, least):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(rewritten(records(small())[which], lambda _, layout, __: layout["least"].update({name: least})))


def test_chunks_that_do_not_make_one_batch_are_refused():
    parts = list(split(small(), 50))
    chunks = [unpack(pack(HEADER, part)) for part in parts]

    def other(place: int, **said: object) -> list:
        record = rewritten(pack(HEADER, parts[place]), lambda header, *_: header.update(said))
        return [*chunks[:place], unpack(record), *chunks[place + 1 :]]

    astray = RowsPart(replace(parts[0].rows, columns={}), 0) if isinstance(parts[0], RowsPart) else None
    assert astray is not None and isinstance(parts[-1], ChangesPart)
    for broken in (
        chunks[1:], chunks[:2] + chunks[3:], chunks[:3] + chunks[4:], chunks[:4], chunks[:5] + chunks[6:],
        [*chunks, chunks[0]], other(1, batch=4),
        other(1, first=2), other(5, topics=["a", "c"]), [unpack(pack(HEADER, astray)), *chunks[1:]],
    ):  # fmt: skip
        with pytest.raises(PackedError, match="do not fit together"):
            joined(broken)


def test_a_change_of_a_row_that_was_not_sent_is_refused():
    whole = small()
    for name in ("before", "after"):
        astray = replace(whole, **{name: np.array([0, 2, 0])})
        with pytest.raises(PackedError, match="names a row that was not sent"):
            joined([unpack(record) for record in records(astray)])
