"""States that earlier versions wrote are read, and what comes next is answered as if today's code had written them."""

import json

import pytest

from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from tests.shard import long_lived_cell
from tests.shard.long_lived import CATALOG, GOLDEN, NAME, TOPICS, batches, next_batch

SPEC = GroupSpec(7, NAME, CATALOG, TOPICS, 4)
CELL = GroupSpec(7, long_lived_cell.NAME, long_lived_cell.CATALOG, TOPICS, 4)


def told(result: GroupResult) -> list[tuple[object, ...]]:
    """All that is written, but for the size of the state in the report."""
    return [
        (record.topic, record.partition, record.key, record.value)
        if record.topic != TOPICS.engines
        else json.loads(record.value or b"") | {"bytes": None, "held": None}
        for record in result.out
    ]


@pytest.mark.parametrize("name", ["state_2", "state_3", "state_3_delta"])
def test_a_state_of_before_goes_on_as_one_of_today(name: str):
    today = None
    for number, batch in enumerate(batches()):
        today = process_group(SPEC, number, today, batch).state
    stored = process_group(SPEC, 2, (GOLDEN / f"{name}.bin").read_bytes(), next_batch())
    fresh = process_group(SPEC, 2, today, next_batch())
    assert told(stored) == told(fresh) and len(stored.out) > 4
    assert stored.state == fresh.state


def test_a_cell_of_before_goes_on_as_one_of_today():
    today = None
    for number, batch in enumerate(long_lived_cell.batches()):
        today = process_group(CELL, number, today, batch).state
    stored = process_group(CELL, 2, (GOLDEN / "cell_3.bin").read_bytes(), long_lived_cell.next_batch())
    fresh = process_group(CELL, 2, today, long_lived_cell.next_batch())
    assert told(stored) == told(fresh) and len(stored.out) > 4
    assert stored.state == fresh.state
