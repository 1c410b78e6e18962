import contextlib
from dataclasses import fields

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import Channel, ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from catalog.query.value_set import ValueSet
from operators.answer import Extremum, Members, Tally
from operators.operator import Answers, Messages
from operators.packed import (
    MAX_REGISTRATIONS,
    Header,
    PackedError,
    PackedMessages,
    PackedRegistrations,
    PackedSnapshot,
    PackedSummary,
    is_packed,
    pack_images,
    pack_registrations,
    pack_snapshot,
    pack_summary,
    unpack,
    unpack_sound,
)
from operators.reply import PLAINLY, Asked
from operators.row_images import ImageColumn, Images
from operators.wire.timeline import pack, split
from state.boxes import Boxes, hashes_of
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN
from state.row_digest import Digest as Told
from tests.effort import examples
from tests.fuzz.mutation import damaged
from tests.operators.packing import pack_apart
from tests.operators.timelines import small

SHAPE = Shape("t", (Output("min", "y"),), ("g",), "x")
NAMED = Shape("t", (Output("count", None), Output("max", "name")), (), "name")
CHANNELS = [*SHAPE.channels, *NAMED.channels]
EXTREMES = np.array([INT64_MIN, INT64_MAX], np.int64)

INT64 = st.one_of(st.integers(-3, 3), st.sampled_from([INT64_MIN, INT64_MAX]), st.integers(INT64_MIN, INT64_MAX))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ROW = st.fixed_dictionaries(
    dict.fromkeys(("old", "new", "lo_min", "lo_max", "hi_min", "hi_max"), INT64)
    | {"has_old": st.booleans(), "has_new": st.booleans(), "rows": st.integers(-1, 1)}
    | {"channel": st.integers(0, 2), "group": st.integers(0, 2), "offset": INT64}
)


def messages(rows: list[dict], texts: list[str]) -> Messages:
    index = {"cause": np.int32, "channel": np.int32, "group": np.int32, "has_old": np.bool_, "has_new": np.bool_}
    columns = {
        column.name: np.array([row.get(column.name, 0) for row in rows], index.get(column.name, np.int64))
        for column in fields(Messages)
        if column.name not in ("channels", "groups", "texts")
    }
    return Messages(CHANNELS, [group_key(("ä", i)) for i in range(3)], texts=texts, **columns)


@given(rows=st.lists(ROW, min_size=1, max_size=6), texts=st.lists(TEXT, unique=True, max_size=300))
@settings(max_examples=examples(150), deadline=None)
def test_any_messages_come_back_exactly(rows, texts):
    sent, seq = messages(rows, texts), np.arange(len(rows)) * 3 + 7
    offset = np.array([row["offset"] for row in rows], np.int64)
    value = pack_apart(Header("messages", 5, "t/0", 3, 8, 9, 1, 2), sent, seq, seq % 2, offset)
    assert is_packed(value)
    read = unpack(value)
    assert isinstance(read, PackedMessages)
    assert read.header == Header("messages", 5, "t/0", 3, 8, 9, 1, 2, channels=CHANNELS, format=2, topics=["t"])
    assert (read.seq.tolist(), read.partition.tolist()) == (seq.tolist(), (seq % 2).tolist())
    assert read.offset.tolist() == offset.tolist()
    got = read.messages
    assert (got.channels, got.groups, got.texts) == (CHANNELS, sent.groups, texts)
    for name in ("channel", "group", "rows", "has_old", "has_new", "lo_min", "lo_max", "hi_min", "hi_max"):
        assert getattr(got, name).tolist() == getattr(sent, name).tolist(), name
        assert getattr(got, name).dtype == getattr(sent, name).dtype, name
    for name in ("old", "new"):
        known = getattr(sent, f"has_{name}")
        assert getattr(got, name).tolist() == np.where(known, getattr(sent, name), 0).tolist()


def test_the_same_messages_give_the_same_bytes():
    rows = [{"new": INT64_MIN, "has_new": True}, {"new": 3}]
    arguments = (np.array([8, 9]), np.array([0, 2]), np.array([70, 80]))
    header = Header("messages", 5, "t/0", 3, 8, 9)
    assert pack_apart(header, messages(rows, ["a"]), *arguments) == pack_apart(
        header, messages(rows, ["a"]), *arguments
    )


