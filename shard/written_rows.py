"""What a batch writes to the topic of a view: its rows for whoever reads Kafka.

    CREATE VIEW low WITH ('topic'='low') AS SELECT symbol, MIN(price) AS price FROM quote GROUP BY symbol

    key                  value                              header `tidewire`
    {"symbol":"A"}       {"symbol":"A","price":"5.00"}      {"shard":"low/0","epoch":0,"batch":6,"n":0,"at":{...}}
    {"symbol":"A"}       nothing: the row went              {"shard":"low/0","epoch":0,"batch":7,"n":0,"at":{...}}

A record is what one publication, which `at` names, did to one row; its first record of a shard has all rows as they are
before the batch, and names none. (epoch, batch, n) rises from record to record of a shard. A batch that runs again
writes the same bytes again: so a reader tells what it has had by these three numbers, for each shard and partition.

Keys and values are written as rows are published (`connectors/json/writer.py`), but NULL may be in a key. Nothing is
written before the engine says so (`operators.control.Write`): a shard that catches up with what was told before would
say it again, and a topic has keys of an earlier life of the view, which the shard does not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from connectors.json.scalar import scalar_text
from connectors.record import OutRecord
from operators.batch_view import BatchView
from shard.moved import Moved
from shard.state import ShardState
from state.causes import Causes
from state.change_batch import I64

NO_ROW = -1
"""A version that is none (`state.row_store.Replay`)."""


class WrittenRows:
    """The records of `member`, a view, for its topic, in order.

    Cost: 1 us a value of each row that is written, and 2 us a record.
    """

    def __init__(self, topic: str, epoch: int, batch: int, member: ShardState) -> None:
        self.records: list[OutRecord] = []
        self._topic = topic
        self._member = member
        self._head = f'{{"shard":{_quoted(member.shard)},"epoch":{epoch},"batch":{batch},"n":'

    def take_rows(self) -> None:
        """Write what the member is asked to write before any change: all rows, and deletions of keys without a row."""
        (rows, keys), member = self._member.to_write, self._member
        member.to_write = (False, [])
        if not rows and not keys:
            return
        view = member.table.still()
        held = row_keys(view)
        if rows:
            for key, value in zip(held, _documents(view, _all_columns(view), _rows_of(view)), strict=True):
                self._add(key, value)
        for key in sorted({key.encode() for key in keys}.difference(held)):
            self._add(key, None)

    def take_changes(self, moved: Moved) -> None:
        """Write what each cause did to each row; the table has not taken the changes over yet."""
        view, causes, replay = moved.view, moved.causes, moved.view.replay
        changed = np.flatnonzero(replay.before != replay.after)
        after = replay.after[changed]
        there = after != NO_ROW
        keys = _documents(view, _key_columns(view), np.where(there, after, replay.before[changed]))
        values = iter(_documents(view, _all_columns(view), after[there]))
        named = zip(keys, there.tolist(), moved.cause[changed].tolist(), strict=True)
        for key, is_there, cause in named:
            self._add(key, next(values) if is_there else None, _at(causes, cause))

    def _add(self, key: bytes, value: bytes | None, at: str = "") -> None:
        header = f"{self._head}{len(self.records)}{at}}}".encode()
        self.records.append(OutRecord(self._topic, None, key, value, header))


def row_keys(view: BatchView) -> list[bytes]:
    """Return the key that the record of each row of a view has, as the rows are before the batch."""
    return _documents(view, _key_columns(view), _rows_of(view))


def _rows_of(view: BatchView) -> I64:
    return np.arange(view.replay.rows)


def _all_columns(view: BatchView) -> Sequence[int]:
    return [i for i, column in enumerate(view.relation.columns) if not column.of]


def _key_columns(view: BatchView) -> Sequence[int]:
    return [i for i, column in enumerate(view.relation.columns) if column.name in view.relation.key]


def _documents(view: BatchView, columns: Sequence[int], versions: I64) -> list[bytes]:
    """Return the JSON object of some columns of each version."""
    if not columns:
        return [b"{}"] * len(versions)
    members = [_members(view, number, versions) for number in columns]
    return [("{" + ",".join(texts) + "}").encode() for texts in zip(*members, strict=True)]


def _members(view: BatchView, number: int, versions: I64) -> Iterator[str]:
    """Yield the member of a column in the object of each version."""
    column, replay = view.relation.columns[number], view.replay
    name = _quoted(column.name) + ":"
    codes, valid = replay.codes[number][versions], replay.valid[number][versions]
    if column.type.coded:
        texts = iter([scalar_text(column.type, code) for code in codes[valid].tolist()])
    else:
        found = view.rows.texts_of(number, codes[valid])
        texts = iter(found if column.type.whole else map(_quoted, found))
    return (name + (next(texts) if there else "null") for there in valid.tolist())


def _at(causes: Causes, cause: int) -> str:
    """Return the member that names a publication."""
    topic, partition = causes.topics[int(causes.topic[cause])], int(causes.partition[cause])
    place = f'{{"topic":{_quoted(topic)},"partition":{partition},"offset":{int(causes.offset[cause])}}}'
    return f',"at":{place}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
