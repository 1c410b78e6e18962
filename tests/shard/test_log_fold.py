from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.log import publication_log
from connectors.log.publication_log import PublicationLog
from connectors.placement import Member, Placement
from operators.stored_rows import stored_rows
from shard.group import Group, alone
from shard.log_fold import fold_groups, fold_log
from tests.connectors.small_log import Published, SmallLog, small_log
from tests.effort import deep_examples, examples
from tests.shard import test_stream_pipeline as streams

RELATION = apply_ddl(Catalog(), "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT)", 0).relations["stock"]


def change(offset: int, key: int, price: int | None, partition: int = 0, topic_id: str = "id") -> Published:
    value = None if price is None else json.dumps({"id": key, "price": price}).encode()
    return Published("stock", partition, offset, json.dumps({"id": key}).encode(), value, offset, topic_id)


def rows_at(log: SmallLog, version: int) -> list[object]:
    opened = PublicationLog(log.uri)
    state = fold_log(opened, RELATION, opened.at_version(version))
    return [(row["id"], row["price"]) for row in stored_rows(RELATION, state.table.stored)]


def test_rows_at_each_version(tmp_path: Path) -> None:
    log = small_log(tmp_path)
    log.commit([change(0, 1, 5), change(1, 2, 6)])
    log.commit([change(2, 1, None), Published("stock", 0, 3, b"{}", b"not a row", 3)])
    log.commit([change(0, 7, 7, topic_id="again")])
    assert [rows_at(log, version) for version in range(3)] == [[(1, 5), (2, 6)], [(2, 6)], [(7, 7)]]


def test_a_topic_without_a_record(tmp_path: Path) -> None:
    log = small_log(tmp_path)
    log.commit([Published("bond", 0, 0, None, b"x", 0)])
    assert rows_at(log, 0) == []


@settings(max_examples=examples(15), deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=6), max_size=4)
)
def test_against_a_dictionary_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[tuple[int, int | None]]]
) -> None:
    log, held, offsets = small_log(tmp_path_factory.mktemp("log")), dict[int, int](), [0, 0]
    expected: list[list[tuple[int, int]]] = []
    for version in versions:
        rows = []
        for key, price in version:
            rows.append(change(offsets[key % 2], key, price, key % 2))
            offsets[key % 2] += 1
            held.pop(key, None) if price is None else held.update({key: price})
        log.commit(rows)
        expected.append(sorted(held.items()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publication_log, "CHUNK", 4)
        assert [rows_at(log, number) for number in range(len(versions))] == expected


def test_buckets_hold_together_what_one_shard_holds(tmp_path: Path) -> None:
    ddl = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT) WITH ('buckets'='3', 'bucket.by'='id')"
    relation = apply_ddl(Catalog(), ddl, 0).relations["stock"]
    log = small_log(tmp_path)
    log.commit([change(offset, offset % 9, offset) for offset in range(30)])
    log.commit([change(30, 4, None), change(31, 5, 7)])
    opened = PublicationLog(log.uri)
    catalog = Catalog(0, {"stock": relation})
    states = dict(fold_groups(opened, catalog, Placement.of(catalog), opened.newest.cut))
    assert list(states) == list(relation.shards)
    parts = {shard: alone(relation, shard, state) for shard, state in states.items()}
    assert all(state.table.rows for state in parts.values())
    rows = list(stored_rows(relation, *(state.table.stored for state in parts.values())))
    assert rows == list(stored_rows(relation, fold_log(opened, relation, opened.newest.cut).table.stored))


