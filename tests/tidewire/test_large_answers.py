"""A DISTINCT of 2 MB: no record anywhere is larger than 1 MB, and its subscriber gets all of it at once."""

from __future__ import annotations

from hashlib import shake_256
from typing import Any

import msgspec
import pytest

from connectors.json.writer import encode_key, encode_row
from tests.tidewire.test_chain_interrupted import journal
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.verify import verify

DDL = "CREATE TABLE doc (id INTEGER PRIMARY KEY, x INTEGER, body VARCHAR)"
ROWS = 400
EDGES = 1


def publish(chain: PurePipeline, rows: range, x: int) -> None:
    relation = chain.catalog.relations["doc"]
    for i in rows:
        row = {"id": i, "x": x, "body": f"{i:04d}é" + shake_256(b"%d" % i).hexdigest(2_500)}
        chain.append("doc", encode_key(relation, row), encode_row(relation, row))
    chain.settle()


def told(chain: PurePipeline, reader: DeliveryReader, start: int) -> list[dict[str, Any]]:
    log = chain.logs[chain.topics.deliveries][0][start:]
    return [found for key, value in log if key != b"@progress" for found in reader.objects(key, value or b"")]


@pytest.mark.parametrize("form", ["records", "packed"])
def test_it_is_cut_everywhere_and_whole_for_its_subscriber(form: str) -> None:
    chain, reader = PurePipeline(EDGES), DeliveryReader()
    chain.apply(DDL)
    publish(chain, range(ROWS), 1)
    sql = f"SELECT DISTINCT body FROM doc WHERE x < 5 NOTIFY LATEST DELIVER {form}"
    chain.append(chain.topics.subscriptions, b"s", msgspec.json.encode({"sql": sql}))
    chain.settle()
    [snapshot] = told(chain, reader, 0)
    assert [snapshot["n"], len(snapshot["added"]), snapshot["removed"]] == [1, ROWS, []]
    chain.restart()
    chain.lose_edge(0, compact=True)
    read = len(chain.logs[chain.topics.deliveries][0])
    publish(chain, range(ROWS - 10), 7)
    chain.begin_epoch()
    chain.settle()
    change, resync = told(chain, reader, read)
    assert (change["n"], len(change["removed"]), change["added"], change["changes"]) == (2, ROWS - 10, [], ROWS - 10)
    assert (resync["n"], resync["removed"], resync["added"]) == (2, [], [])
    publish(chain, range(ROWS), 2)
    chain.append(chain.topics.subscriptions, b"s", None)
    chain.settle()
    *_, ended = told(chain, reader, read)
    assert (ended["n"], len(ended["removed"]), ended["reason"]) == (4, ROWS, "unsubscribed")
    for topic in (chain.topics.notifications, chain.topics.deliveries, chain.topics.edge_state):
        sizes = [len(value or b"") for _, value in chain.logs[topic][0]]
        assert 500_000 < max(sizes) < 1_000_000, topic
    report = verify(journal(chain, "doc"))
    assert report.clean and report.right == 5 and report.unjudged == 0, report.faults
