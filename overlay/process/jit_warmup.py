"""A virtual edge that nobody asked lives through everything once, so that no kernel is compiled within a step.

Compiling there would outlast the step's transaction.
"""

from __future__ import annotations

import numpy as np

from catalog.bulk.bulk_compiler import FEW
from catalog.bulk.term_columns import warm as warm_terms
from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers
from operators.packed import Header, pack_snapshot
from overlay.answers.list_record_kernels import warm as warm_list_records
from overlay.index.join_index import warm as warm_join_index
from overlay.index.subscription_index import warm as warm_index
from overlay.machine.virtual_edge import VirtualEdge
from overlay.maintain.join_kernels import warm as warm_joins
from overlay.maintain.list_kernels import warm as warm_lists
from state.filter_index import warm as warm_filters
from state.row_digest import warm as warm_digests

_DDL = "CREATE TABLE warm (k BIGINT PRIMARY KEY, g VARCHAR, x DOUBLE)"


def warm() -> None:
    """Compile all kernels of an edge, or load them from numba's cache.

    Cost: a minute where no cache is, else 0.8 s.
    """
    warm_index()
    warm_join_index()
    warm_terms()
    warm_filters()
    warm_joins()
    warm_lists()
    warm_list_records()
    warm_digests()
    catalog = apply_ddl(Catalog(), _DDL, 0)
    edge, again = (VirtualEdge(0, 1, Topics(), lambda _: catalog) for _ in range(2))
    keys: list[bytes | None] = [b"%d" % i for i in range(2 * FEW)]
    values: list[bytes | None] = [
        b'{"sql":"SELECT MIN(k) FROM warm WHERE g = \'a\' AND x < %d"}' % i for i in range(len(keys))
    ]
    for record in (EpochBegins(0, 0), RegisterAll(0, 0)):
        edge.notification(0, b"@warm", encode_control(record))
    edge.subscribe_all(range(len(keys)), keys, values)
    edge.take()
    new = np.arange(len(keys))
    answers = pack_snapshot(Header("snapshot", 0, "warm/0", 0), new, Answers(new, new > 0, {}))
    edge.notification(1, b"warm/0", answers)
    edge.notification(2, b"@warm", encode_control(Progress(0, 0, 0, "")))
    edge.take()
    again.restore([record.value for record in edge.snapshot_records() if record.value is not None])
    edge.subscribe_all([len(keys)], keys[:1], [None])
