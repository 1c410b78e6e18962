"""Semijoin closure: the rows of each table that a batch makes some virtual edge need, to rebuild its joins itself.

For each join, from each position p of a table that changed:

    down    the changed versions that are wanted at p, then the versions of the next table that have their keys and are
            wanted there, and so on along the walk (`join_walk.py`)
    up      what has no partner below it falls out, from the leaves to p
    down    and what has lost its partners above it

so what is left are changed rows with at least one partner in each table, and these partners: the semijoins of the join
(Joins paper, 3.1, Enum-SJ; of several tables its section 4 without the choice of one filtering table). Rows are shipped
and never pairs of them: its "result representation redundancy" does not arise, whatever the fan-out is. Unlike there,
nobody keeps what was sent: all that a batch needs comes with it. Which virtual edge wants a version is a set of bits,
and a walk is made once for all of them.

A superset by design: partners are those of any time in the batch, boxes hold more than is asked for, and a cycle's last
condition is left out. Exact all the same: a joined row that is asked for is wanted in each of its tables, and each of
its rows is found from the one that changed; whatever else is sent has its true lifetime, and joins only what is true.

Cost: O(changes, versions sent) and log n a key; 16 virtual edges are one word of bits.
"""

from __future__ import annotations

from operators.cell_view import CellView
from operators.join_interest import JoinInterests
from operators.timeline import Timeline


def send(view: CellView, interests: JoinInterests, partitions: int, first_seq: int) -> list[tuple[Timeline, list[int]]]:
    """Return what the virtual edges below `partitions` are sent of a batch; those that get the same share it.

    Change i of the batch has seq `first_seq` + i, whoever gets it.
    """
    raise NotImplementedError
