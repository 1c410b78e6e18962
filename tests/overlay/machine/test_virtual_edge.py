"""The virtual edge, case by case; `test_virtual_edge_machine.py` has the histories."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from catalog.query.channel import channel_of
from catalog.query.shape import Region
from connectors.kafka.partitioner import home_partition
from operators.control import EpochBegins, Progress, RegisterAll, Withdraw, decode_control, encode_control
from operators.operator import Answers, Messages
from operators.packed import (
    Header,
    PackedRegistrations,
    is_packed,
    pack_registrations,
    pack_snapshot,
    unpack,
)
from overlay.delivery.delivery import Position
from overlay.machine.notification import NotificationError
from overlay.maintain.batch_buffer import MissingChunksError
from state.errors import TidewireError
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.packing import pack_apart
from tests.operators.test_packed import rewritten
from tests.overlay.edge_bench import PRICE, Bench
from tests.overlay.filter_bench import FilterBench, stock
from tests.overlay.views import views


def test_from_subscription_to_change_byte_by_byte() -> None:
    bench = Bench()
    bench.ask(7, 'näme"')
    out = bench.take()
    assert out["acks"][0].key == 'näme"'.encode()
    assert (
        out["acks"][0].value
        == (
            '{"id":"näme\\"","version":7,"status":"accepted","sql":"SELECT MIN(price) FROM stock",'
            '"shape":"[\\"stock\\",[[\\"min\\",\\"price\\"]],[],null]","cost":"reformulated"}'
        ).encode()
    )
    packed = unpack(out["registrations"][0].value or b"")
    assert isinstance(packed, PackedRegistrations)
    assert (packed.header.epoch, packed.header.ve, packed.header.catalog, packed.versions) == (5, 0, 0, [7])
    assert out["registrations"][0].key == b"stock/0"
    bench.snapshot(0, {7: 1025})
    bench.control(Progress(5, 0, 0, "noon"))
    bench.message(1, 999, None)
    bench.control(Progress(5, 1, 0, "later"))
    bench.edge.subscription(8, 'näme"'.encode(), None)
    out = bench.take()
    assert [record.value.decode() for record in out["deliveries"] if record.value] == [
        '{"id":"näme\\"","kind":"snapshot","version":7,"n":1,"old":null,"new":"10.25",'
        '"at":{"epoch":5,"batch":-1},"sql":"SELECT MIN(price) FROM stock"}',
        '{"kind":"progress","epoch":5,"batch":0,"time":"noon"}',
        '{"id":"näme\\"","kind":"change","version":7,"n":2,"old":"10.25","new":"9.99",'
        '"at":{"epoch":5,"batch":1,"topic":"stock-topic","partition":3,"offset":100}}',
        '{"id":"näme\\"","kind":"change","version":7,"n":3,"old":"9.99","new":null,'
        '"at":{"epoch":5,"batch":1,"topic":"stock-topic","partition":3,"offset":101}}',
        '{"kind":"progress","epoch":5,"batch":1,"time":"later"}',
        '{"id":"näme\\"","kind":"ended","version":7,"n":4,"old":null,"new":null,'
        '"at":{"epoch":5,"batch":1},"reason":"unsubscribed"}',
    ]
    assert [msgspec.json.decode(record.value or b"")["status"] for record in out["acks"]] == ["live", "ended"]
    assert b'"status":"live","at":{"epoch":5,"batch":-1},"sql":' in (out["acks"][0].value or b"")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"SELECT", "cannot be read"),
        (b'"SELECT"', "cannot be read"),
        (b'\xef\xbb\xbf{"sql":"x"}', "cannot be read"),
        (b'{"sql":"\xff"}', "cannot be read"),
        (b'{"sql":1}', "cannot be read"),
        (b'{"sql":"x","policy":"latest"}', "policy"),
        (b"{}", "exactly one of"),
        (b'{"sql":"x","template":"y","params":[]}', "exactly one of"),
        (b'{"template":"y"}', "`params` beside `template`"),
        (b'{"template":"y","params":[[1]]}', "plain values"),
        (b'{"sql":"' + b"x" * 70_000 + b'"}', "longer than"),
    ],
)
def test_values_that_cannot_be_read_are_refused(value: bytes, says: str) -> None:
    bench = Bench()
    bench.edge.subscription(0, b"a", value)
    (ack,) = bench.lines("acks")
    assert (ack["status"], ack["code"], ack["version"]) == ("refused", "malformed", 0)
    assert says in ack["message"] and "template" in ack["hint"]


def test_ids_that_cannot_be_taken() -> None:
    bench = Bench()
    for offset, key in enumerate([b"", b"@progress", b"\xff\xfe", b"x" * 2_000, b"\0" * 900_000, b"\xff" * 900_000]):
        bench.edge.subscription(offset, key, b'{"sql":"x"}')
    bench.edge.subscription(9, None, b'{"sql":"x"}')
    records = bench.take()["acks"]
    acks = [msgspec.json.decode(record.value or b"") for record in records]
    assert [(ack["code"], ack["version"]) for ack in acks] == [("malformed", i) for i in range(6)]
    assert acks[3]["id"] == "x" * 2_000 and records[3].key == b"x" * 2_000
    assert acks[4]["id"] == "@" + "\0" * 1_024 and max(len(record.value or b"") for record in records) < 10_000
    assert (bench.edge.counters.ignored, bench.edge.counters.refused) == (1, 6)


def test_a_record_in_another_partition_than_its_home_is_refused_also_a_tombstone() -> None:
    home = home_partition(b"a", 4)
    bench = Bench(number=(home + 1) % 4, partitions=4)
    bench.ask(0, "a")
    bench.edge.subscription(1, b"a", None)
    acks = bench.lines("acks")
    assert [(ack["code"], ack["version"]) for ack in acks] == [("wrong_partition", 0), ("wrong_partition", 1)]
    assert f"partition {home} of 4" in acks[0]["message"] and "murmur2" in acks[0]["hint"]


def test_a_template_with_parameters_keeps_fractions_exact() -> None:
    bench = Bench()
    value = b'{"template":"SELECT MIN(price) FROM stock WHERE risk >= ?","params":[0.1]}'
    bench.edge.subscription(0, b"a", value)
    (ack,) = bench.lines("acks")
    assert ack["status"] == "accepted" and ack["sql"] == "SELECT MIN(price) FROM stock WHERE risk >= 0.1"


def test_a_refused_replacement_leaves_the_old_one_as_it_was() -> None:
    bench = Bench()
    bench.live("a")
    bench.ask(5, "a", "SELECT MIN(price FROM stock")
    bench.message(1, 7)
    bench.control(Progress(5, 1, 0, "t"))
    assert [(d["kind"], d.get("version")) for d in bench.lines()][-2:] == [("change", 0), ("progress", None)]


def test_a_replacement_takes_over_with_its_snapshot() -> None:
    bench = Bench()
    bench.live("a")
    bench.ask(5, "a", "SELECT MAX(price) FROM stock")
    view = bench.edge.find(b"a")
    assert view is not None and (view.version, view.replaced_by, view.answer) == (0, 5, "10.25")
    bench.take()
    bench.message(1, 7)
    bench.control(Progress(5, 1, 0, "t"))
    bench.snapshot(2, {5: 8}, of=2)
    bench.message(2, 6, chunk=1, of=2)
    bench.control(Progress(5, 2, 0, "t"))
    told = [(d["kind"], d["version"], d["n"], d["new"]) for d in bench.lines() if d["kind"] != "progress"]
    assert told == [("change", 0, 2, "0.07"), ("snapshot", 5, 1, "0.08")]


def test_the_same_sql_again_is_a_replacement_too() -> None:
    bench = Bench()
    bench.live("a")
    bench.ask(1, "a")
    out = bench.take()
    assert is_packed(out["registrations"][0].value or b"") and len(out["registrations"]) == 1
    bench.snapshot(1, {1: 1025})
    bench.control(Progress(5, 1, 0, "t"))
    assert [(d["kind"], d["n"]) for d in bench.lines() if d["kind"] != "progress"] == [("snapshot", 1)]


def test_the_last_of_a_shape_withdraws_it_before_later_registrations() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.edge.subscription(5, b"a", None)
    assert "registrations" not in bench.take()
    bench.edge.subscription(6, b"b", None)
    bench.ask(7, "c", "SELECT MAX(price) FROM stock")
    first, second = bench.take()["registrations"]
    control = decode_control(first.value or b"")
    assert control == Withdraw(5, 0, list(PRICE.channels)) and first.key == b"stock/0"
    assert is_packed(second.value or b"")


def test_a_shape_that_is_wanted_again_within_the_step_is_not_withdrawn() -> None:
    bench = Bench()
    bench.live("a")
    bench.edge.subscription(5, b"a", None)
    bench.ask(6, "b")
    assert [is_packed(record.value or b"") for record in bench.take()["registrations"]] == [True]


def test_a_dropped_table_ends_its_subscriptions_and_is_not_withdrawn() -> None:
    bench = Bench()
    bench.live("a")
    bench.ask(4, "b")
    bench.take()
    bench.control(Progress(5, 1, 2, "t"))
    out = bench.take()
    ended = [msgspec.json.decode(record.value or b"") for record in out["deliveries"]]
    assert [(d["kind"], d.get("n"), d.get("reason")) for d in ended[:1]] == [("ended", 2, "table dropped")]
    assert ended[0]["at"] == {"epoch": 5, "batch": 0} and ended[1]["kind"] == "progress"
    acks = [msgspec.json.decode(record.value or b"") for record in out["acks"]]
    assert [(a["id"], a["status"], a["reason"]) for a in acks] == [(n, "ended", "table dropped") for n in "ab"]
    assert "registrations" not in out and bench.edge.counts == {"live": 0, "accepted": 0, "held": 0}


def test_progress_is_passed_on_also_repeated_but_never_backwards() -> None:
    bench = Bench()
    for batch in (0, 1, 1, 0):
        bench.control(Progress(5, batch, 0, f"t{batch}"))
    assert [(d["batch"], d["time"]) for d in bench.lines()] == [(0, "t0"), (1, "t1"), (1, "t1")]
    assert bench.edge.position == Position(5, 1) and bench.edge.counters.repeats == 2


def registered(bench: Bench) -> list[int]:
    """Return the versions that a step registers."""
    found = [unpack(record.value or b"") for record in bench.take().get("registrations", [])]
    return [version for packed in found if isinstance(packed, PackedRegistrations) for version in packed.versions]


def go_on(bench: Bench, batch: int) -> None:
    """Register, answer in `batch` (7) and send a change (8) in the one after it: both are told, and nothing else."""
    assert registered(bench) == [0, 1]
    bench.again()
    bench.snapshot(batch, {0: 7, 1: 7})
    bench.control(Progress(5, batch, 0, "t"))
    bench.message(batch + 1, 8)
    bench.control(Progress(5, batch + 1, 0, "t"))
    told = [(d["id"], d["kind"], d["new"]) for d in bench.lines() if d["kind"] != "progress"]
    assert sorted(told[:2]) == [("a", "resync", "0.07"), ("b", "resync", "0.07")]
    assert sorted(told[2:]) == [("a", "change", "0.08"), ("b", "change", "0.08")]
    bench.again()
    bench.edge.check()


def test_a_batch_with_a_chunk_missing_is_a_loss() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    bench.message(1, 7, chunk=1, of=3)
    bench.control(Progress(5, 1, 0, "t"))
    (why,) = bench.edge.losses()
    assert "`tw.notifications` [0], epoch 5: batch 1 of shard `stock/0`" in why and "chunks 0 to 2, got [1]" in why
    assert bench.edge.find(b"a").at == Position(5, 0)
    go_on(bench, 2)


def test_a_batch_whose_predecessor_never_came_is_a_loss() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    bench.message(2, 9)
    bench.control(Progress(5, 2, 0, "t"))
    assert "expected batch 1 first" in bench.edge.losses()[0] and bench.edge.counters.losses == 1
    go_on(bench, 3)


def test_two_runs_of_a_batch_that_differ_stop_the_edge() -> None:
    bench = Bench()
    bench.live("a")
    bench.message(1, 7, chunk=0, of=2)
    with pytest.raises(MissingChunksError, match="two runs of batch 1 of shard `stock/0` differ"):
        bench.message(1, 7, chunk=0, of=3)


def chunk_of(batch: int) -> bytes:
    nothing = Answers(np.zeros(0, np.int64), np.zeros(0, np.bool_), {})
    return pack_snapshot(Header("snapshot", 5, "stock/0", batch), np.zeros(0, np.int64), nothing)


(REGISTRATION,) = pack_registrations(Header("register", 5, "stock/0"), [1], [Region(PRICE, b"[]")])
DAMAGED = {
    "nothing": b"",
    "a tombstone": None,
    "an object": b"{}",
    "no JSON": b"{",
    "a number": b"5",
    "no text": b"\x80\x80",
    "deep": b"[" * 100_000,
    "a progress without its batch": b'{"kind":"progress","epoch":5,"catalog":0,"time":"t"}',
    "a progress cut off": encode_control(Progress(5, 1, 0, "t"))[:-3],
    "what an edge tells shards": b'{"kind":"withdraw","epoch":5,"ve":0,"channels":[]}',
    "what an edge registers": REGISTRATION,
    "a stream that begins": b"\xff\xff",
    "a chunk cut off": chunk_of(1)[:-40],
    "a chunk of nothing": chunk_of(1)[:9],
    "a chunk beyond its number": rewritten(chunk_of(1), lambda header, *_: header.update(chunk=3, of=2)),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_record_that_cannot_be_read_makes_all_register_again(what: str) -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    bench.message(1, 5)
    bench.edge.notification(bench.offset, b"k", DAMAGED[what])
    bench.offset += 1
    (why,) = bench.edge.losses()
    assert f"`tw.notifications` [0] offset {bench.offset - 1} cannot be read: " in why
    assert (bench.edge.losses(), bench.edge.counters.losses) == ([], 1)
    bench.control(Progress(5, 1, 0, "t"))
    go_on(bench, 2)


def test_a_damaged_record_of_a_batch_to_come_is_a_loss_when_that_is_committed() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    bench.message(2, 5, chunk=0, of=2)
    bench.edge.notification(bench.offset, b"k", b"\xff")
    bench.message(2, 6, chunk=1, of=2)
    bench.control(Progress(5, 1, 0, "t"), Progress(5, 2, 0, "t"))
    assert [why.split(":")[0] for why in bench.edge.losses()][1:] == ["`tw.notifications` [0], epoch 5"]
    go_on(bench, 3)


def test_before_the_first_epoch_a_damaged_record_is_a_loss_of_nothing() -> None:
    bench = Bench(begun=False)
    bench.edge.notification(0, b"k", b"\xff")
    bench.control(EpochBegins(5, 0), RegisterAll(5, 0))
    bench.live("a", "b")
    bench.take()
    bench.edge.notification(bench.offset, b"k", b"\xff")
    go_on(bench, 1)


@pytest.mark.parametrize(
    "value",
    [
        b'{"kind":"progress","format":99}',
        b'{"kind":"images","epoch":5}',
        rewritten(chunk_of(1), lambda header, *_: header.update(format=99)),
        rewritten(chunk_of(1), lambda header, *_: header.update(kind="joins")),
    ],
)
def test_a_record_of_a_newer_engine_stops_the_edge(value: bytes) -> None:
    with pytest.raises(NotificationError, match=r"`tw.notifications` \[0\] offset 3 cannot be read: a newer tidewire"):
        Bench().edge.notification(3, b"k", value)


def test_what_a_shard_could_not_read_is_registered_again_with_the_batch_that_says_so() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    lost = rewritten(chunk_of(1), lambda header, *_: header.update(lost=True, of=2))
    bench.edge.notification(bench.offset, b"stock/0", lost)
    bench.message(1, 5, chunk=1, of=2)
    assert bench.edge.counters.losses == 0
    bench.message(2, 6)
    bench.control(Progress(5, 1, 0, "t"))
    assert sorted((d["id"], d["new"]) for d in bench.lines() if d["kind"] == "change") == [("a", "0.05"), ("b", "0.05")]
    assert "`tw.registrations` [0]" in bench.edge.losses()[0] and bench.edge.counters.losses == 1
    bench.control(Progress(5, 1, 0, "t"))
    bench.edge.notification(bench.offset, b"stock/0", lost)
    assert bench.edge.counters.losses == 1 and bench.edge.counters.repeats == 2


def test_a_loss_that_a_shard_tells_before_all_are_asked_to_register_is_none() -> None:
    bench = Bench(begun=False)
    bench.control(EpochBegins(5, 0))
    bench.ask(0, "a")
    bench.ask(1, "b")
    lost = rewritten(chunk_of(0), lambda header, *_: header.update(lost=True))
    bench.edge.notification(bench.offset, b"stock/0", lost)
    bench.control(Progress(5, 0, 0, "t"))
    assert bench.edge.losses() == [] and registered(bench) == []
    bench.control(RegisterAll(5, 0))
    assert registered(bench) == [0, 1]


def test_the_log_is_read_again_from_the_first_chunk_that_is_not_applied() -> None:
    bench = Bench()
    bench.live("a")
    assert bench.edge.resume_offset is None
    at = bench.offset
    bench.message(1, 7)
    bench.message(1, 7)
    bench.message(2, 8)
    assert bench.edge.resume_offset == at and bench.edge.counters.repeats == 1
    bench.control(Progress(5, 1, 0, "t"))
    assert bench.edge.resume_offset == at + 2
    bench.control(EpochBegins(6, 0))
    assert bench.edge.resume_offset is None


def test_where_the_beginning_of_an_epoch_was_trimmed_all_register_at_once() -> None:
    bench = Bench(begun=False)
    bench.ask(0, "a")
    assert "acks" not in bench.take()
    bench.message(41, 7, chunk=1, of=2)
    bench.control(Progress(5, 41, 0, "t"))
    out = bench.take()
    assert len(out["registrations"]) == 1 and len(out["acks"]) == 1
    bench.snapshot(42, {0: 5})
    bench.control(Progress(5, 42, 0, "t"))
    assert [d["kind"] for d in bench.lines()] == ["snapshot", "progress"]


def test_after_a_loss_everything_is_registered_again_and_resynced() -> None:
    bench = Bench()
    bench.live("a", "b")
    bench.ask(7, "c")
    bench.take()
    bench.edge.notifications_lost()
    packed = unpack(bench.take()["registrations"][0].value or b"")
    assert isinstance(packed, PackedRegistrations) and packed.versions == [0, 1, 7]
    view = bench.edge.find(b"a")
    assert view is not None and (view.answer, view.at) == ("10.25", Position(5, 0))
    bench.again()
    bench.message(90, 3)
    bench.control(Progress(5, 90, 0, "t"))
    bench.snapshot(91, {0: 3, 1: 1025, 7: 3})
    bench.control(Progress(5, 91, 0, "t"))
    told = [(d["id"], d["kind"], d["n"], d["old"], d["new"]) for d in bench.lines() if d["kind"] != "progress"]
    assert told[:2] == [("a", "resync", 2, "10.25", "0.03"), ("b", "resync", 1, "10.25", "10.25")]
    assert told[2][:3] == ("c", "snapshot", 1)
    bench.again()


def test_a_table_that_is_announced_later_is_not_refused_by_a_race() -> None:
    bench = Bench()
    bench.ask(0, "a", "SELECT MIN(price) FROM bond")
    bench.ask(1, "b", "SELECT MIN(cost) FROM stock")
    bench.ask(2, "c", "SELECT MIN(price) FROM nothing")
    bench.edge.subscription(3, b"c", None)
    assert bench.edge.refusals_pending and bench.edge.held_through == 1
    assert [(a["id"], a["status"]) for a in bench.lines("acks")] == [("c", "ended")]
    bench.again()
    bench.control(Progress(5, 0, 1, "t"))
    assert [(a["id"], a["status"]) for a in bench.lines("acks")] == [("a", "accepted")]
    bench.edge.refuse_held(through=0)
    assert bench.edge.refusals_pending
    bench.edge.refuse_held()
    assert [(a["id"], a["code"]) for a in bench.lines("acks")] == [("b", "unknown_column")]
    assert not bench.edge.refusals_pending


def test_settling_before_any_catalog_is_announced_refuses_nobody() -> None:
    bench = Bench(begun=False)
    bench.ask(0, "a", "SELECT MIN(price) FROM bond")
    bench.edge.refuse_held()
    assert not bench.edge.refusals_pending and bench.edge.counts["held"] == 1
    view = bench.edge.find(b"a")
    assert view is not None and view.status == "held"


def test_a_message_that_changes_nothing_is_suppressed_and_counted() -> None:
    bench = Bench()
    bench.live("a")
    bench.take()
    bench.message(1, 1025, 7, 7)
    bench.control(Progress(5, 1, 0, "t"))
    assert [(d["kind"], d.get("n")) for d in bench.lines()] == [("change", 2), ("progress", None)]
    assert bench.edge.counters.suppressed == 2
    bench.again()


@pytest.mark.parametrize(
    ("column", "code", "text"),
    [
        ("day", 20513, '"2026-03-01"'),
        ("flag", 1, "true"),
        ("risk", 4609434218613702656, "1.5"),
        ("price", -5, '"-0.05"'),
    ],
)
def test_answers_of_each_type(column: str, code: int, text: str) -> None:
    bench = Bench()
    bench.live("a", sql=f"SELECT MAX({column}) FROM stock", value=code)
    assert f'"old":null,"new":{text},'.encode() in (bench.take()["deliveries"][0].value or b"")


def test_several_shapes_and_types_in_one_chunk() -> None:
    bench = Bench()
    bench.ask(0, "a")
    bench.ask(1, "b", "SELECT MIN(day) FROM stock")
    bench.take()
    bench.snapshot(0, {0: 1, 1: 1})
    bench.control(Progress(5, 0, 0, "t"))
    bench.take()
    channels = [channel_of("stock", *what, (), None) for what in (("min", "price"), ("min", "day"), ("max", "day"))]
    which, zeros = np.array([0, 1, 2], np.int32), np.zeros(3, np.int32)
    bounds = np.array([[INT64_MIN] * 3, [INT64_MAX] * 3] * 2)
    new, known, nothing = np.array([2, 2, 9]), np.ones(3, np.bool_), np.zeros(3, np.int64)
    messages = Messages(channels, [b"[]"], zeros, which, zeros, nothing, nothing, ~known, new, known, *bounds)
    header = Header("messages", 5, "stock/0", 1, channels=channels)
    bench.edge.notification(99, b"stock/0", pack_apart(header, messages, zeros, zeros, zeros))
    bench.control(Progress(5, 1, 0, "t"))
    told = [(d["id"], d["old"], d["new"]) for d in bench.lines() if d["kind"] == "change"]
    assert told == [("a", "0.01", "0.02"), ("b", "1970-01-02", "1970-01-03")]


def test_a_full_snapshot_is_taken_between_steps_only_and_makes_older_records_useless() -> None:
    bench = Bench()
    bench.live("a", "b")
    with pytest.raises(TidewireError, match="call `take` first"):
        bench.edge.snapshot_records()
    bench.take()
    before = list(bench.state)
    whole = [record.value for record in bench.edge.snapshot_records() if record.value is not None]
    bench.message(1, 7)
    bench.control(Progress(5, 1, 0, "t"))
    bench.take()
    after = bench.state[len(before) :]
    for state in (whole + after, before + whole[:-1] + after, before[1:] + whole + after):
        bench.state = state
        again = bench.again()
        assert [view.answer for view in views(again)] == ["0.07", "0.07"]


def test_images_without_a_column_that_a_filter_needs_are_a_loss() -> None:
    bench = FilterBench()
    bench.start("SELECT symbol FROM stock WHERE risk <> 1", ("a",))
    bench.take()
    bench.images(1, (None, stock("b", 600)), needed=("symbol", "price"))
    bench.end(1)
    (why,) = bench.edge.losses()
    assert "images lack ['risk'], expected ['risk', 'symbol']" in why and bench.edge.counters.losses == 1
    (registered,) = bench.registered()
    assert registered.asked[0].told is not None and registered.live == [True]
