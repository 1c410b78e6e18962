"""What nobody foresees comes at an edge's door: each record gets one answer, alone as among many."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.overlay import odd_records
from tests.overlay.edge_bench import Bench

odd = st.lists(st.tuples(odd_records.ids, odd_records.records), min_size=1, max_size=6)


def judged_together(keys: list[bytes], values: list[bytes]) -> list[dict[str, object]]:
    """What an edge says of records that come all at once, among as many as are compiled in bulk."""
    bench = Bench()
    bench.edge.subscribe_all(range(len(keys)), keys, values)
    bench.edge.refuse_held()
    bench.edge.check()
    return sorted(bench.lines("acks"), key=lambda ack: int(ack["version"]))


def judged_alone(keys: list[bytes], values: list[bytes]) -> list[dict[str, object]]:
    bench = Bench()
    for offset, (key, value) in enumerate(zip(keys, values, strict=True)):
        bench.edge.subscription(offset, key, value)
        bench.edge.refuse_held()
    return sorted(bench.lines("acks"), key=lambda ack: int(ack["version"]))


def check(odd: list[tuple[bytes, bytes]]) -> None:
    ask = b'{"sql":"SELECT MIN(price) FROM stock WHERE risk > %d"}'
    keys = [b"good-%d" % i for i in range(10)] + [b"%d-%s" % (i, key) if key else b"" for i, (key, _) in enumerate(odd)]
    values = [ask % i for i in range(10)] + [value for _, value in odd]
    together = judged_together(keys, values)
    assert together == judged_alone(keys, values)
    assert [ack["version"] for ack in together] == list(range(len(keys)))
    assert [ack["status"] for ack in together[:10]] == ["accepted"] * 10
    assert all(ack["status"] == "accepted" or ack.get("code") not in (None, "internal") for ack in together)


@settings(max_examples=examples(200), deadline=None)
@given(odd)
def test_each_odd_record_gets_one_answer_and_stops_no_other(odd: list[tuple[bytes, bytes]]) -> None:
    check(odd)
