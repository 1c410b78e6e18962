"""The chain that filters are measured in gives what NumPy finds."""

from __future__ import annotations

import numpy as np

from benchmarks.filter_chain import CATALOG, Chain, statements
from benchmarks.filter_index_cost import Plain
from benchmarks.filter_workload import draw_filters
from benchmarks.image_cost import image_us
from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms


def test_filters_become_live_and_hear_of_changes() -> None:
    filters, chain = draw_filters(300, 20, 3), Chain(400)
    chain.subscribe(filters)
    assert chain.edge.counts["live"] == 300
    rows, plain = chain._rows.copy(), Plain(filters)
    before = chain.edge.counters.deliveries
    _, told = chain.timed(100, 1)
    expected = sum(len(np.setxor1d(plain.met(a), plain.met(b))) for a, b in zip(rows, chain._rows, strict=True))
    assert chain.edge.counters.deliveries - before == round(told * 100) and told * 100 >= expected > 0


def test_a_statement_says_what_was_drawn() -> None:
    filters = draw_filters(20, 5)
    for i, sql in enumerate(statements(filters)):
        region = Compiler(CATALOG).compile(sql).region
        (box,) = decode_terms(region.terms)
        assert isinstance(region.shape, FilterShape)
        asked = {f"a{c}": (lo, hi) for c, lo, hi in zip(*(part[i].tolist() for part in filters), strict=True) if c >= 0}
        assert {region.shape.tested[place]: values.intervals[0] for place, values in box.items()} == asked


def test_images_cost_something() -> None:
    assert all(cost["whole"] > 0 for cost in image_us().values())