def test_a_row_without_a_key_is_in_no_bucket(tmp_path: Path) -> None:
    ddl = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT) WITH ('buckets'='3', 'bucket.by'='id')"
    relation = apply_ddl(Catalog(), ddl, 0).relations["stock"]
    log = small_log(tmp_path)
    log.commit([change(0, 1, 5), Published("stock", 0, 1, None, b'{"id": 2, "price": 6}', 1)])
    opened = PublicationLog(log.uri)
    state = fold_log(opened, relation, opened.newest.cut)
    assert [row["id"] for row in stored_rows(relation, state.table.stored)] == [1]
    assert state.counters.dead == 1


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.booleans()), min_size=1, max_size=8), max_size=3))
def test_a_group_of_several_topics_holds_what_each_alone_does(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[tuple[int, int, int, bool]]]
) -> None:
    """Two tables, one of them also in another group by buckets; times are equal, or go back."""
    ddl = "CREATE TABLE bond (id BIGINT PRIMARY KEY, price BIGINT) WITH ('buckets'='2', 'bucket.by'='id')"
    bond = apply_ddl(Catalog(), ddl, 0).relations["bond"]
    catalog = Catalog(0, {"stock": RELATION, "bond": bond})
    log, offset = small_log(tmp_path_factory.mktemp("log")), 0
    for version in [[(0, 0, 0, True), (1, 1, 1, False)], *versions]:
        rows = []
        for key, price, micros, stock in version:
            value, topic = json.dumps({"id": key, "price": price}).encode(), "stock" if stock else "bond"
            rows.append(Published(topic, 0, offset, json.dumps({"id": key}).encode(), value, micros))
            offset += 1
        log.commit(rows)
    opened = PublicationLog(log.uri)
    own = dict(fold_groups(opened, catalog, Placement.of(catalog), opened.newest.cut))
    members = [Member("bond/0", bond, 0), Member("stock/0", RELATION)]
    pair = Placement({"pair": members, "bond/1": [Member("bond/1", bond, 1)]})
    folded = dict(fold_groups(opened, catalog, pair, opened.newest.cut))
    assert folded["bond/1"] == own["bond/1"]
    group = Group.open("pair", {member.name: member.relation for member in members}, folded["pair"])
    for member in members:
        one = alone(member.relation, member.name, own[member.name])
        assert list(stored_rows(member.relation, group[member.name].table.stored)) == list(
            stored_rows(member.relation, one.table.stored)
        )
        assert group[member.name].counters.decoded == one.counters.decoded


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 2**32))
def test_a_stream_has_the_windows_that_its_batches_made(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Late rows, two partitions, silences and holes: wherever the log is cut, given where silences have counted."""
    rng = Random(seed)
    parts = [streams.drawn(rng) for _ in range(rng.randint(1, 2))]
    spec = replace(streams.SPEC, counts={"s": len(parts)})
    state, letters, told = streams.played(rng, spec, parts, True)
    log = small_log(tmp_path_factory.mktemp("log"))
    log.mark = msgspec.structs.replace(log.mark, ids={"s": "id"}, end={"s": {str(p): 0 for p in range(len(parts))}})
    log.commit([row for p, part in enumerate(parts) for row in _published(p, part)])
    opened = PublicationLog(log.uri)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publication_log, "CHUNK", rng.choice((1, 3, 100)))
        placement, given_ = Placement.of(streams.CATALOG), {"s": tuple(told)}
        made = dict(fold_groups(opened, streams.CATALOG, placement, opened.newest.cut, silenced=given_))["s/0"]
    if not any(parts):
        return
    assert streams.left_of(streams.folded(made), made) == streams.left_of(streams.folded(state), state)
    rebuilt, played = (alone(streams.CATALOG.relations["s"], "s/0", one).horizon for one in (made, state))
    assert rebuilt is not None and played is not None
    assert (rebuilt.late, rebuilt.upto) == (sum(code == "late" for code in letters.values()), played.upto)
    assert [each.floor(0) for each in rebuilt.domains] == [each.floor(0) for each in played.domains]


def _published(partition: int, part: list[streams.Row]) -> list[Published]:
    records = streams.events(*part, partition=partition)
    return [
        Published("s", partition, offset, b"whatever", value, stamp)
        for offset, (value, stamp) in enumerate(zip(records.values, records.timestamp.tolist(), strict=True))
    ]
