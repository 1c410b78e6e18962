"""What is published and asked around the first join is what the tables and the compiler take."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from benchmarks.bench import QUICK, Bench
from benchmarks.join_chain import CATALOG
from benchmarks.join_latency import JOINS, Case
from benchmarks.latency import TOPIC, Listener
from catalog.query.compiler import Compiler
from connectors.topics import Topics


def case() -> Case:
    publisher: Any = mock.Mock()
    return Case(Bench(Path(), QUICK, print), publisher, Topics(), Listener("", "", 1, causes=TOPIC))


def test_one_publication_in_ten_is_of_a_joined_table() -> None:
    published = list(islice(case()._changes, 25_000))
    assert [each.topic for each in published[:20]] == ["r", *[TOPIC] * 9] * 2
    rows = [msgspec.json.decode(each.value or b"") for each in published if each.topic == "r"]
    assert len(rows) == 2_500 and len({row["x"] for row in rows}) > 2_000
    assert all(row["k"] == row["id"] % (QUICK.rows // 5) for row in rows)


def test_joins_that_are_asked_are_accepted_and_all_have_other_names() -> None:
    of, compiler = case(), Compiler(CATALOG)
    asked = [*of._asked(1, "first"), *of._asked(JOINS)]
    assert len({each.key for each in asked}) == JOINS + 1
    for each in asked[:20]:
        assert compiler.compile(msgspec.json.decode(each.value or b"")["sql"]).region.shape.relation.startswith("[[")
