"""When views have rows, what is kept of them, and what their members say in a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from connectors.record import OutRecord, RawRecords
from operators.control import Withdraw, encode_control
from operators.packed import Header, PackedImages, PackedMessages, PackedSnapshot, pack_registrations, unpack
from operators.reply import Refused, Rows, decode_row
from shard import views
from shard.bounds import Bounds
from shard.group import Group, StoredGroup, read_delta, write_delta
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from shard.state import ShardState
from tests.shard.test_pipeline import TOPICS, records, rows

T = "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER)"
V = "CREATE VIEW v AS SELECT x, MIN(y) AS low, COUNT(*) AS n FROM t WHERE y < 90 GROUP BY x"
W = "CREATE VIEW w AS SELECT n, COUNT(*) AS m FROM v GROUP BY n"
CATALOG = apply_ddl(Catalog(), f"{T}; {V}; {W}", 0)
SPEC = GroupSpec(7, "t/0", CATALOG, TOPICS, 4)
SHOWN = {"v": ("x", "low", "n"), "w": ("n", "m")}


def asked(view: str, version: int, ve: int = 2, catalog: int = 0) -> RawRecords:
    region = Region(FilterShape(view, SHOWN[view], (), (), (), ()), b"[]", terms=encode_terms([{}]))
    header = Header("register", 7, f"{view}/0", ve=ve, catalog=catalog)
    values = pack_registrations(header, [version], [region])
    return records(TOPICS.registrations, [(f"{view}/0".encode(), value) for value in values], partition=ve)


def withdrawn(view: str, ve: int = 2) -> RawRecords:
    value = encode_control(Withdraw(7, ve, [ImageChannel(view)]))
    return records(TOPICS.registrations, [(f"{view}/0".encode(), value)], partition=ve)


def sent(result: GroupResult, shard: str) -> list[Any]:
    return [unpack(record.value or b"") for record in notified(result) if record.key == shard.encode()]


def notified(result: GroupResult) -> Iterator[OutRecord]:
    return (record for record in result.out if record.topic == TOPICS.notifications)


def answer(result: GroupResult, view: str) -> list[list[Any]]:
    (snapshot, *_) = sent(result, f"{view}/0")
    assert isinstance(snapshot, PackedSnapshot) and isinstance(snapshot.replies[0], Rows)
    return sorted(decode_row(row) for row in snapshot.replies[0].rows)


def counters(result: GroupResult) -> dict[str, dict[str, Any]]:
    told = (msgspec.json.decode(record.value or b"") for record in result.out if record.topic == TOPICS.engines)
    return {each["shard"]: each for each in told}


def stored(result: GroupResult) -> Mapping[str, Mapping[str, Any]]:
    return StoredGroup.read("t/0", result.state).members


def kept(result: GroupResult) -> dict[str, bytes]:
    """Return what stands of the table, but for its counters."""
    return {name: bytes(section) for name, section in stored(result)["t/0"].items() if name != "memory"}


LOADED = process_group(SPEC, 0, None, [rows((1, 3, 30), (2, 3, 20), (3, 4, 99), (4, 5, 50))])


def test_nobody_asks_and_nothing_is_computed_or_kept() -> None:
    assert [*stored(LOADED)] == ["t/0"] and [*counters(LOADED)] == ["t/0"]
    alone = process_group(replace(SPEC, catalog=apply_ddl(Catalog(), T, 0)), 0, None, [rows((1, 3, 30))])
    beside = process_group(SPEC, 0, None, [rows((1, 3, 30))])
    assert [kept(one) for one in (alone, beside)] == 2 * [kept(alone)], "the bytes are those of a group without views"
    told = [counters(one)["t/0"] for one in (alone, beside)]
    skipped = [one.pop("skipped") for one in told]
    assert skipped[0] == 0 < skipped[1] and told[0] == told[1], "but that it is counted what was not computed"


def test_the_first_registration_builds_the_rows_as_they_are_before_the_batch() -> None:
    result = process_group(SPEC, 1, LOADED.state, [asked("v", 11), rows((2, 3, 10), (3, 4, 1), first=4)])
    assert answer(result, "v") == [[3, 20, 2], [5, 50, 1]]
    _, images = sent(result, "v/0")
    assert isinstance(images, PackedImages) and images.offset.tolist() == [4, 5] and images.rows.tolist() == [0, 1]
    assert images.header.topics == ["t"] and images.header.last_seq == 1
    assert sorted(stored(result)) == ["stage/v/0/0", "t/0", "v/0"]
    assert counters(result)["v/0"]["rows"] == 3 and counters(result)["v/0"]["messages"] == 2
    after = process_group(SPEC, 2, result.state, [rows((4, 5, 95), first=6)])
    (images,) = sent(after, "v/0")
    assert images.rows.tolist() == [-1] and images.seq.tolist() == [2]


def test_its_bytes_are_those_of_its_stages() -> None:
    first = process_group(SPEC, 1, LOADED.state, [asked("w", 11)])
    then = process_group(SPEC, 2, first.state, [rows((4, 3, 50), first=4)])
    members = {
        shard: ShardState.open(CATALOG.relation_of(shard), shard, sections)
        for shard, sections in stored(first).items()
        if shard in ("v/0", "w/0")
    }
    told = counters(then)
    assert told["v/0"]["bytes"] > members["v/0"].bytes > 0, "it has an inner stage"
    assert told["w/0"]["bytes"] == members["w/0"].bytes, "it has none; what it reads is another view"


def test_who_reads_a_view_lets_it_be_computed_and_it_says_nothing_itself() -> None:
    result = process_group(SPEC, 1, LOADED.state, [asked("w", 11)])
    assert answer(result, "w") == [[1, 1], [2, 1]] and sent(result, "v/0") == []
    assert sorted(stored(result)) == ["stage/v/0/0", "t/0", "v/0", "w/0"]
    after = process_group(SPEC, 2, result.state, [rows((4, 3, 50), first=4)])
    assert [notice.key for notice in notified(after)] == [b"w/0"]
    (images,) = sent(after, "w/0")
    assert images.cause.tolist() == [0, 0, 0] and images.offset.tolist() == [4, 4, 4], "all of one publication"
    assert [*counters(after)] == ["t/0", "v/0", "w/0"]


def test_when_the_last_withdraws_the_rows_go_and_the_numbers_stay() -> None:
    first = process_group(SPEC, 1, LOADED.state, [asked("w", 11), asked("v", 12, 3)])
    then = process_group(SPEC, 2, first.state, [withdrawn("v", 3), rows((4, 5, 51), first=4)])
    assert sorted(stored(then)) == ["stage/v/0/0", "t/0", "v/0", "w/0"] and counters(then)["v/0"]["rows"] == 2
    last = process_group(SPEC, 3, then.state, [withdrawn("w"), rows((4, 5, 52), first=5)])
    kept = stored(last)
    assert sorted(kept) == ["t/0", "v/0", "w/0"] and [*kept["v/0"]] == ["declared", "memory"]
    told = counters(last)
    assert (told["v/0"]["rows"], told["w/0"]["rows"], told["w/0"]["bytes"]) == (0, 0, 0)
    assert stored(last)["t/0"].keys() == stored(LOADED)["t/0"].keys(), "no ordering is left"
    again = process_group(SPEC, 4, last.state, [asked("v", 13), rows((4, 5, 53), first=6)])
    assert answer(again, "v") == [[3, 20, 2], [5, 52, 1]]
    seq = counters(then)["v/0"]["messages"] - 1
    assert sent(again, "v/0")[1].seq.tolist() == [seq + 1]


def test_a_look_leaves_nothing_behind() -> None:
    result = process_group(SPEC, 1, LOADED.state, [asked("v", -3)])
    assert answer(result, "v") == [[3, 20, 2], [5, 50, 1]]
    assert [*stored(result)] == ["t/0"] and result.state == LOADED.state


def test_a_registration_that_is_refused_leaves_nothing_behind() -> None:
    spec = replace(SPEC, bounds=Bounds(state_bytes=10))
    shape = Shape("v", (Output("min", "low"),), (), "n")
    header = Header("register", 7, "v/0", ve=2, catalog=0)
    (value,) = pack_registrations(header, [11], [Region(shape, group_key(()), 0, 9)])
    result = process_group(spec, 1, LOADED.state, [records(TOPICS.registrations, [(b"v/0", value)], partition=2)])
    (snapshot,) = sent(result, "v/0")
    assert isinstance(snapshot.replies[0], Refused) and snapshot.replies[0].code == "quota"
    assert sorted(stored(result)) == ["t/0"]
    told = process_group(SPEC, 1, LOADED.state, [asked("v", 11)])
    both = counters(told)["v/0"]["held"]["shard_state_mb"][0]
    assert both > counters(told)["v/0"]["bytes"] + counters(LOADED)["t/0"]["bytes"], "tables and stages count together"


def test_questions_of_ranges_are_told_as_of_a_table() -> None:
    shape = Shape("v", (Output("max", "low"),), (), "n")
    header = Header("register", 7, "v/0", ve=1, catalog=0)
    (value,) = pack_registrations(header, [11], [Region(shape, group_key(()), 1, 1)])
    batch = [records(TOPICS.registrations, [(b"v/0", value)], partition=1), rows((4, 5, 49), (3, 4, 60), first=4)]
    snapshot, messages = sent(process_group(SPEC, 1, LOADED.state, batch), "v/0")
    assert isinstance(messages, PackedMessages) and snapshot.new.tolist() == [50]
    assert messages.messages.new.tolist() == [49, 60] and messages.offset.tolist() == [4, 5]


def test_a_view_that_is_made_again_begins_anew_and_one_that_is_dropped_is_forgotten() -> None:
    first = process_group(SPEC, 1, LOADED.state, [asked("w", 11)])
    catalog = apply_ddl(CATALOG, f"DROP VIEW w; DROP VIEW v; {V.replace('90', '40')}", 1)
    spec = replace(SPEC, catalog=catalog)
    then = process_group(spec, 2, first.state, [rows((1, 3, 31), first=4)])
    assert [*stored(then)] == ["t/0"] and [*notified(then)] == [], "nobody listens to the new one"
    again = process_group(spec, 3, then.state, [asked("v", 12, catalog=1), asked("v", 9, 3, catalog=0)])
    assert answer(again, "v") == [[3, 20, 2]]
    assert counters(again)["v/0"]["ignored_registrations"] == 1, "for the one before"
    gone = replace(SPEC, catalog=apply_ddl(Catalog(), T, 0))
    last = process_group(gone, 2, first.state, [rows((1, 3, 31), first=4)])
    plain = process_group(gone, 2, LOADED.state, [rows((1, 3, 31), first=4)])
    assert last.state == plain.state, "not even an ordering is left of it"


def test_rows_that_another_version_made_otherwise_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    first = process_group(SPEC, 1, LOADED.state, [asked("v", 11)])
    monkeypatch.setattr(views, "_PLAN_BYTES", 8)
    result = process_group(SPEC, 2, first.state, [rows((4, 5, 49), first=4)])
    (images,) = sent(result, "v/0")
    assert images.rows.tolist() == [0] and images.seq.tolist() == [0]
    assert len(bytes(stored(result)["v/0"]["plan"])) == 8


def test_what_reads_rows_that_are_made_anew_is_made_anew_too() -> None:
    other = apply_ddl(Catalog(), f"{T}; {V.replace('y < 90', 'y < 91')}; {W}", 0)
    plans = [views._plans(replace(SPEC, catalog=catalog).stages) for catalog in (CATALOG, other)]
    assert plans[0].keys() == plans[1].keys() == {"stage/v/0/0", "v/0", "w/0"}
    assert not {*plans[0].values()} & {*plans[1].values()} and len({*plans[0].values()}) == 3


def test_base_and_delta_make_what_each_member_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as is written: of stages that get their rows, keep and lose them."""
    compared: list[str] = []

    def dump(self: Group, head: bytes | None = None) -> bytes:
        for shard, member in self._open.items():
            for sections in (self._stored.get(shard),):
                if sections is not None:
                    delta = read_delta(shard, write_delta(shard, member.delta()))
                    again = ShardState.open(member.relation, shard, sections, [delta])
                    assert again is not None
                    again.table.order_by(member.table.besides)
                    assert again.base().keys() == member.base().keys(), shard
                    assert {k: bytes(v) for k, v in again.base().items()} == {
                        k: bytes(v) for k, v in member.base().items()
                    }, shard
                    compared.append(shard)
        return whole(self, head)

    whole = Group.dump
    monkeypatch.setattr(Group, "dump", dump)
    state, offset = LOADED.state, 4
    steps = [[asked("w", 11)], [asked("v", 12, 3)], [], [withdrawn("v", 3)], [withdrawn("w")], [asked("v", 13)], []]
    for batch, step in enumerate(steps, 1):
        changed = rows((batch % 4, batch % 3, 10 * batch), (9, 3, batch), first=offset)
        state, offset = process_group(SPEC, batch, state, [*step, changed]).state, offset + 2
    assert {*compared} == {"t/0", "stage/v/0/0", "v/0", "w/0"} and compared.count("v/0") > 4


def test_what_only_a_dropped_view_read_has_no_rows_any_more() -> None:
    """Its rows were kept, and stood still: whoever asked later was told those of back then."""
    first = process_group(SPEC, 1, LOADED.state, [asked("w", 11)])
    spec = replace(SPEC, catalog=apply_ddl(CATALOG, "DROP VIEW w", 1))
    then = process_group(spec, 2, first.state, [rows((2, 3, 10), (3, 4, 1), first=4)])
    assert sorted(stored(then)) == ["t/0"]
    assert answer(process_group(spec, 3, then.state, [asked("v", 12)]), "v") == [[3, 10, 2], [4, 1, 1], [5, 50, 1]]
