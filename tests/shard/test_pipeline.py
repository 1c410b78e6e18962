import json
from dataclasses import replace

import numpy as np

from catalog.ddl.statements import apply_ddl
from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from connectors.topics import Topics
from operators.control import Withdraw, encode_control
from operators.packed import (
    Header,
    PackedImages,
    PackedMessages,
    PackedSnapshot,
    pack_registrations,
    pack_summary,
    unpack,
)
from operators.reply import Refused, Rows, encode_row
from shard.bounds import Bounds
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from state.boxes import Boxes, hashes_of

TOPICS = Topics()
CATALOG = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER)", 0)
SPEC = GroupSpec(7, "t/0", CATALOG, TOPICS, 4)
SHAPE = Shape("t", (Output("min", "y"),), (), "x")


def records(topic: str, pairs: list[tuple[bytes | None, bytes | None]], partition: int = 0, first: int = 0):
    m = len(pairs)
    offset = np.arange(first, first + m)
    return RawRecords(
        topic,
        [key for key, _ in pairs],
        [value for _, value in pairs],
        np.full(m, partition, np.int32),
        offset,
        offset * 1000,
    )


def rows(*values: tuple[int, int, int], **where) -> RawRecords:
    pairs = [(b'{"id":%d}' % i, b'{"id":%d,"x":%d,"y":%d}' % (i, x, y)) for i, x, y in values]
    return records("t", pairs, **where)


def registration(ve: int = 2, lo: int = 0, hi: int = 9) -> RawRecords:
    header = Header("register", 7, "t/0", ve=ve, catalog=0)
    (value,) = pack_registrations(header, [11], [Region(SHAPE, group_key(()), lo, hi)])
    return records(TOPICS.registrations, [(b"t/0", value)], partition=ve)


def sent(result):
    return [unpack(record.value) for record in result.out if record.topic == TOPICS.notifications]


def notified(result):
    return [record for record in result.out if record.topic == TOPICS.notifications]


def test_a_group_keeps_to_the_bounds_that_it_was_given():
    (snapshot,) = sent(process_group(replace(SPEC, bounds=Bounds(orderings=0)), 0, None, [registration()]))
    assert isinstance(snapshot.replies[0], Refused) and snapshot.replies[0].code == "quota"


def test_it_tells_how_much_of_its_bounds_is_reached():
    result = process_group(replace(SPEC, bounds=Bounds(2, 3, 4_000_000)), 0, None, [registration()])
    assert counters(result)["held"] == {
        "shard_channels": [1, 2],
        "shard_orderings": [1, 3],
        "shard_state_mb": [0, 4_000_000],
    }


def replace_ve(header: Header, ve: int) -> Header:
    return Header(header.kind, header.epoch, header.shard, ve=ve, catalog=header.catalog)


def counters(result):
    (record,) = [record for record in result.out if record.topic == TOPICS.engines]
    return json.loads(record.value)


def test_the_snapshot_holds_before_the_batch_and_the_messages_follow_it():
    first = process_group(SPEC, 0, None, [rows((1, 3, 30))])
    assert sent(first) == []
    result = process_group(SPEC, 1, first.state, [rows((1, 3, 10), (2, 4, 20), first=1), registration()])
    snapshot, messages = sent(result)
    assert isinstance(snapshot, PackedSnapshot) and isinstance(messages, PackedMessages)
    assert snapshot.version.tolist() == [11] and snapshot.new.tolist() == [30]
    assert (snapshot.header.epoch, snapshot.header.batch, snapshot.header.chunk) == (7, 1, 0)
    assert messages.header.chunk == 1 and messages.header.of == 2
    assert messages.messages.new[0] == 10 and messages.offset[0] == 1
    assert [record.partition for record in result.out if record.topic == TOPICS.notifications] == [2, 2]


def test_a_replayed_batch_gives_the_same_bytes_however_the_records_arrive():
    first = process_group(SPEC, 0, None, [registration()])
    batch = [(i % 7, i * 5 % 11, i * 3 % 13) for i in range(60)]
    whole = process_group(SPEC, 1, first.state, [rows(*batch)])
    pieces = [rows(*batch[i : i + 2], first=i) for i in range(0, 60, 2)]
    assert process_group(SPEC, 1, first.state, pieces[::-1]) == whole


def test_seq_goes_on_over_batches_and_counts_what_is_not_sent():
    result = process_group(SPEC, 0, None, [registration()])
    last = -1
    for batch in range(1, 6):
        before = counters(result)["messages"]
        result = process_group(SPEC, batch, result.state, [rows((1, 1, 10 - batch), (2, 2, batch), first=batch * 2)])
        (record,) = sent(result)
        assert last < before <= record.header.first_seq == record.seq[0] <= record.header.last_seq == record.seq[-1]
        last = record.header.last_seq
        assert last < counters(result)["messages"]


