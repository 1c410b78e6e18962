"""After warming up, an edge at work compiles nothing."""

from __future__ import annotations

from catalog.bulk import statement_kernels, term_kernels
from catalog.query.shape import Output, Shape
from operators.control import Progress
from overlay.answers import list_record_kernels
from overlay.arena import key_kernels
from overlay.index import index_kernels, join_index_kernels
from overlay.maintain import join_kernels, list_kernels
from overlay.process.jit_warmup import warm
from overlay.table import literal_kernels
from state import box_layout, filter_kernels, filter_match, range_set_kernels, row_digest
from tests.overlay.edge_bench import ASK, Bench
from tests.overlay.filter_bench import FilterBench, rows_of, stock
from tests.overlay.join_bench import ASK as ASK_JOINED
from tests.overlay.join_bench import JoinBench, filing, quote
from tests.overlay.list_bench import ListBench

RISKY = Shape("stock", (Output("min", "price"),), (), "risk")


def signatures() -> list[int]:
    modules = (
        index_kernels, join_index_kernels, range_set_kernels, key_kernels, literal_kernels, statement_kernels,
        term_kernels, filter_kernels, filter_match, row_digest, box_layout, join_kernels, list_kernels,
        list_record_kernels,
    )  # fmt: skip
    return [len(kernel.signatures) for module in modules for kernel in module.ENTRIES]


def test_no_kernel_is_compiled_at_work() -> None:
    warm()
    before = signatures()
    bench = Bench()
    keys = [b"s%d" % i for i in range(20)]
    asked = [b'{"sql":"%s WHERE risk < %d"}' % (ASK.encode(), i) for i in range(20)]
    bench.edge.subscribe_all(range(20), keys, asked)
    bench.take()
    bench.snapshot(0, dict.fromkeys(range(20), 5))
    bench.control(Progress(5, 0, 0, "t"))
    bench.message(1, 7, 8, shape=RISKY)
    bench.control(Progress(5, 1, 0, "t"))
    bench.take()
    bench.edge.subscribe_all([20], keys[:1], [None])
    bench.take()
    bench.again()
    assert all(before) and signatures() == before


def test_no_kernel_is_compiled_for_filters() -> None:
    warm()
    before, bench = signatures(), FilterBench()
    bench.start("SELECT symbol, price FROM stock WHERE price > 5 OR symbol IN ('a', 'b') NOTIFY TRANSITIONS", ("a", 1))
    bench.ask(1, "many", "SELECT symbol FROM stock WHERE symbol LIKE 'a%' AND risk <> 1 AND flag IS NULL")
    bench.answer(1, [(1, rows_of())])
    bench.end(1)
    bench.images(2, (None, stock("b", 600)), (stock("b", 600), stock("b", None)), (stock("a"), None), swept=True)
    bench.end(2)
    bench.take()
    bench.edge.subscription(9, b"many", None)
    bench.take()
    bench.again()
    assert signatures() == before


def test_no_kernel_is_compiled_for_joins() -> None:
    warm()
    before, bench = signatures(), JoinBench(1, filing("f1", "A", "8-K"), quote("q1", "A", 700))
    bench.start()
    bench.records(2, (quote("q1", "A", 900),), (("filing", "f1", None), ("quote", "q1", None)))
    bench.ask(1, "b", f"{ASK_JOINED} AND q.price <> 8 AND f.kind = '8-K'")
    bench.answer(3, [(1, rows_of())])
    bench.end(3)
    bench.ask(2, "c", f"{ASK_JOINED} AND f.kind LIKE '8%'")
    bench.answer(4, [(2, rows_of())])
    bench.end(4)
    bench.records(5, (quote("q1", "A", 700),), (filing("f1", "A", "8-K"),), (quote("q1", "A", 900),))
    assert len(bench.told()) > 3
    assert signatures() == before


def test_no_kernel_is_compiled_for_lists() -> None:
    warm()
    before, bench = signatures(), ListBench([(0, 3, 1, "k", "")], {"a": (1, 1), "b": (1, 2)})
    assert len(bench.batch([[("a", None)], [("c", (2, 0)), ("a", (2, 1))]])) == 2
    assert bench.store.changes().answers
    assert signatures() == before
