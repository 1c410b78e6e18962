"""The journal of a naive engine, by hand, and what may befall the deliveries in one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine
from tidewire.verification.compare.report import Report
from tidewire.verification.records.journal import Journal, Record
from tidewire.verification.verify import verify


def engine_by_hand() -> SimulatedEngine:
    """`s` asks MIN(y) of x in 0..9: snapshot null, then 5, 3, 5 by records 0, 2, 4 of partition 1 and its like."""
    engine = SimulatedEngine()
    engine.subscribe("s", Asked("MIN", 0, 9))
    engine.run_batch()
    engine.publish(1, "u", 1, 5)
    engine.publish(2, "u", 2, 7)
    engine.publish(3, "u", 3, 3)
    engine.run_batch()
    engine.delete(3)
    engine.publish_garbage(1)
    engine.run_batch()
    return engine


def body(journal: Journal, partition: int, offset: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(at(journal, partition, offset).value or b"")
    return found


def at(journal: Journal, partition: int, offset: int) -> Record:
    return next(r for r in journal.deliveries.records[partition] if r.offset == offset)


def replace(journal: Journal, partition: int, offset: int, **changes: Any) -> None:
    record = at(journal, partition, offset)
    value = json.dumps(json.loads(record.value or b"") | changes).encode()
    records = journal.deliveries.records[partition]
    records[records.index(record)] = record._replace(value=value)


def change_new(journal: Journal, partition: int, offset: int) -> None:
    told = body(journal, partition, offset)
    if "added" in told:
        replace(journal, partition, offset, added=[*told["added"], 17])
    elif isinstance(told["new"], list):
        replace(journal, partition, offset, new=told["new"][:-1])
    elif isinstance(told["new"], str):
        replace(journal, partition, offset, new=told["new"] + "1")
    else:
        replace(journal, partition, offset, new=17 if told["new"] is None else told["new"] + 1)


def change_old(journal: Journal, partition: int, offset: int) -> None:
    told = body(journal, partition, offset)
    if "added" in told:
        replace(journal, partition, offset, removed=[17, *told["removed"]])
    else:
        replace(journal, partition, offset, old=17 if told["old"] is None else None)


def change_changes(journal: Journal, partition: int, offset: int) -> None:
    replace(journal, partition, offset, changes=body(journal, partition, offset).get("changes", 1) + 1)


def change_n(journal: Journal, partition: int, offset: int) -> None:
    replace(journal, partition, offset, n=body(journal, partition, offset)["n"] + 1)


def lose(journal: Journal, partition: int, offset: int) -> None:
    journal.deliveries.records[partition].remove(at(journal, partition, offset))


def repeat(journal: Journal, partition: int, offset: int) -> None:
    records = journal.deliveries.records[partition]
    records.insert(records.index(at(journal, partition, offset)), at(journal, partition, offset))


FAULTS: dict[str, Callable[[Journal, int, int], None]] = {
    "new": change_new,
    "old": change_old,
    "n": change_n,
    "changes": change_changes,
    "lost": lose,
    "repeated": repeat,
}


def deliveries_of(engine: SimulatedEngine) -> list[Record]:
    return [r for logs in engine.logs["deliveries"].values() for r in logs if r.key != b"@progress"]


def verdict(engine: SimulatedEngine, change: Callable[[Journal, list[Record]], None]) -> Report:
    journal = engine.journal()
    change(journal, deliveries_of(engine))
    return verify(journal)
