"""Stage `resolve`: changes that hang on the stored rows become changes that say all themselves.

    published again                nothing (replayed_changes.py)
    truncate                       a delete of every row that there is then
    a row came under another key   a delete of the one, then the other
    members that are kept          the value of the row as it is then; where there is no such row, a dead letter if
                                   the value is unknown (a placeholder), else as the change has it: NULL if it was left
                                   out (`absent` = `keep`)

"Then" is after the changes before it in the batch. A create that stands for a change of key takes what it keeps from
the row that was deleted in the same moment of the source's log, before it (`deleted_rows.py`) or behind it in the
batch.

Cost: nothing where no change hangs on anything; else O(rows + changes) in Python, 1 us each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from catalog.schema.relation import Relation
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded
from connectors.record import RawRecords
from connectors.unresolved import Unresolved
from shard.deleted_rows import Graves, Image
from shard.replayed_changes import Repeats
from state.causes import Causes
from state.change_batch import Bool, ChangeBatch
from state.row_store import RowStore

_GONE = -1


@dataclass(slots=True)
class Resolved:
    """`changes` for the operator and where they come from; `dead`: records that cannot be resolved.

    repeated: bool[decoded changes], those that were left out, as they had been published before.
    """

    changes: ChangeBatch
    causes: Causes
    repeated: Bool
    dead: list[DeadLetter] = field(default_factory=list)


def resolve(
    decoded: Decoded, records: RawRecords, relation: Relation, rows: RowStore, graves: Graves, repeats: Repeats
) -> Resolved:
    """Settle the changes of a batch over the stored `rows`; `graves` and `repeats` are brought up to date.

    What is kept is written into the changes of `decoded`, which are not to be applied any more.
    """
    settling, changes = decoded.settling, decoded.changes
    if settling is None:
        return Resolved(changes, Causes.of(relation.topic, changes), np.zeros(len(changes), np.bool_))
    repeated = repeats.mark(changes, settling)
    if not repeated.any() and not _hangs(settling, changes, relation):
        return Resolved(changes, Causes.of(relation.topic, changes), repeated)
    return _Walk(changes, settling, records, relation, rows, graves, repeated).run()


def _hangs(settling: Unresolved, changes: ChangeBatch, relation: Relation) -> bool:
    """Whether some change hangs on rows, or deletes one that a later change may hang on."""
    kept = changes.kept is not None and bool(changes.kept.any())
    buries = bool(settling.moments) and not changes.live.all() and any(not c.type.coded for c in relation.columns)
    return kept or buries or bool(settling.origins) or bool(settling.truncates.any())


class _Walk:
    """Walks the changes in order; knows the rows as they are before each.

    latest: key -> the change that left it, or `_GONE`; the keys that no change was about are as stored, unless
    `emptied`.  out: change, key, and whether it is there afterwards.  implied: places in it of what no record says.
    deleted: moment -> key of the row that a record of this batch deletes then.
    """

    def __init__(
        self, changes: ChangeBatch, settling: Unresolved, records: RawRecords, relation: Relation, rows: RowStore,
        graves: Graves, repeated: Bool,
    ) -> None:  # fmt: skip
        self._changes = changes
        self._settling = settling
        self._records = records
        self._relation = relation
        self._rows = rows
        self._graves = graves
        self._kept: Bool = np.zeros_like(changes.valid) if changes.kept is None else changes.kept
        self._texts = {c: list(texts) for c, texts in changes.texts.items()}
        self._latest: dict[bytes, int] = {}
        self._emptied = False
        asked = list(dict.fromkeys([*changes.keys, *settling.origins.values()]))
        self._stored = dict(zip(asked, rows.find(asked).tolist(), strict=True))
        deletes = [i for i in settling.moments if not changes.live[i] and not repeated[i]]
        self._deleted = {settling.moments[i]: changes.keys[i] for i in deletes}
        self._out: list[tuple[int, bytes, bool]] = []
        self._implied: set[int] = set()
        self._repeated = repeated
        self._dead: list[DeadLetter] = []

    def run(self) -> Resolved:
        """Walk, and return the changes as they are to be applied."""
        for i, key in enumerate(self._changes.keys):
            if self._repeated[i]:
                continue
            if self._settling.truncates[i]:
                self._truncate(i)
            elif self._changes.live[i]:
                self._upsert(i, key)
            else:
                self._delete(i, key)
        taken = self._taken()
        return Resolved(taken, Causes.of(self._relation.topic, taken), self._repeated, self._dead)

    def _truncate(self, i: int) -> None:
        """Delete all that is there: stored rows in their order, then those of this batch as they were written last."""
        stored = [] if self._emptied else [self._rows.key(row) for row in range(len(self._rows))]
        alive = [key for key in stored if key not in self._latest]
        alive += [key for key, change in self._latest.items() if change != _GONE]
        for key in alive:
            self._imply_delete(i, key)
        self._latest.clear()
        self._emptied = True

    def _delete(self, i: int, key: bytes) -> None:
        """Delete a row, and remember it where a create of the same moment may come in another batch."""
        moment = self._settling.moments.get(i)
        image = None if moment is None else self._image(key)
        if image is not None and moment is not None:
            self._graves.bury(moment, image)
        self._out.append((i, key, False))
        self._latest[key] = _GONE

    def _upsert(self, i: int, key: bytes) -> None:
        """Write a row, whole; one that has an `origin` leaves that key. What cannot be filled changes nothing."""
        origin = self._settling.origins.get(i)
        if self._kept[:, i].any():
            try:
                self._fill(i, self._before(i, key, origin))
            except RecordFault as fault:
                self._dead.append(DeadLetter.of(fault, self._records, int(self._settling.records[i])))
                return
        if origin is not None:
            self._imply_delete(i, origin)
            self._latest[origin] = _GONE
        self._out.append((i, key, True))
        self._latest.pop(key, None)  # so that the newest stand last: `_truncate`
        self._latest[key] = i

    def _imply_delete(self, i: int, key: bytes) -> None:
        """Delete a row that change i is not the record of."""
        self._implied.add(len(self._out))
        self._out.append((i, key, False))

    def _before(self, i: int, key: bytes, origin: bytes | None) -> Image | None:
        """Return the row that change i changed, as far as it is known."""
        if origin is not None:
            return self._image(origin)
        moment = self._settling.moments.get(i)
        buried = None if moment is None else self._graves.find(moment)
        if buried is None and moment in self._deleted:
            buried = self._image(self._deleted[moment])
        return self._image(key) if buried is None else buried

    def _image(self, key: bytes) -> Image | None:
        """Return the row `key` as it is now, None where it is not there. Cost: O(columns)."""
        change = self._latest.get(key)
        if change == _GONE:
            return None
        if change is not None:
            valid = self._changes.valid[:, change].tolist()
            codes = self._changes.codes[:, change].tolist()
            return [
                None if not valid[c] else self._texts[c][change] if c in self._texts else codes[c]
                for c in range(len(valid))
            ]
        row = -1 if self._emptied else self._stored[key]
        return None if row < 0 else self._rows.image(row)

    def _fill(self, i: int, image: Image | None) -> None:
        """Put the values that are kept into change i. Raises RecordFault if one is not known."""
        for c in np.flatnonzero(self._kept[:, i]).tolist():
            if image is None and self._settling.unchanged[c, i]:
                raise _unavailable(self._relation.columns[c].name)
            if image is None:
                continue
            value = image[c] if c < len(image) else None  # buried rows lack newer columns
            self._changes.valid[c, i] = value is not None
            if c in self._texts:
                self._texts[c][i] = value if isinstance(value, str) else None
            else:
                self._changes.codes[c, i] = value if isinstance(value, int) else 0

    def _taken(self) -> ChangeBatch:
        """Return `out` as a batch; what one change became has one cause."""
        changes = self._changes
        which = np.array([i for i, _, _ in self._out], np.int64)
        return ChangeBatch(
            [key for _, key, _ in self._out],
            np.array([live for _, _, live in self._out], np.bool_),
            np.ascontiguousarray(changes.codes[:, which]),
            np.ascontiguousarray(changes.valid[:, which]),
            {c: [texts[i] for i in which.tolist()] for c, texts in self._texts.items()},
            changes.partition[which],
            changes.offset[which],
            implied=np.array([place in self._implied for place in range(len(self._out))], np.bool_),
            cause=np.cumsum(np.diff(which, prepend=which[:1]) > 0, dtype=np.int32),
        )


def _unavailable(column: str) -> RecordFault:
    return RecordFault(
        "unavailable_value",
        f"column `{column}`: the record has a placeholder for a value that did not change, and no row is there that "
        "has it; let the connector take a snapshot, or set REPLICA IDENTITY FULL",
    )
