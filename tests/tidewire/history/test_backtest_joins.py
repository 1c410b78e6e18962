"""Back-tests of joins: against the join of what was published, version by version."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.log.publication_log import PublicationLog
from operators.control import Progress
from tests.connectors.small_log import Published, SmallLog, small_log
from tests.effort import deep_examples
from tidewire.history.backtest import Backtest, compile_with_cell, tables_of

DDL = "; ".join(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, k BIGINT, v BIGINT)" for name in "ab")
CATALOG = apply_ddl(Catalog(), DDL, 3)
TABLES = [CATALOG.relations["a"], CATALOG.relations["b"]]
QUESTION = msgspec.json.encode({"sql": "SELECT x.v, y.v FROM a x JOIN b y ON x.k = y.k WHERE x.v > 0"})
ITSELF = msgspec.json.encode({"sql": "SELECT x.id, y.id FROM a x JOIN a y ON x.k = y.v"})
Change = tuple[str, int, int | None, int | None]
"""Table, id, k, v; a v of None deletes."""
Rows = dict[tuple[str, int], tuple[int | None, int]]


def filled(folder: Path, versions: list[list[Change]]) -> SmallLog:
    log, count = small_log(folder), Counter[str]()
    for version in versions:
        published = []
        for table, key, k, v in version:
            value = None if v is None else json.dumps({"id": key, "k": k, "v": v}).encode()
            micros = 1_000_000 * count.total()
            published.append(Published(table, 0, count[table], json.dumps({"id": key}).encode(), value, micros))
            count[table] += 1
        log.commit(published)
    return log


def take(rows: Rows, change: Change) -> None:
    table, key, k, v = change
    rows.pop((table, key), None) if v is None else rows.update({(table, key): (k, v)})


def joined(rows: Rows) -> Counter[tuple[int, int]]:
    left, right = ([row for (table, _), row in rows.items() if table == name] for name in "ab")
    pairs = ((x[1], y[1]) for x, y in product(left, right) if x[0] is not None and x[0] == y[0] and x[1] > 0)
    return Counter(pairs)


CHANGES = st.tuples(
    st.sampled_from("ab"), st.integers(0, 2), st.none() | st.integers(0, 1), st.none() | st.integers(0, 2)
)
VERSIONS = st.lists(st.lists(CHANGES, min_size=1, max_size=5), min_size=1, max_size=4)


@pytest.mark.deep
@settings(max_examples=deep_examples(25), deadline=None)
@given(VERSIONS)
def test_every_version_and_every_delivery_against_recomputation(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[Change]]
) -> None:
    opened = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri)
    start: Rows = {}
    for as_of in range(len(versions)):
        for change in versions[as_of]:
            take(start, change)
        rows, meant = dict(start), [joined(start)]
        for change in (change for version in versions[as_of + 1 :] for change in version):
            take(rows, change)
            if joined(rows) != meant[-1]:
                meant.append(joined(rows))
        test = Backtest(opened, TABLES, QUESTION, opened.at_version(as_of), opened.newest.cut, [])
        told = list(test.run())
        held: Counter[object] = Counter()
        for n, (one, whole) in enumerate(zip(told, meant, strict=True), 1):
            held = held - Counter(one.removed) + Counter(one.added)
            assert (one.n, held) == (n, whole)
        assert test.publications == sum(map(len, versions[as_of + 1 :]))


def test_a_delivery_names_its_publication_and_batches_are_the_engine_s(tmp_path: Path) -> None:
    changes: list[Change] = [("a", 1, 1, 5), ("b", 1, 1, 6), ("b", 2, 1, 7), ("a", 1, 1, 8)]
    opened = PublicationLog(filled(tmp_path, [[changes[0]], changes[1:]]).uri)
    snapshot, *others = Backtest(opened, TABLES, QUESTION, opened.at_version(0), opened.newest.cut, []).run()
    assert (snapshot.kind, snapshot.added, snapshot.topic) == ("snapshot", [], None)
    assert [(one.topic, one.offset, one.time) for one in others] == [
        ("b", 0, "1970-01-01T00:00:01.000Z"), ("b", 1, "1970-01-01T00:00:02.000Z"),
        ("a", 1, "1970-01-01T00:00:03.000Z"),
    ]  # fmt: skip
    ends = [({"a": {"0": 1}, "b": {"0": 0}}, {"a": {"0": 1}, "b": {"0": 1}}), ({}, {"a": {"0": 2}, "b": {"0": 2}})]
    progress = [Progress(0, batch, 0, "", start, end) for batch, (start, end) in enumerate(ends)]
    latest = msgspec.json.encode(msgspec.json.decode(QUESTION) | {"notify": "LATEST"})
    test = Backtest(opened, TABLES, latest, {}, opened.newest.cut, progress)
    assert [(sorted(one.removed or ()), sorted(one.added or ())) for one in test.run()] == [
        ([], []), ([], [(5, 6)]), ([(5, 6)], [(8, 6), (8, 7)]),
    ]  # fmt: skip


def test_the_tables_of_a_question() -> None:
    assert tables_of(CATALOG, QUESTION) == tuple(TABLES)
    assert tables_of(CATALOG, ITSELF) == (TABLES[0],)
    with_cell = apply_ddl(CATALOG, "CREATE JOIN b, a", 4)
    assert compile_with_cell(with_cell, QUESTION)[1:] == (with_cell, None)
    _, supposed, missing = compile_with_cell(CATALOG, QUESTION)
    assert missing is not None and missing.tables == ("a", "b") and list(supposed.cells) == ["cell/a+b/0"]
    refused = apply_ddl(with_cell, "REFUSE JOIN a, b BECAUSE 'too large'", 5)
    with pytest.raises(Exception, match="too large"):
        compile_with_cell(refused, QUESTION)
