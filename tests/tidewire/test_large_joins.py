"""A change of a row that is joined with very many: told to each in its form, in parts, of which none is too long."""

from __future__ import annotations

import msgspec
import pytest

from state.byte_runs import RECORD_BYTES
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery
from tidewire.pure_pipeline import PurePipeline

DDL = "; ".join(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, k INTEGER, v VARCHAR)" for name in "ab")
CELLS = "CREATE JOIN a, b"
TWO, THREE = "a JOIN b ON a.k = b.k", "a JOIN b ON a.k = b.k JOIN b c ON b.id = c.id"
PARTNERS, LONG = 150, 10_000


def put(chain: PurePipeline, table: str, id: int, k: int, v: str) -> None:
    row = {"id": id, "k": k, "v": v}
    chain.append(table, b'{"id":%d}' % id, msgspec.json.encode(row))


def told(chain: PurePipeline, name: str) -> list[Delivery]:
    reader, log = DeliveryReader(), chain.logs[chain.topics.deliveries][0]
    found = [one for key, value in log for one in reader.read(key, value or b"")]
    return [one for one in found if isinstance(one, Delivery) and one.id == name]


@pytest.mark.parametrize("end", ["", " NOTIFY LATEST", " DELIVER PACKED", " NOTIFY LATEST DELIVER PACKED"])
@pytest.mark.parametrize("tables", [TWO, THREE])
def test_a_change_of_a_row_with_many_partners_is_told_in_parts(tables: str, end: str) -> None:
    chain = PurePipeline(1)
    chain.apply(f"{DDL}; {CELLS}")
    for name, where in (("all", ""), ("some", " WHERE b.id > 0")):
        sql = f"SELECT a.v, b.v, b.id FROM {tables}{where}{end}"
        chain.append(chain.topics.subscriptions, name.encode(), msgspec.json.encode({"sql": sql}))
    for id in range(PARTNERS):
        put(chain, "b", id, 7, "y" * LONG)
    chain.settle()
    for k in (7, 8, 7):
        put(chain, "a", 1, k, f"x{k}")
        chain.settle()
    for name, count in (("all", PARTNERS), ("some", PARTNERS - 1)):
        held, deliveries = HeldAnswer(), told(chain, name)
        assert all(held.take(one) for one in deliveries) and [one.n for one in deliveries] == [1, 2, 3, 4]
        sizes = [(len(one.removed or ()), len(one.added or ())) for one in deliveries]
        assert sizes == [(0, 0), (0, count), (count, 0), (0, count)] and held.rows.total() == count
    log = chain.logs[chain.topics.deliveries][0]
    assert max(len(value or b"") for _, value in log) <= RECORD_BYTES