def test_what_no_range_wants_is_counted_and_not_sent():
    first = process_group(SPEC, 0, None, [registration(ve=2, lo=3, hi=4), registration(ve=0, lo=3, hi=4)])
    result = process_group(SPEC, 1, first.state, [rows((1, 3, 30), (2, 7, 20), (3, 8, 10))])
    assert [record.partition for record in result.out if record.topic == TOPICS.notifications] == [0, 2]
    assert [message.offset.tolist() for message in sent(result)] == [[0], [0]]
    report = counters(result)
    assert report["messages"] > 1 and report["suppressed"] == report["messages"] - 1
    assert (report["routed"], report["spared"]) == (2, 2 * report["suppressed"])


def test_what_views_would_have_computed_is_counted_while_nobody_asks_them():
    view = "CREATE VIEW {} AS SELECT x, COUNT(*) AS n FROM t GROUP BY x"
    catalog = CATALOG
    for name in ("v", "w"):
        catalog = apply_ddl(catalog, view.format(name), catalog.version + 1)
    spec = GroupSpec(7, "t/0", catalog, TOPICS, 4)
    first = process_group(spec, 0, None, [rows((1, 2, 3), (2, 2, 3))])
    assert counters(first)["skipped"] == 4
    shape = FilterShape("v", ("x", "n"), (), (), (), ())
    header, region = Header("register", 7, "v/0", ve=2, catalog=2), Region(shape, b"[]", terms=encode_terms([{}]))
    asked = pack_registrations(header, [11], [region])
    asking = records(TOPICS.registrations, [(b"v/0", value) for value in asked], partition=2)
    then = process_group(spec, 1, first.state, [asking, rows((3, 2, 3), first=2)])
    told = [json.loads(record.value) for record in then.out if record.topic == TOPICS.engines]
    assert {each["shard"]: each["skipped"] for each in told} == {"t/0": 5, "v/0": 0}, "w alone is not computed"


def test_a_bad_record_is_a_dead_letter_and_the_rest_goes_on():
    pairs = [(b'{"id":1}', b"{oops"), (b'{"id":2}', b'{"id":2,"x":1,"y":5}'), (b'{"id":2}', None)]
    result = process_group(SPEC, 0, None, [registration(), records("t", pairs)])
    (letter,) = [record for record in result.out if record.topic == TOPICS.dead_letters]
    assert letter.key == b"t/0/0"
    assert len(sent(result)) == 2
    report = counters(result)
    assert (report["decoded"], report["dead"], report["deletes"], report["registrations"]) == (2, 1, 1, 1)


def test_a_record_without_a_key_is_taken_until_a_second_partition_shows():
    keyless = [(None, b'{"id":1,"x":1,"y":5}')]
    first = process_group(SPEC, 0, None, [records("t", keyless)])
    assert counters(first)["decoded"] == 1
    second = process_group(SPEC, 1, first.state, [records("t", keyless, first=1), rows((2, 2, 2), partition=1)])
    assert (counters(second)["decoded"], counters(second)["dead"]) == (2, 1)


def test_a_row_without_a_key_is_refused_where_the_topic_is_known_to_have_several_partitions():
    keyless = [(None, b'{"id":1,"x":1,"y":5}')]
    result = process_group(replace(SPEC, several=frozenset({"t"})), 0, None, [records("t", keyless)])
    assert (counters(result)["decoded"], counters(result)["dead"]) == (0, 1)


def test_a_dropped_table_forgets_its_state():
    first = process_group(SPEC, 0, None, [rows((1, 3, 30))])
    result = process_group(replace(SPEC, catalog=Catalog(1)), 1, first.state, [rows((1, 3, 10), first=1)])
    assert result.state is None and result.out == []


def test_changes_that_a_connector_publishes_again_are_ignored_and_counted():
    catalog = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY) WITH ('format'='debezium-json')", 0)
    spec = replace(SPEC, catalog=catalog)
    key = b'{"id":1}'

    def event(op: bytes, lsn: int) -> bytes:
        source = rb'{"connector":"postgresql","name":"x","sequence":"[null,\"%d\"]","ts_us":%d}' % (lsn, lsn)
        return b'{"op":"%s","after":{"id":1},"source":%s}' % (op, source)

    pairs = [(key, event(b"c", 1)), (key, event(b"d", 2)), (key, None), (key, event(b"c", 3))]
    first = process_group(spec, 0, None, [records("t", pairs)])
    second = process_group(spec, 1, first.state, [records("t", pairs, first=4)])
    counted = [(r["decoded"], r["deletes"], r["ignored"]) for r in map(counters, (first, second))]
    assert counted == [(4, 2, 0), (5, 2, 3)] and counters(second)["rows"] == 1