def test_a_column_of_equal_values_takes_no_room():
    def size(m: int, step: int) -> int:
        part = messages([{"new": 2**60 + i * step * 2**20, "has_new": True} for i in range(m)], [])
        return len(pack_apart(Header("messages", 5, "t/0"), part, np.arange(m), part.rows, part.rows))

    assert size(5_000, 0) < 2_500 < 10_000 < size(5_000, 1)


def test_a_snapshot_keeps_null_apart_from_every_code():
    answers = Answers(EXTREMES, np.array([True, False]), {})
    read = unpack(pack_snapshot(Header("snapshot", 1, "t/0", 4), np.array([7, 8]), answers))
    assert isinstance(read, PackedSnapshot) and read.parts == {}
    assert read.version.tolist() == [7, 8] and read.has_new.tolist() == [True, False] and read.new[0] == INT64_MIN


def test_a_snapshot_has_the_parts_of_answers_that_are_not_one_code():
    parts = {
        1: (Tally.of(3, -(2**90)), Extremum("ä")),
        2: (Members((None, "b", INT64_MIN)),),
        3: (Extremum(None), Extremum(INT64_MAX)),
    }
    answers = Answers(np.array([5, 0, 0, 0]), np.array([True, False, False, False]), parts)
    read = unpack(pack_snapshot(Header("snapshot", 1, "t/0", 4), np.arange(4), answers))
    assert isinstance(read, PackedSnapshot)
    assert read.parts == parts and read.new[0] == 5 and read.has_new.tolist() == [True, False, False, False]
    assert read.parts[1][0].total == -(2**90)


def test_registrations_are_cut_at_ten_thousand():
    regions = [Region(SHAPE, group_key(("a",)), i, INT64_MAX, empty=i % 2 == 0) for i in range(MAX_REGISTRATIONS + 3)]
    values = list(pack_registrations(Header("register", 2, "t/0", ve=3, catalog=6), range(len(regions)), regions))
    first, second = (unpack(value) for value in values)
    assert isinstance(first, PackedRegistrations) and isinstance(second, PackedRegistrations)
    assert first.regions + second.regions == regions
    assert first.versions + second.versions == list(range(len(regions)))
    assert second.header == Header("register", 2, "t/0", ve=3, catalog=6, shapes=[SHAPE], format=2)


BOUNDS = st.one_of(st.tuples(INT64, INT64), st.tuples(*[st.one_of(st.just(LOWEST_KEY), st.binary(max_size=3))] * 2))


