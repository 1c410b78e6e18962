"""Format `json`: a topic of rows by primary key; a tombstone is a delete."""

from __future__ import annotations

import numpy as np

from catalog.relation import Relation
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded
from connectors.json_record import JsonRecordDecoder, JsonRow
from connectors.record import RawRecords
from state.change_batch import ChangeBatch

_SAMPLED_NAMES = 20
_SAMPLED_CHARACTERS = 64


class JsonFormat:
    """Decodes batches of one relation. `keyless`: rows without a Kafka key are taken (one partition)."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self.relation = relation
        self._exact = JsonRecordDecoder(relation, keyless)

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records."""
        rows: list[JsonRow] = []
        taken: list[int] = []
        dead: list[DeadLetter] = []
        for i, (key, value) in enumerate(zip(records.keys, records.values, strict=True)):
            try:
                rows.append(self._exact.decode(key, value))
                taken.append(i)
            except RecordFault as fault:
                dead.append(_letter(records, i, fault))
        unknown = next((row.unknown for row in rows if row.unknown), [])
        names = [name[:_SAMPLED_CHARACTERS] for name in unknown[:_SAMPLED_NAMES]]
        return Decoded(self._changes(records, rows, taken), dead, names, self._seen(rows))

    def _changes(self, records: RawRecords, rows: list[JsonRow], taken: list[int]) -> ChangeBatch:
        columns = self.relation.columns
        codes = np.zeros((len(columns), len(rows)), np.int64)
        valid = np.zeros((len(columns), len(rows)), bool)
        texts: dict[int, list[str | None]] = {}
        for c, column in enumerate(columns):
            values = [row.values[c] for row in rows]
            valid[c] = [value is not None for value in values]
            if column.type.coded:
                codes[c] = [value or 0 for value in values]
            else:
                texts[c] = [None if value is None else str(value) for value in values]
        live = np.array([row.live for row in rows], bool)
        kept = None
        if self.relation.absent == "keep":
            kept = np.array([[not row.present[c] for row in rows] for c in range(len(columns))], bool) & live
        where = np.array(taken, np.int64)
        return ChangeBatch(
            [row.key for row in rows], live, codes, valid, texts, records.partition[where], records.offset[where], kept
        )

    def _seen(self, rows: list[JsonRow]) -> dict[str, int]:
        return {c.name: sum(row.present[i] for row in rows) for i, c in enumerate(self.relation.columns)}


def _letter(records: RawRecords, i: int, fault: RecordFault) -> DeadLetter:
    position = int(records.partition[i]), int(records.offset[i]), int(records.timestamp[i])
    return DeadLetter(fault.code, fault.message, records.topic, *position, records.keys[i], records.values[i])
