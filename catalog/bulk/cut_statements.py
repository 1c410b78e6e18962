"""Many statements in one array of bytes, cut at their literals: `catalog/query/template.py` in columns.

Only *simple* statements are cut (`catalog/bulk/statement_kernels.py`); about all others nothing is known here.
Cost: 0.2 us a statement of 80 bytes, 16 bytes for each two bytes of text while they are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalog.bulk.statement_kernels import U8, U64, alike, literal_hashes, same_literals, scan
from catalog.query.template import Key
from state.change_batch import I64


@dataclass(frozen=True, slots=True)
class CutStatements:
    """Statement i is data[starts[i] : ends[i]]; the columns are explained in `catalog/bulk/statement_kernels.py`."""

    data: U8
    starts: I64
    ends: I64
    spans: I64
    first: I64
    counts: I64
    hashes: U64

    @classmethod
    def of(cls, data: U8, starts: I64, ends: I64) -> CutStatements:
        """Cut statements that lie apart from each other in `data`."""
        count = len(starts)
        spans = np.empty((int((ends - starts).sum()) // 2 + count + 1, 2), np.int64)
        first, counts, hashes = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.uint64)
        scan(data, starts, ends, spans, first, counts, hashes)
        return cls(data, starts, ends, spans, first, counts, hashes)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def simple(self) -> I64:
        """The statements that could be cut."""
        return (self.counts >= 0).nonzero()[0]

    def text(self, i: int) -> str:
        """Return a statement. Cost: 0.5 us."""
        return self.data[int(self.starts[i]) : int(self.ends[i])].tobytes().decode()

    def texts(self, rows: I64) -> list[bytes]:
        """Return statements in UTF-8. Cost: 0.2 us each."""
        data = self.data.tobytes()
        spans = zip(self.starts[rows].tolist(), self.ends[rows].tolist(), strict=True)
        return [data[start:end] for start, end in spans]

    def literals(self, i: int) -> list[str]:
        """Return the literals of a simple statement as written. Cost: 0.5 us each."""
        spans = self.spans[int(self.first[i]) : int(self.first[i]) + int(self.counts[i])].tolist()
        return [self.data[start:end].tobytes().decode() for start, end in spans]

    def key(self, i: int) -> Key:
        """Return the key of the template of a simple statement."""
        begins, edges = int(self.starts[i]), [0]
        text = self.data[begins : int(self.ends[i])].tobytes()
        for start, end in self.spans[int(self.first[i]) : int(self.first[i]) + int(self.counts[i])].tolist():
            edges += [start - begins, end - begins]
        edges.append(len(text))
        parts = tuple(text[edges[k] : edges[k + 1]].decode() for k in range(0, len(edges), 2))
        return parts, tuple(text[at : at + 1] == b"'" for at in edges[1:-1:2])

    def by_template(self, least: int = 1) -> list[I64]:
        """Return the simple statements of each template that has at least so many, in order.

        Those of a template that has the hash of another one are left out (there is none but by design).
        """
        simple = self.simple
        if not len(simple):
            return []
        same = np.empty(len(self), np.bool_)
        parts = []
        for rows in (run for run in _runs(self.hashes[simple], simple) if len(run) >= least):
            alike(
                self.data, self.starts, self.ends, self.spans, self.first, self.counts, rows, int(rows[0]),
                same[: len(rows)],
            )  # fmt: skip
            parts.append(rows[same[: len(rows)]])
        return parts

    def by_literals(self, rows: I64, which: I64) -> list[I64]:
        """Part statements of one template by their literals number `which`; all of a part have the same ones.

        Cost: 0.1 us a statement, 3 us a part.
        """
        hashes = np.empty(len(rows), np.uint64)
        literal_hashes(self.data, self.spans, self.first, rows, which, hashes)
        _, model, place = np.unique(hashes, return_index=True, return_inverse=True)
        same = np.empty(len(rows), np.bool_)
        same_literals(self.data, self.spans, self.first, rows, rows[model][place], which, same)
        alone = [np.array([row], np.int64) for row in rows[~same].tolist()]
        return _runs(hashes[same], rows[same]) + alone


def _runs(keys: U64, rows: I64) -> list[I64]:
    """Return the rows of each key, in order."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.split(rows[order], starts) if len(rows) else []