@given(bounds=st.lists(st.tuples(BOUNDS, st.booleans()), min_size=1, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_bounds_come_back_as_integers_or_bytes(bounds):
    regions = [Region(NAMED if isinstance(lo, bytes) else SHAPE, b"[]", lo, hi, e) for (lo, hi), e in bounds]
    (value,) = pack_registrations(Header("register", 2, "t/0"), range(len(regions)), regions)
    read = unpack(value)
    assert isinstance(read, PackedRegistrations) and read.regions == regions


def test_the_ends_of_order_keys_come_back():
    (value,) = pack_registrations(Header("register", 2, "t/0"), [1], [Region(NAMED, b"[]", LOWEST_KEY, BEYOND_KEYS)])
    read = unpack(value)
    assert isinstance(read, PackedRegistrations)
    assert (read.regions[0].lo, read.regions[0].hi) == (LOWEST_KEY, BEYOND_KEYS)


def test_a_summary_says_what_is_wanted_of_each_channel():
    some = Boxes.of(hashes_of([b"[1]", b"[2]"]), np.array([INT64_MIN, 3]), np.array([7, INT64_MAX]))
    summaries: dict[Channel, Boxes] = dict(
        zip(CHANNELS, (some, Boxes.none(), Boxes.of(hashes_of([b"[]"]))), strict=True)
    )
    read = unpack(pack_summary(Header("summary", 2, "t/0", ve=3, catalog=6), summaries))
    assert isinstance(read, PackedSummary)
    assert read.header == Header("summary", 2, "t/0", ve=3, catalog=6, channels=CHANNELS, format=2)
    assert [boxes.dump() for boxes in read.boxes] == [boxes.dump() for boxes in summaries.values()]


@pytest.mark.parametrize("value", [b"", b"\xff", b"{}", b"\xff\xff\xff\xff\x00\x00\x00\x00", b"PK\x03\x04"])
def test_what_is_no_packed_record_is_said_so(value):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(value)


def rewritten(value: bytes, change) -> bytes:
    """Return a packed record as Arrow writes it after `change(header, layout, columns)`, all of them dicts."""
    with pa.ipc.open_stream(value) as reader:
        metadata, batch = reader.schema.metadata, reader.read_next_batch()
    header, layout = (msgspec.json.decode(metadata[name]) for name in (b"tw", b"columns"))
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    change(header, layout, columns)
    metadata = {b"tw": msgspec.json.encode(header), b"columns": msgspec.json.encode(layout)}
    batch = pa.RecordBatch.from_pydict(columns, metadata=metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


FILTER = FilterShape("t", ("x",), (), ("y",), (), ())
FILTERS = [
    Region(FILTER, b"[]", terms=encode_terms([{0: ValueSet(((1, 2),), True)}])),
    Region(FILTER, b"[]", empty=True, terms=encode_terms([])),
    Region(FILTER, b"[]", terms=encode_terms([{}])),
]
ASKED = [Asked(Told(3, 5, 2**64 - 1)), PLAINLY, Asked(None, True, True)]


def images_record() -> bytes:
    yes, numbers = np.ones(3, np.bool_), np.arange(3)
    columns = {
        "x": ImageColumn(numbers, yes, numbers * 2, ~yes),
        "s": ImageColumn(numbers, yes, numbers, yes, ["a", "b", "c"]),
    }
    images = Images(numbers.astype(np.int32), np.array([0, -1, 0]), columns)
    causes = Causes(["t"], np.zeros(3, np.int32), np.arange(3, dtype=np.int32), numbers)
    return pack_images(Header("images", 5, "t/0", 3), ImageChannel("t"), images, numbers, causes, numbers > 1)


def cell_records() -> list[bytes]:
    return [pack(Header("", 5, "cell/r+s/0", 3), part) for part in split(small())]


def samples() -> dict[str, bytes]:
    """Return a record of each kind, with all the columns that it can have."""
    many = [{"new": i, "has_new": i > 1, "old": 7, "has_old": True, "channel": i % 3, "group": i % 3} for i in range(6)]
    seq = np.arange(6)
    answers = Answers(
        np.array([5, 0, 0]), np.array([True, False, False]), {1: (Tally.of(3, 9),), 2: (Members(("b",)),)}
    )
    regions = [Region(SHAPE, group_key(("a",)), 1, 5), Region(NAMED, b"[]", LOWEST_KEY, BEYOND_KEYS)]
    boxes = Boxes.of(hashes_of([b"[1]", b"[2]"]), np.array([INT64_MIN, 3]), np.array([7, INT64_MAX]))
    return {
        "messages": pack_apart(Header("messages", 5, "t/0", 3), messages(many, ["a", "b"]), seq, seq % 2, seq * 9),
        "snapshot": pack_snapshot(Header("snapshot", 1, "t/0", 4), np.array([7, 8, 11]), answers),
        "images": images_record(),
        **{
            name: pack(Header("", 5, "cell/r+s/0", 3), part)
            for name, part in zip(("rows", "more", "changes"), split(small()), strict=True)
        },
        "register": next(pack_registrations(Header("register", 2, "t/0", ve=3), [4, 9], regions)),
        "filters": next(pack_registrations(Header("register", 2, "t/0", ve=3), [4, -9, 5], FILTERS, asked=ASKED)),
        "summary": pack_summary(Header("summary", 2, "t/0", ve=3), {CHANNELS[0]: boxes, CHANNELS[1]: Boxes.none()}),
        "needed": pack_summary(
            Header("summary", 2, "t/0", ve=3), {ImageChannel("t"): boxes}, {ImageChannel("t"): ["x", "y"]}
        ),
    }


SAMPLES = samples()


@given(damaged(st.sampled_from(list(SAMPLES.values()))))
@settings(max_examples=examples(2_000), deadline=None)
def test_damaged_bytes_are_a_record_or_refused(value):
    with contextlib.suppress(PackedError):
        unpack(value)
    with contextlib.suppress(PackedError):
        unpack_sound(value)


STRANGE = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda n: lambda rows: pa.array([n] * rows, pa.int64())),
    st.sampled_from([0, 1, 5, 2**32, 2**64 - 1]).map(lambda n: lambda rows: pa.array([n] * rows, pa.uint64())),
    st.sampled_from([pa.float64(), pa.string(), pa.binary(), pa.uint8(), pa.null()]).map(
        lambda type_: lambda rows: pa.nulls(rows, type_)
    ),
    st.just(lambda rows: pa.array(["x"] * rows).dictionary_encode()),
    st.just(lambda rows: pa.array([[1]] * rows)),
)
JSON = st.one_of(
    st.none(), st.integers(-3, 3), st.just(2**70), st.floats(), st.text(max_size=2), st.just([]), st.just({})
)


@given(st.sampled_from(sorted(SAMPLES)), st.data())
@settings(max_examples=examples(600), deadline=None)
def test_sound_arrow_with_other_columns_or_another_header_is_a_record_or_refused(kind, data):
    def change(header, layout, columns):
        what = data.draw(st.sampled_from(["swap", "drop", "strange", "least", "rows", "header"]))
        names = st.sampled_from(sorted(columns))
        if what == "swap":
            one, other = data.draw(names), data.draw(names)
            columns[one], columns[other] = columns[other], columns[one]
        elif what == "drop":
            del columns[data.draw(names)]
        elif what == "strange":
            columns[data.draw(names)] = data.draw(STRANGE)(layout["rows"])
        elif what == "least":
            layout["least"][data.draw(st.sampled_from(sorted(layout["least"])))] = data.draw(JSON)
        elif what == "rows":
            layout["rows"] = data.draw(st.one_of(JSON, st.sampled_from([-1, 0, 1, 2**40])))
        else:
            header[data.draw(st.sampled_from(sorted({*header, "kind", "batch", "of", "chunk"})))] = data.draw(
                st.one_of(JSON, st.sampled_from(sorted(SAMPLES)))
            )

    with contextlib.suppress(PackedError):
        unpack_sound(rewritten(SAMPLES[kind], change))


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_a_record_of_another_format_or_kind_is_newer_and_not_damaged(kind):
    for field, value in (("format", 99), ("kind", "elsewhere"), ("format", "two")):
        other = rewritten(SAMPLES[kind], lambda header, *_, field=field, value=value: header.update({field: value}))
        with pytest.raises(PackedError, match=f"a newer tidewire wrote this packed record: it has {field}") as refused:
            unpack(other)
        assert refused.value.newer
    strange = rewritten(SAMPLES[kind], lambda header, *_: header.update(format=7, channels="elsewhere", of=None))
    with pytest.raises(PackedError, match="format 7, expected at most 6"):
        unpack(strange)


def test_filters_come_back_with_how_their_rows_are_asked_for():
    read = unpack(SAMPLES["filters"])
    assert isinstance(read, PackedRegistrations) and read.regions == FILTERS and read.versions == [4, -9, 5]
    assert read.asked == {0: ASKED[0], 2: ASKED[2]}
    read = unpack(SAMPLES["register"])
    assert isinstance(read, PackedRegistrations) and read.asked == {}


def test_a_summary_says_which_columns_are_needed():
    read = unpack(SAMPLES["needed"])
    assert isinstance(read, PackedSummary) and read.needed == [["x", "y"]]
    read = unpack(SAMPLES["summary"])
    assert isinstance(read, PackedSummary) and read.needed == [[], []]
    with pytest.raises(PackedError, match="needed columns of 2 channels"):
        unpack(rewritten(SAMPLES["needed"], lambda header, *_: header.update(needed=[["x"], []])))


def test_registrations_that_point_nowhere_are_left_out_one_by_one():
    value = rewritten(SAMPLES["register"], lambda header, *_: header.update(shapes=header["shapes"][:1]))
    with pytest.raises(PackedError, match="1 registrations name a shape"):
        unpack(value)
    read = unpack_sound(value)
    assert isinstance(read, PackedRegistrations)
    assert (read.versions, read.astray) == ([4], 1) and read.regions == [Region(SHAPE, group_key(("a",)), 1, 5)]


def test_a_header_says_that_something_was_lost_only_where_it_was():
    assert b"lost" not in SAMPLES["snapshot"]
    none = Answers(np.zeros(0, np.int64), np.zeros(0, np.bool_), {})
    read = unpack(pack_snapshot(Header("snapshot", 1, "t/0", 4, lost=True), np.zeros(0, np.int64), none))
    assert isinstance(read, PackedSnapshot) and read.header.lost and len(read.version) == 0
