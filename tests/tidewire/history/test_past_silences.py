"""Rows of a view of a stream at each version of the log: against the rows that were not late, counted one by one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.log.cut import Place
from connectors.log.publication_log import PublicationLog
from operators.silenced import Silenced
from operators.stored_rows import stored_rows
from shard.log_fold import fold_view
from tests.connectors.small_log import Published, small_log
from tidewire.history.past_silences import before

LATENESS, SECOND = 10, 1_000_000
CATALOG = apply_ddl(
    Catalog(),
    f"CREATE STREAM s (ts TIMESTAMP) WITH ('topic'='s', 'event_time'='ts', 'lateness'='{LATENESS} s', 'ahead'='1 h');"
    "CREATE VIEW v AS "
    "SELECT DATE_TRUNC('minute', ts) AS minute, COUNT(*) AS n FROM s GROUP BY DATE_TRUNC('minute', ts);"
    "CREATE TABLE t (n BIGINT PRIMARY KEY, name VARCHAR) WITH ('topic'='t');"
    "CREATE VIEW named AS SELECT v.minute, v.n, t.name FROM v LEFT JOIN t ON v.n = t.n",
    0,
)
START = 1_772_445_600


def silence(partition: int, after: int, second: int, born: int = 0) -> Silenced:
    return Silenced("s", born, partition, after, (START + second) * SECOND)


def test_those_that_count_before_a_row_that_is_there() -> None:
    found = {"s": (silence(0, 0, 1), silence(0, 2, 2), silence(0, 3, 3), silence(1, 0, 4)), "gone": (silence(0, 0, 1),)}
    assert before({"s": Place(0, {0: 3})}, found, CATALOG) == {"s": found["s"][:2]}
    assert before({}, found, CATALOG) == {"s": ()}


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_view_of_a_stream_at_each_version(tmp_path: Path, seed: int) -> None:
    draw, log, silences, kept = Random(seed), small_log(tmp_path), list[Silenced](), Counter[int]()
    reached, offset, meant = {0: -1_000, 1: -1_000}, {0: 0, 1: 0}, list[dict[int, int]]()
    called = list[dict[int, str]]()
    for version in range(4):
        n, name = draw.randint(1, 3), f"of {version}"
        key, value = (json.dumps(said).encode() for said in ({"n": n}, {"n": n, "name": name}))
        published = [Published("t", 0, version, key, value, (START + 3_000) * SECOND)]
        called.append(({} if not version else called[-1]) | {n: name})
        for _ in range(draw.randrange(1, 8)):
            partition, second = draw.choice([0, 1]), max(max(reached.values()) + draw.randint(-40, 30), 0)
            if offset[0] + offset[1] and draw.random() < 0.3:
                upto = second + draw.randint(0, 60)
                if upto > reached[partition]:
                    silences.append(silence(partition, offset[partition], upto))
                    reached[partition] = upto
            value = json.dumps({"ts": f"2026-03-02T10:{second // 60:02}:{second % 60:02}"}).encode()
            published.append(Published("s", partition, offset[partition], b"k", value, (START + 3_000) * SECOND))
            offset[partition] += 1
            if second >= reached[partition] - LATENESS:
                kept[second // 60] += 1
            reached[partition] = max(reached[partition], second)
        log.commit(published)
        meant.append(dict(kept))
    opened = PublicationLog(log.uri)
    for version, expected in enumerate(meant):
        cut = opened.at_version(version)
        states = fold_view(opened, CATALOG, CATALOG.views["v"], cut, None, before(cut, {"s": tuple(silences)}, CATALOG))
        rows = [row for state in states for row in stored_rows(CATALOG.views["v"].relation, state.table.stored)]
        assert {int(str(row["minute"])[14:16]): row["n"] for row in rows} == expected, (version, silences)
        states = fold_view(
            opened, CATALOG, CATALOG.views["named"], cut, None, before(cut, {"s": tuple(silences)}, CATALOG)
        )
        rows = [row for state in states for row in stored_rows(CATALOG.views["named"].relation, state.table.stored)]
        named = {minute: (n, called[version].get(n)) for minute, n in expected.items()}
        assert {int(str(row["minute"])[14:16]): (row["n"], row["name"]) for row in rows} == named
