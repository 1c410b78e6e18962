from __future__ import annotations

from operators.counters import ShardCounters
from tidewire.status.curiosity import Curiosity, curiosity_of


def shard(name: str, **more: int) -> ShardCounters:
    return ShardCounters(epoch=0, shard=name, batch=1, **more)


def test_sums_of_shards_and_of_edges_that_could_be_asked() -> None:
    second = {"losses": 2, "finals": 5, "contradictions": 1}
    health = {"virtual_edges": {"0": {"losses": 1, "finals": 4}, "1": second, "2": "odd"}}
    found = curiosity_of(
        12, 1, 3, [shard("t/0", skipped=7, suppressed=2), shard("v/0", suppressed=3, spared=9)], [health, None, {}]
    )
    assert found == Curiosity(12, 1, 3, registered_again=3, skipped=7, quenched=5, spared=9, finals=9, contradictions=1)
    assert found.lost == (
        "12 records trimmed unread, 1 partition of streams in which `tidewire silence` has to accept that, "
        "3 groups made from the log, 3 times all was registered again, 1 final answer contradicted"
    )
    assert found.not_asked == (
        "7 changes of views that nobody asks, 5 messages that nobody wanted, 9 messages to edges that did not want "
        "them, 9 answers final"
    )


def test_where_nothing_is_counted_nothing_is_said() -> None:
    found = curiosity_of(0, 0, 0, [], [])
    assert found == Curiosity() and (found.lost, found.not_asked) == ("", "")
