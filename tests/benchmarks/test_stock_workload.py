import json

import numpy as np

from benchmarks.shard_cost import dump_of, raw
from benchmarks.stock_workload import HIGHEST, LOWEST, Audience, Market, catalog_of
from connectors.formats.record_format import format_of
from connectors.topics import Topics
from operators.packed import PackedMessages, unpack
from state.order_code import double_of_code

RELATION = catalog_of("stock").relations["stock"]


def prices(records) -> dict[str, float]:
    return {row["symbol"]: row["price"] for row in (json.loads(record.value) for record in records)}


def test_changes_are_rows_of_the_table_half_down_and_half_up() -> None:
    market = Market(RELATION, 100)
    records = list(market.load())
    now = prices(records)
    assert len(now) == 100 and not format_of(RELATION).decode(raw(records, "stock")).dead
    down = up = 0
    for record in market.changes(2_000):
        ((symbol, price),) = prices([record]).items()
        assert LOWEST <= round(price * 100) <= HIGHEST and price != now[symbol]
        down, up = down + (price < now[symbol]), up + (price > now[symbol])
        now[symbol] = price
    assert abs(down - up) < 100


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two = (Market(RELATION, 10) for _ in range(2))
    assert [*one.load(), *one.changes(20)] == [*two.load(), *two.changes(20)]


def test_affected_counts_every_subscription_that_a_message_meets() -> None:
    dump = dump_of(200, 300, 100)
    sent = [r.value for r in dump.run().out if r.topic == Topics().notifications and r.partition == 0]
    packed = [part for part in map(unpack, sent) if isinstance(part, PackedMessages)]
    audience = Audience(300, 200)
    met = 0
    for part in packed:
        m = part.messages
        for lo, hi in zip(*audience.codes(), strict=True):
            inside = (m.lo_min <= lo) & (lo <= m.lo_max) & (m.hi_min <= hi) & (hi <= m.hi_max)
            met += int(np.count_nonzero(inside))
    assert audience.affected(packed) == met > 0
    assert [double_of_code(int(code)) for code in audience.codes()[0][:5]] == audience.lo[:5]
