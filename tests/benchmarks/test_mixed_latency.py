from collections import Counter

from benchmarks.mixed_latency import KINDS, MixedAudience
from benchmarks.stock_workload import catalog_of
from catalog.query.compiler import Compiler


def test_all_kinds_stand_side_by_side_and_each_statement_is_accepted() -> None:
    audience = MixedAudience(400, 200)
    compiler = Compiler(catalog_of("stock"))
    kinds = Counter(type(compiler.compile(sql).region.shape).__name__ for sql in audience.statements())
    assert len(kinds) >= 3 and sum(kinds.values()) == 400
    assert all(count >= 10 for count in kinds.values())
    assert set(KINDS) == {"range", "filter", "first", "sum"}


def test_the_same_seed_gives_the_same_statements() -> None:
    assert list(MixedAudience(50, 20).statements()) == list(MixedAudience(50, 20).statements())