def test_registrations_that_cannot_be_taken_end_no_batch_and_are_counted_and_told():
    unfit = Region(Shape("t", (Output("topk", "y"),), (), "x"), group_key(()))
    header = Header("register", 7, "t/0", ve=2, catalog=0)
    (value,) = pack_registrations(header, [11, 12], [Region(SHAPE, group_key(()), 0, 9), unfit])
    (elsewhere,) = pack_registrations(replace_ve(header, 4), [13], [Region(SHAPE, group_key(()), 0, 9)])
    pairs = [(b"t/0", value), (b"t/0", elsewhere)]
    broken = records(TOPICS.registrations, [(b"t/0", b"\xffbroken"), (b"t/0", value[:-50])], partition=1)
    arrived = [records(TOPICS.registrations, pairs, partition=2), broken, rows((1, 3, 10))]
    result = process_group(SPEC, 1, None, arrived)
    assert process_group(SPEC, 1, None, arrived[::-1]) == result
    told = {
        (record.partition, packed.header.kind): packed
        for record, packed in zip(notified(result), sent(result), strict=True)
    }
    assert sorted(told) == [(1, "snapshot"), (2, "messages"), (2, "snapshot")]
    assert told[1, "snapshot"].header.lost and len(told[1, "snapshot"].version) == 0
    assert not told[2, "snapshot"].header.lost and told[2, "snapshot"].version.tolist() == [11, 12]
    assert told[2, "snapshot"].replies[1].code == "unfit"
    counted = counters(result)
    assert (counted["registrations"], counted["unfit_registrations"], counted["unreadable_registrations"]) == (1, 2, 2)
    assert counted["ignored_registrations"] == 4 and len(counted["unfit_reasons"]) == 2
    after = process_group(SPEC, 2, result.state, [rows((1, 3, 5), first=1)])
    assert [
        (record.partition, packed.header.lost) for record, packed in zip(notified(after), sent(after), strict=True)
    ] == [(2, False)]
    assert counters(after)["unfit_registrations"] == 2


def test_a_virtual_edge_that_hears_of_a_loss_gets_its_messages_and_answers_too():
    first = process_group(SPEC, 0, None, [registration()])
    broken = records(TOPICS.registrations, [(b"t/0", b"")], partition=2, first=5)
    snapshot, messages = sent(process_group(SPEC, 1, first.state, [broken, rows((1, 3, 10))]))
    assert (snapshot.header.lost, snapshot.header.of, messages.header.of) == (True, 2, 2)
    answered, *_ = sent(process_group(SPEC, 1, first.state, [broken, registration()]))
    assert answered.header.lost and answered.version.tolist() == [11]


FILTER = FilterShape("t", ("id", "y"), (), ("x",), (), (0,))


def both_asked() -> RawRecords:
    header = Header("register", 7, "t/0", ve=2, catalog=0)
    many = Region(FILTER, b"[]", terms=encode_terms([{0: ValueSet(((3, 9),))}]))
    (value,) = pack_registrations(header, [11, 12], [Region(SHAPE, group_key(()), 0, 9), many])
    return records(TOPICS.registrations, [(b"t/0", value)], partition=2)


def test_images_follow_the_messages_under_one_numbering_of_seqs_and_chunks():
    first = process_group(SPEC, 0, None, [rows((1, 3, 30))])
    batch = [rows((1, 3, 10), (2, 4, 20), (2, 4, 20), first=1), both_asked()]
    result = process_group(SPEC, 1, first.state, batch)
    assert process_group(SPEC, 1, first.state, batch) == result
    snapshot, messages, images = sent(result)
    assert isinstance(snapshot, PackedSnapshot) and isinstance(images, PackedImages)
    assert snapshot.replies == {1: Rows((encode_row((1, 30)),))}
    assert [each.header.chunk for each in (snapshot, messages, images)] == [0, 1, 2] and images.header.of == 3
    last = counters(result)["messages"] - 1
    assert messages.header.last_seq < images.seq[0] and images.seq.tolist() == [last - 1, last]
    assert (
        images.rows.tolist() == [0, 1] and images.offset.tolist() == [1, 2] and list(images.columns) == ["id", "x", "y"]
    )
    assert images.columns["y"].old.tolist() == [30, 0] and images.columns["y"].new.tolist() == [10, 20]
    assert counters(result)["routed"] == len(messages.seq) + 2
    after = process_group(SPEC, 2, result.state, [rows((2, 4, 5), first=4)])
    assert sent(after)[-1].seq.tolist() == [counters(after)["messages"] - 1]


def test_where_only_rows_are_asked_for_nothing_else_is_said():
    state = process_group(SPEC, 0, None, [both_asked()]).state
    alone = Header("summary", 7, "t/0", ve=2, catalog=0)
    withdrawn = encode_control(Withdraw(7, 2, [*SHAPE.channels]))
    summed = pack_summary(alone, {ImageChannel("t"): Boxes.of(hashes_of([b"[]"]))}, {ImageChannel("t"): ["x"]})
    asked = records(TOPICS.registrations, [(b"t/0", withdrawn), (b"t/0", summed)], partition=2)
    state = process_group(SPEC, 1, state, [asked]).state
    (images,) = sent(process_group(SPEC, 2, state, [rows((1, 3, 10), (1, 3, 11), (1, 4, 11))]))
    assert isinstance(images, PackedImages) and images.offset.tolist() == [0, 2] and list(images.columns) == ["x"]
