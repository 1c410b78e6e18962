"""Format `debezium-json`: the changes of a database's table as Debezium publishes them.

Records are decoded one by one (`debezium_record.py`); measured: 47 us for one of 250 bytes, 63 us for one of 1,500 with
its schema.
What hangs on stored rows (truncates, values that did not change) is marked and left to the shard (`shard/resolve.py`).
"""

from __future__ import annotations

import numpy as np

from catalog.schema.relation import Relation
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded, sample_names
from connectors.formats.debezium_record import DebeziumChange, DebeziumRecordDecoder
from connectors.formats.row_decoding import in_columns
from connectors.record import RawRecords
from connectors.unresolved import Unresolved
from state.change_batch import ChangeBatch


class DebeziumFormat:
    """Decodes batches of one relation. `keyless`: rows without a Kafka key are taken (one partition)."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self.relation = relation
        self.keyless = keyless
        self._exact = DebeziumRecordDecoder(relation, keyless)

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records. Raises nothing for bad input."""
        changes: list[DebeziumChange] = []
        places: list[int] = []
        dead: list[DeadLetter] = []
        for i, (key, value) in enumerate(zip(records.keys, records.values, strict=True)):
            try:
                change = self._exact.decode(key, value)
            except RecordFault as fault:
                dead.append(DeadLetter.of(fault, records, i))
                continue
            if change is not None:
                changes.append(change)
                places.append(i)
        return self._decoded(records, changes, np.array(places, np.int64), dead)

    def _decoded(
        self, records: RawRecords, changes: list[DebeziumChange], places: np.ndarray, dead: list[DeadLetter]
    ) -> Decoded:
        rows = [change.values if change.kind == "upsert" else () for change in changes]
        codes, valid, texts = in_columns(self.relation, rows)
        present, unchanged = np.zeros_like(valid), np.zeros_like(valid)
        for i, change in enumerate(changes):
            if change.kind == "upsert":
                present[:, i], unchanged[:, i] = change.present, change.unchanged
        live = np.array([change.kind == "upsert" for change in changes], np.bool_)
        kept = unchanged if self.relation.absent != "keep" else unchanged | (~present & live)
        batch = ChangeBatch(
            [change.key for change in changes], live, codes, valid, dict(texts), records.partition[places],
            records.offset[places], kept,
        )  # fmt: skip
        settling = Unresolved(
            np.array([change.kind == "truncate" for change in changes], np.bool_),
            unchanged,
            {i: change.origin for i, change in enumerate(changes) if change.origin is not None},
            {i: change.moment for i, change in enumerate(changes) if change.moment is not None},
            places,
            {i: change.position for i, change in enumerate(changes) if change.position is not None},
        )
        seen = {column.name: int(np.count_nonzero(present[c])) for c, column in enumerate(self.relation.columns)}
        ignored = len(records) - len(changes) - len(dead)
        return Decoded(batch, dead, _unknown(changes), seen, ignored, settling)


def _unknown(changes: list[DebeziumChange]) -> list[str]:
    """Return the names in the first change that has any."""
    names = next((change.unknown for change in changes if change.unknown), [])
    return sample_names(names)
