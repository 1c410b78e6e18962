"""A stream with a view through the stages of a group: what counts, what is kept, what edges hear of its horizon."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from operators.control import Silence, encode_control
from operators.packed import Header, PackedImages, PackedMessages, PackedSnapshot, pack_registrations, unpack
from operators.record_error import HORIZON_FORMAT
from operators.reply import Refused, Rows, decode_row
from operators.silenced import Silenced
from operators.wire.header import NO_HORIZON
from shard.group import Group, StoredGroup
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from shard.view_rows import view_rows
from tests.effort import examples
from tests.shard.test_pipeline import TOPICS, records, rows

SECOND, MINUTE = 1_000_000, 60_000_000
S = (
    "CREATE STREAM s (g VARCHAR, x INTEGER, ts TIMESTAMP) WITH "
    "('topic'='s', 'event_time'='ts', 'lateness'='10 s', 'ahead'='60 s', 'keep'='2 min')"
)
V = (
    "CREATE VIEW v AS SELECT g, DATE_TRUNC('minute', ts) AS minute, MIN(x) AS low, LATEST(x BY ts) AS last, "
    "COUNT(*) AS n FROM s WHERE x < 90 GROUP BY g, DATE_TRUNC('minute', ts)"
)
STREAM = apply_ddl(Catalog(), S, 0)
CATALOG = apply_ddl(STREAM, V, 1)
SPEC = GroupSpec(7, "s/0", CATALOG, TOPICS, 4, counts={"s": 1})
Row = tuple[str | None, int | None, int | None]
"""g, x, and the seconds of the event time; None: no row."""


def moment(seconds: int) -> str:
    return f"2026-03-02T10:{seconds // 60:02}:{seconds % 60:02}"


START = int(np.datetime64("2026-03-02T10:00:00", "us").astype(np.int64))


def events(*rows: Row | None, partition: int = 0, first: int = 0, late: int = 0) -> RawRecords:
    """Return records that come at their event times, or so much later."""
    values = [
        None
        if row is None
        else json.dumps({"g": row[0], "x": row[1], "ts": None if row[2] is None else moment(row[2])})
        for row in rows
    ]
    part = records("s", [(b"whatever", value and value.encode()) for value in values], partition, first)
    seconds = [0 if row is None or row[2] is None else row[2] for row in rows]
    return replace(part, timestamp=START + (np.array(seconds, np.int64) + late) * SECOND)


def asked(version: int = 11, ve: int = 2) -> RawRecords:
    region = Region(
        FilterShape("v", ("g", "minute", "low", "last", "n"), (), (), (), ()), b"[]", terms=encode_terms([{}])
    )
    values = pack_registrations(Header("register", 7, "v/0", ve=ve, catalog=1), [version], [region])
    return records(TOPICS.registrations, [(b"v/0", value) for value in values], partition=ve)


def silent(upto: int, after: int, partition: int = 0, hole: bool = False) -> RawRecords:
    value = encode_control(Silence("s", partition, after, START + upto * SECOND, hole))
    return records(TOPICS.registrations, [(b"s/0", value)])


def sent(result: GroupResult) -> list[Any]:
    return [unpack(record.value or b"") for record in result.out if record.topic == TOPICS.notifications]


def dead(result: GroupResult) -> list[tuple[str, int]]:
    letters = [json.loads(record.value or b"") for record in result.out if record.topic == TOPICS.dead_letters]
    return [(letter["code"], letter["offset"]) for letter in letters]


def silenced(result: GroupResult) -> list[Silenced]:
    told = [record for record in result.out if record.topic == TOPICS.silences]
    found = [msgspec.json.decode(record.value or b"", type=Silenced) for record in told]
    assert [record.key for record in told] == [one.key for one in found]
    return found


def counters(result: GroupResult) -> dict[str, dict[str, Any]]:
    told = (json.loads(record.value or b"") for record in result.out if record.topic == TOPICS.engines)
    return {each["shard"]: each for each in told}


def folded(state: bytes | None) -> dict[tuple[str, int], list[Any]]:
    """Return the fold's rows by g and minute: MIN, LATEST, COUNT."""
    fold = CATALOG.views["v"].stages[-2].relation
    member = f"{fold.name}/0"
    store = Group.open("s/0", {member: fold}, state)[member].table.stored
    rows = (store.image(row) for row in range(len(store)))
    return {(row[0], (row[1] - START) // MINUTE): row[2:5] for row in rows}


def left_of(rows: dict[tuple[str, int], list[Any]], state: bytes | None) -> dict[tuple[str, int], list[Any]]:
    """Return those of windows that are kept."""
    horizon = Group.open("s/0", {"s/0": CATALOG.relations["s"]}, state)["s/0"].horizon
    upto = NO_HORIZON if horizon is None else horizon.upto
    return {key: row for key, row in rows.items() if START + (key[1] + 3) * MINUTE > upto}


def answer(spec: GroupSpec, state: bytes | None) -> list[Any]:
    snapshot = sent(process_group(spec, 99, state, [asked()]))[0]
    assert isinstance(snapshot, PackedSnapshot) and isinstance(snapshot.replies[0], Rows)
    return sorted((decode_row(row) for row in snapshot.replies[0].rows), key=repr)


def test_nobody_asks_and_the_fold_goes_on() -> None:
    result = process_group(SPEC, 0, None, [events(("a", 5, 0), ("b", 7, 61), ("a", 95, 62), ("a", 3, 1), ("a", 9, 62))])
    assert dead(result) == [("late", 3)] and [*counters(result)] == ["s/0"]
    told = counters(result)["s/0"]
    assert told["decoded"] == 4 and told["dead"] == 1 and told["rows"] == 0
    assert told["stream"] == {
        "late": 1, "ahead": 0, "unfolded": 0, "upto": START + 52 * SECOND,
        "partitions": [[5, START + 62 * SECOND, START + 52 * SECOND, False]],
    }  # fmt: skip
    assert [*StoredGroup.read("s/0", result.state).members] == ["s/0", "stage/v/1/0"]
    assert folded(result.state) == {("a", 0): [5, 5, 1], ("b", 1): [7, 7, 1], ("a", 1): [9, 9, 1]}
    then = process_group(SPEC, 1, result.state, [events(("b", 8, 63), first=5)])
    assert folded(then.state)["b", 1] == [7, 8, 2]
    assert [row[2:] for row in answer(SPEC, then.state)] == [[5, 5, 1], [9, 9, 1], [7, 8, 2]]


def test_what_does_not_count_is_a_dead_letter_with_its_key() -> None:
    come = [events(("a", 1, 30), None, ("a", 1, None), ("a", 1, 20)), events(("a", 1, 100), first=4, late=-61)]
    result = process_group(SPEC, 0, None, [*come, events(("a", 1, 19), first=5)])
    assert dead(result) == [("tombstone", 1), ("null_not_allowed", 2), ("ahead", 4), ("late", 5)]
    letters = [json.loads(record.value or b"") for record in result.out if record.topic == TOPICS.dead_letters]
    assert {letter["key"] for letter in letters} == {"d2hhdGV2ZXI="}
    assert "2026-03-02T10:00:19 is before 2026-03-02T10:00:20" in letters[-1]["message"]
    assert folded(result.state) == {("a", 0): [1, 1, 2]}


def test_edges_hear_how_far_it_is_with_what_they_are_sent_and_when_a_window_has_ended() -> None:
    first = process_group(SPEC, 0, None, [events(("a", 5, 30))])
    result = process_group(SPEC, 1, first.state, [asked(), asked(12, 3), events(("a", 4, 40), first=1)])
    edges = [record.partition for record in result.out if record.topic == TOPICS.notifications]
    told = sent(result)
    assert edges == [2, 2, 3, 3] and [type(each) for each in told] == 2 * [PackedSnapshot, PackedImages]
    assert [each.header.horizon for each in told[:2]] == [START + 20 * SECOND, START + 30 * SECOND]
    assert {each.header.format for each in told} == {HORIZON_FORMAT}
    after = process_group(SPEC, 2, result.state, [events(("a", 95, 71), first=2)])
    told = sent(after)
    assert [(type(each), len(each.seq)) for each in told] == [(PackedMessages, 0), (PackedMessages, 0)]
    assert [each.header.horizon for each in told] == 2 * [START + 61 * SECOND] and told[0].header.of == 1
    assert sent(process_group(SPEC, 3, after.state, [events(("a", 95, 75), first=3)])) == [], "no window has ended"


def test_before_there_is_a_horizon_headers_say_nothing() -> None:
    result = process_group(SPEC, 0, None, [asked(), events(("a", None, None))])
    (snapshot,) = sent(result)
    assert snapshot.header.horizon == NO_HORIZON and snapshot.header.format < HORIZON_FORMAT


def test_a_silence_ends_windows_and_is_told() -> None:
    first = process_group(SPEC, 0, None, [asked(), events(("a", 5, 30))])
    result = process_group(SPEC, 1, first.state, [silent(80, 1)])
    assert silenced(result) == [Silenced("s", 0, 0, 1, START + 80 * SECOND)]
    (told,) = sent(result)
    assert told.header.horizon == START + 70 * SECOND and not len(told.seq)
    again = process_group(
        replace(SPEC, silenced={"s": tuple(silenced(result))}), 0, None, [events(("a", 5, 30), ("b", 1, 69))]
    )
    assert dead(again) == [("late", 1)] and silenced(again) == []


def test_windows_are_kept_for_a_while_and_deleted_then() -> None:
    first = process_group(SPEC, 0, None, [asked(), events(("a", 5, 30), ("b", 6, 61))])
    assert len(folded(first.state)) == 2
    result = process_group(SPEC, 1, first.state, [events(("c", 5, 190), first=2)])
    assert len(folded(result.state)) == 3, "nothing goes in the batch that lets it, in which it may be final"
    nothing = process_group(SPEC, 2, result.state, [silent(190, 3), events(("c", 1, 1), first=3)])
    assert len(folded(nothing.state)) == 3, "nor without a row that counts"
    result = process_group(SPEC, 3, nothing.state, [events(("c", 5, 190), ("c", 95, 191), first=4)])
    assert sorted(folded(result.state)) == [("b", 1), ("c", 3)]
    (images,) = sent(result)
    assert images.offset.tolist()[-1] == 5 and images.rows.tolist()[-1] == -1, "the last row has done it"
    quiet = process_group(SPEC, 4, result.state, [silent(251, 6)])
    assert len(folded(quiet.state)) == 2
    at_once = process_group(
        SPEC, 5, quiet.state, [events(("d", 1, 252), ("d", 1, 999), ("e", 1, 1000), first=6, late=99)]
    )
    assert sorted(folded(at_once.state)) == [("c", 3), ("d", 4), ("d", 16), ("e", 16)]
    after = process_group(SPEC, 6, at_once.state, [events(("e", 95, 1000), first=9)])
    assert sorted(folded(after.state)) == [("d", 16), ("e", 16)]


def of_minute(minute: int, version: int, live: bool = False) -> RawRecords:
    shape = FilterShape("v", ("g", "minute", "low", "last", "n"), (), ("minute",), (), ())
    code = START + minute * MINUTE
    region = Region(shape, b"[]", terms=encode_terms([{0: ValueSet(((code, code),))}]))
    values = pack_registrations(
        Header("register", 7, "v/0", ve=2, catalog=1), [version], [region], live=[live] if live else None
    )
    return records(TOPICS.registrations, [(b"v/0", value) for value in values], partition=2)


@pytest.mark.parametrize("live", [False, True])
def test_who_asks_about_a_window_that_is_kept_no_more_is_refused(live: bool) -> None:
    first = process_group(SPEC, 0, None, [events(("a", 5, 30), ("b", 6, 61), ("c", 5, 189))])
    there = process_group(SPEC, 1, first.state, [of_minute(0, 11, live), events(("c", 5, 190), first=3)])
    (snapshot, *_) = sent(there)
    assert isinstance(snapshot.replies[0], Rows), "complete to 10:02:59"
    for come in ([], [events(("c", 5, 190), first=4)]):
        gone = process_group(SPEC, 2, there.state, [of_minute(0, 12, live), *come])
        (snapshot, *_) = sent(gone)
        assert isinstance(snapshot, PackedSnapshot)
        assert snapshot.replies[0] == Refused(
            "window_gone",
            "rows that it is about have gone: they were kept until event time was complete to 2026-03-02T10:03:00, "
            "and it is to 2026-03-02T10:03:00",
            "Ask about later windows, or declare the stream with a longer `keep`.",
        )
    later = process_group(SPEC, 2, there.state, [of_minute(1, 12, live), asked(13)])
    assert all(isinstance(reply, Rows) for told in sent(later) for reply in told.replies.values())


def test_a_view_that_comes_later_takes_whole_windows() -> None:
    bare = replace(SPEC, catalog=STREAM)
    first = process_group(bare, 0, None, [events(("a", 5, 30))])
    result = process_group(SPEC, 1, first.state, [events(("a", 4, 40), ("a", 7, 59), ("a", 6, 60), first=1)])
    assert folded(result.state) == {("a", 1): [6, 6, 1]}
    assert counters(result)["s/0"]["stream"]["unfolded"] == 2 and dead(result) == []
    on_the_edge = process_group(bare, 0, None, [events(("a", 5, 60))])
    result = process_group(SPEC, 1, on_the_edge.state, [events(("a", 4, 60), ("a", 4, 120), first=1)])
    assert folded(result.state) == {("a", 2): [4, 4, 1]}, "a row of the window that begins then has passed"


def test_a_fold_that_is_made_otherwise_begins_anew() -> None:
    other = apply_ddl(STREAM, V.replace("x < 90", "x < 80"), 1)
    first = process_group(SPEC, 0, None, [events(("a", 5, 30))])
    result = process_group(replace(SPEC, catalog=other), 1, first.state, [events(("a", 4, 40), ("a", 4, 60), first=1)])
    assert folded(result.state) == {("a", 1): [4, 4, 1]}


def test_rows_of_a_view_are_made_of_what_the_fold_has() -> None:
    result = process_group(SPEC, 0, None, [events(("a", 5, 0), ("b", 7, 61))])
    (shard,) = view_rows(CATALOG.views["v"], CATALOG, {"s/0": result.state})
    assert sorted(shard.table.stored.image(row)[2] or 0 for row in range(shard.table.rows)) == [5, 7]


def test_a_group_that_knows_no_stream_has_the_bytes_of_before() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER)", 0)
    result = process_group(GroupSpec(7, "t/0", catalog, TOPICS, 4), 0, None, [rows((1, 2, 3))])
    assert {*StoredGroup.read("t/0", result.state).members["t/0"]}.isdisjoint({"horizon", "begin"})
    assert all(b"stream" not in (record.value or b"") for record in result.out)


@settings(max_examples=examples(120), deadline=None)
@given(st.integers(0, 2**32))
def test_however_batches_are_cut(seed: int) -> None:
    rng = Random(seed)
    parts = [drawn(rng) for _ in range(rng.randint(1, 2))]
    spec = replace(SPEC, counts={"s": len(parts)})
    state, letters, told = played(rng, spec, parts, True)
    given_ = replace(spec, silenced={"s": tuple(told)})
    for _ in range(2):
        again, other, more = played(rng, given_, parts, False)
        assert other == letters and more == []
        left, kept = left_of(folded(again), again), left_of(folded(state), state)
        assert left == kept, "what is old goes in some batch"
    counted = [
        (row, p, o) for p, part in enumerate(parts) for o, row in enumerate(part)
        if (p, o) not in letters and row[1] is not None and row[1] < 90
    ]  # fmt: skip
    for (g, minute), (low, last, n) in folded(state).items():
        mine = [row for row, _, _ in counted if row[0] == g and row[2] // 60 == minute]
        latest = max((row[2], row[1]) for row in mine)[1]
        assert [low, last, n] == [min(row[1] for row in mine), latest, len(mine)]


def drawn(rng: Random) -> list[Any]:
    at, rows = 0, []
    for _ in range(rng.randint(0, 10)):
        at += rng.choice((0, 5, 20, 60))
        rows.append((rng.choice("ab"), rng.choice((1, 2, 95, None)), max(0, at - rng.choice((0, 0, 5, 20)))))
    return rows


def played(
    rng: Random, spec: GroupSpec, parts: Sequence[list[Any]], quiet: bool
) -> tuple[bytes | None, dict[tuple[int, int], str], list[Silenced]]:
    """Return the state, why rows did not count, and where silences have counted."""
    state, at, letters, told, batch = None, [0] * len(parts), dict[tuple[int, int], str](), list[Silenced](), 0
    while batch == 0 or any(a < len(part) for a, part in zip(at, parts, strict=True)):
        come: list[RawRecords] = []
        for p, part in enumerate(parts):
            more = part[at[p] : at[p] + rng.randint(0, 4)]
            if more:
                come.append(events(*more, partition=p, first=at[p], late=rng.choice((0, 3)) * 0))
            at[p] += len(more)
        if quiet and rng.random() < 0.4:
            come.append(silent(rng.randint(0, 200), rng.randint(0, 8), rng.randrange(len(parts)), rng.random() < 0.2))
        if rng.random() < 0.3:
            come.append(asked(batch))
        result = process_group(spec, batch, state, come)
        assert result == process_group(spec, batch, state, come)
        state, batch = result.state, batch + 1
        told += silenced(result)
        for record in result.out:
            if record.topic == TOPICS.dead_letters:
                letter = json.loads(record.value or b"")
                letters[letter["partition"], letter["offset"]] = letter["code"]
    return state, letters, [*{one.key: one for one in told}.values()]
