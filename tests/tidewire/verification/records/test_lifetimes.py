"""Lives put together from three topics: versions, successors, progress."""

import json
import random
from contextlib import suppress

import duckdb
import pytest
from hypothesis import example, given, settings

from overlay.intake.subscription_request import Request, read_request
from tests.effort import deep_examples
from tests.overlay import odd_records
from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine
from tidewire.verification.records.journal import Record, TopicLog
from tidewire.verification.records.lifetimes import Life, _read_subscriptions, read_lives, read_query
from tidewire.verification.records.question import Query, Unreadable, is_pushed, parse

DATABASE = duckdb.connect()


def test_versions_successors_and_what_follows() -> None:
    engine = SimulatedEngine()
    engine.subscribe("s", Asked())
    engine.run_batch()
    engine.subscribe("s", Asked("MAX"))
    engine.subscribe("s", Asked("MIN", 0, 1))
    engine.run_batch()
    engine.unsubscribe("s")
    lives = read_lives(engine.journal())
    first, refused, last = lives.lives
    assert (first.replaced_at, first.next_record) == ((3, 0), "query")
    assert (refused.delivered, refused.replaced_at) == ([], (3, 0))
    assert ([d.kind for d in last.delivered], last.replaced_at, last.next_record) == (
        ["snapshot", "ended"],
        None,
        "tombstone",
    )
    assert last.live_at == (3, 0)
    assert last.query == Query(Asked("MIN", 0, 1).sql)
    assert lives.latest(0) == (3, 1)


def test_a_life_is_known_by_its_snapshot_alone() -> None:
    engine = SimulatedEngine()
    engine.subscribe("s", Asked())
    engine.run_batch()
    engine.logs["subscriptions"].clear()
    engine.logs["acks"].clear()
    [life] = read_lives(engine.journal()).lives
    assert life.query == Query(Asked().sql, whole=False)


def test_malformed_records_are_told() -> None:
    engine = SimulatedEngine()
    engine._append("deliveries", 0, b"s", b"{}")
    assert len(read_lives(engine.journal()).malformed) == 1
    assert read_query(b"{}") is None and read_query(b"\xff") is None and read_query(b"[1]") is None
    assert read_query(b'{"sql":7}') is None and read_query(b'{"template":"?","params":"ab"}') is None
    template = json.dumps({"template": "x = ?", "params": [1]}).encode()
    assert read_query(template) == Query("x = ?", (1,))


def test_a_malformed_record_asks_for_nothing() -> None:
    engine = SimulatedEngine()
    engine._append("subscriptions", 0, b"s", b'{"sql":7,"deliver":"push"}')
    [life] = read_lives(engine.journal()).lives
    assert life.query is None and not life.pushed


def check(value: bytes) -> None:
    """Whatever an edge takes is read alike, and nothing stops the reading."""
    query, request = read_query(value), read_request(value)
    if isinstance(request, Request):
        sql, params = request.sql or request.template or "", tuple(request.params or ())
        assert query == Query(sql, params, request.notify, request.ttl, request.deliver)
    if query is not None:
        assert hash(query) and is_pushed(query) in (True, False)
        with suppress(Unreadable):
            parse(DATABASE, query, set())


@pytest.mark.deep
@settings(max_examples=deep_examples(500), deadline=None)
@given(odd_records.records)
@example(b'{"template":"?","params":[1e99999999999999999999]}')
@example(b'{"sql":"x","x":' + b"[" * 30_000)
@example(b'{"sql":"x","ttl":0e9999999999999999999,"ttl":60}')
@example(b'{"sql":"x","ttl":' + b"9" * 5_000 + b',"ttl":60}')
@example(b'{"sql":"push TTL ' + b"9" * 5_000 + b'","deliver":"push"}')
def test_whatever_an_edge_takes_is_read_alike_and_nothing_stops_the_reading(value: bytes) -> None:
    check(value)


def test_what_follows_each_record_is_found_as_by_looking_for_it() -> None:
    """Many replacements of an id are read from behind; here each is looked for by itself."""
    choose = random.Random(7)
    records = [
        Record(0, offset, 0, b"s%d" % choose.randrange(3), choose.choice([b'{"sql":"x"}', None]))
        for offset in range(0, 90, 3)
    ]
    log = TopicLog.of("subscriptions", records)
    lives: dict[tuple[str, int], Life] = {}
    _read_subscriptions(log, lives)
    for i, record in enumerate(records):
        later = [one for one in records[i + 1 :] if one.key == record.key]
        life = lives.get(((record.key or b"").decode(), record.offset))
        assert (life is None) == (record.value is None)
        if life is not None:
            kinds = ["tombstone" if one.value is None else "query" for one in later]
            assert life.next_record == next(iter(kinds), None)
            assert life.tombstone == next((one.offset for one in later if one.value is None), None)
