import msgspec

from operators.counters import ShardCounters, summed


def counted(shard: str, batch: int, **more: object) -> ShardCounters:
    return ShardCounters(epoch=3, shard=shard, batch=batch, **more)  # type: ignore[arg-type]


def test_the_record_says_what_it_is() -> None:
    told = msgspec.json.encode(counted("t/0", 5, decoded=7, seen={"k": 7}))
    assert told.startswith(b'{"kind":"counters"')
    assert msgspec.json.decode(told, type=ShardCounters) == counted("t/0", 5, decoded=7, seen={"k": 7})


def test_shards_are_counted_together() -> None:
    one = counted("t/1", 9, decoded=2, rows=1, bytes=10, unknown_members=["b"], seen={"k": 2})
    other = counted("t/0", 4, decoded=5, dead=1, rows=3, bytes=7, unknown_members=["a", "b"], seen={"k": 1, "v": 4})
    total = summed([one, other])
    assert total == counted(
        "t/0", 9, decoded=7, dead=1, rows=4, bytes=17, unknown_members=["a", "b"], seen={"k": 3, "v": 4}
    )
    one.held, other.held = {"shard_channels": (9, 10)}, {"shard_channels": (95, 1000), "shard_orderings": (1, 0)}
    assert summed([other, one]).held == {"shard_channels": (9, 10), "shard_orderings": (1, 0)}
    one.held, other.held = {}, {}
    one.unfit_reasons, other.unfit_reasons, other.unfit_registrations = ["x"], ["w", "x"], 2
    assert summed([one, other]).unfit_reasons == ["w", "x"] and summed([one, other]).unfit_registrations == 2
    one.needed, other.needed, one.answer_rows = ["v"], ["k", "v"], 9
    assert summed([one, other]).needed == ["k", "v"] and summed([one, other]).answer_rows == 9
    other.answer_rows = 8
    assert summed([one, other]).answer_rows == 8
    one.needed, other.needed, one.answer_rows, other.answer_rows = [], [], 0, 0
    assert one.unfit_reasons == ["x"]
    assert summed([one]) == one and other.decoded == 5 and other.seen == {"k": 1, "v": 4}
