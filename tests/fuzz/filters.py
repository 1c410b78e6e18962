"""What is fuzzed of filters: conditions as users write them, and what edges and shards write of them for each other."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from hypothesis import strategies as st

from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms, encode_terms
from catalog.query.shape import Region
from catalog.sql.errors import SubscriptionError
from operators.filter_fit import FilterFit
from operators.packed import Header, pack_registrations
from operators.reply import Asked, Digest, Refused, Reply, Rows, Same, encode_row
from overlay.machine.notification import NotificationError
from shard.group import Group, alone
from shard.register import take_registrations
from state.errors import StateError
from state.row_digest import Digest as Told
from tests.catalog.query.test_filter_terms import boxes
from tests.catalog.sample import CATALOG
from tests.fuzz.mutation import damaged, mutated
from tests.operators.filter_rows import REGIONS
from tests.operators.watched import DOUBLES, RELATION, batch_of
from tests.oracle.naive_condition import random_condition
from tests.overlay.filter_bench import FilterBench, stock
from tests.shard import test_image_channel as test_shard

STOCK = CATALOG.relations["stock"]
DOMAINS: dict[str, list[Any]] = {
    "symbol": ["a", "", "it's", "\U0010ffff"], "risk": [-0.0, 5e-324], "price": ["1.005", 0], "volume": [2**63 - 1, -1],
    "open": [True, False], "day": [str(date.max), "1970-01-01"], "at": [str(datetime.min)], "ratio": [0.1],
    "wide": ["9" * 28, "-0.00000000001"], "small": [-32768],
}  # fmt: skip


def reads_terms_or_refuses(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        read = decode_terms(data)
        assert decode_terms(encode_terms(read)) == sorted(read, key=lambda box: encode_terms([box])[1:])


def compiles_to_what_fits(sql: str) -> None:
    try:
        compiled = Compiler(CATALOG).compile(sql)
    except SubscriptionError as error:
        assert error.code and str(error)
        return
    region = compiled.region
    if isinstance(region.shape, FilterShape):
        fit = FilterFit(region.shape, STOCK)
        assert not fit.why_none and not fit.why_not(region)
        assert encode_terms(decode_terms(region.terms)) == region.terms
        assert region.empty is (not decode_terms(region.terms))


def questions(seed: int) -> str:
    choose = random.Random(seed)
    shown = choose.choice(["*", "symbol, price", "COUNT(*)", "SUM(price), AVG(volume)", "day"])
    policy = choose.choice(["", " NOTIFY TRANSITIONS", " NOTIFY LATEST SNAPSHOT NONE", " NOTIFY MIN CHANGE 1"])
    return f"SELECT {shown} FROM stock WHERE {random_condition(choose, DOMAINS).sql()}{policy}"


def is_registered_or_passed_over(values: list[bytes]) -> None:
    """Good registrations beside any others are answered, and the images that follow are made: twice alike."""
    good = test_shard.registration(0, [77], [test_shard.ALL])
    taken, results = test_shard.records(0, *values, good), []
    for _ in range(2):
        made = test_shard.world((1, {"s": "a", "x": 1}))
        shard = alone(RELATION, RELATION.shard, Group(RELATION.shard, [made.member]).dump())
        try:
            snapshot = take_registrations(shard, test_shard.EPOCH, taken, test_shard.EDGES)[0]
        except StateError as newer:
            assert "a newer tidewire wrote" in str(newer)
            return
        assert 77 in snapshot.version.tolist()
        results.append(Group("t/0", [shard]).dump())
        shard.table.apply(batch_of([(2, {"e": "b", "f": 1, "x": 2, "s": None, "w": None, "d": DOUBLES[1], "y": None})]))
    assert results[0] == results[1]


def odd_registrations() -> st.SearchStrategy[bytes]:
    """Sound records of filters whose terms and digests are anything."""
    have = st.none() | st.builds(Told, *[st.integers(-1, 2**64 - 1)] * 3)
    terms = st.one_of(boxes.map(encode_terms), damaged(boxes.map(encode_terms)))
    asked = st.builds(Asked, have, st.booleans(), st.booleans())

    def record(region: Region, odd: bytes, version: int, how: Any) -> bytes:
        header = Header("register", test_shard.EPOCH, test_shard.SHARD, ve=0, catalog=0)
        one = Region(region.shape, region.group, region.lo, region.hi, region.empty, odd or region.terms)
        (value,) = pack_registrations(header, [version], [one], [False], [how])
        return value

    return st.builds(record, REGIONS, st.just(b"") | terms, st.integers(-3, 9), asked)


def told_to_edges() -> list[bytes]:
    """Return what a shard writes to an edge of filters: images, and replies of all kinds."""
    written: list[bytes] = []
    bench = FilterBench()
    bench._give = written.append  # type: ignore[assignment, method-assign]
    changes = ((None, stock("a", 600)), (stock("a", 600), stock("a", None)), (stock("b", 700), None))
    bench.images(1, *changes)
    bench.images(1, *changes, swept=True)
    rows = Rows((encode_row(["a", 600]),))
    replies: list[Reply] = [rows, Digest(1, 2, 3), Same(1, 2, 3), Refused("quota", "too many")]
    for reply in replies:
        bench.answer(1, [(0, reply), (1, reply), (-1, reply)])
    return written


def goes_on(drawn: tuple[bool, bytes]) -> None:
    """An edge with filters that reads damaged images or replies says so, or takes them; then it goes on."""
    again, value = drawn
    bench = FilterBench()
    bench.start("SELECT symbol, price FROM stock WHERE price > 5", ("a", 600))
    bench.ask(1, "b", "SELECT symbol FROM stock WHERE symbol <> 'a' NOTIFY TRANSITIONS")
    bench.ask(2, "c", "SELECT SUM(price), COUNT(risk) FROM stock WHERE day IS NULL")
    if again:
        bench.edge.notifications_lost()
    bench.edge.look(-1, b"a")
    bench.take()
    try:
        bench.edge.notification(bench.offset, b"stock/0", value)
        bench.end(1)
    except NotificationError:
        return
    lost = bench.edge.counters.losses
    assert len(bench.edge.losses()) == lost
    assert bool(bench.take().get("registrations", [])) >= bool(lost)
    bench.again()
    bench.edge.check()


QUESTIONS = st.integers(0, 2**60).map(questions)
REGISTERED = odd_registrations()
FILTERS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    "filter-terms": (damaged(boxes.map(encode_terms)), reads_terms_or_refuses),
    "filter-conditions": (
        QUESTIONS | mutated(QUESTIONS.map(str.encode)).map(lambda data: data.decode(errors="replace")),
        compiles_to_what_fits,
    ),
    "filter-registrations": (
        st.lists(REGISTERED | damaged(REGISTERED), min_size=1, max_size=4),
        is_registered_or_passed_over,
    ),
    "images": (st.tuples(st.booleans(), damaged(st.sampled_from(told_to_edges()))), goes_on),
}
