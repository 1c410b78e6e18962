"""Read the log of publications: which versions there are, and what lies between two points, in order.

Through delta-rs (`deltalake`), without a JVM: opening takes tens of milliseconds where a Spark session takes seconds,
and the table has reader version 1, which every reader of Delta understands. Reading always takes the newest version
of the table and selects by offset, since nothing is ever deleted from it: compacting and vacuuming do not matter.

**Order.** Versions in order; within a version by (running maximum of the timestamp over a partition's records in
that version, topic, partition, offset), as a shard orders a batch (shard/order.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from connectors.log.cut import Cut, Lives, Place, Span, Step, earlier, joinable, joined, steps
from connectors.log.mark import LogMark, decode_mark
from connectors.record import RawRecords
from state.arrow_strings import ArrowStrings
from state.change_batch import I64
from state.errors import TidewireError, UserError

CHUNK = 200_000
"""Records that are read, and put in order, at a time."""
_LARGEST_STEP = 1_000_000
"""No version has more records; what lies below the oldest version kept may have."""
_COLUMNS = ["topic", "partition", "offset", "key", "value", "timestamp"]


class NoLog(UserError):
    """There is no log where one was expected."""

    code = "no_log"


class TooOld(UserError):
    """A version or moment is asked for that the log does not reach back to, or has not reached yet."""

    code = "too_old"


class LogUnreadable(TidewireError):
    """The log's storage does not answer, or its files are damaged."""

    code = "log_unreadable"
    retry_helps = True


@dataclass(frozen=True, slots=True)
class LogVersion:
    """A version of the table that has publications: its number, when it was committed (ms), and its mark."""

    version: int
    time: int
    mark: LogMark
    cut: Cut
    rows: int


@dataclass(frozen=True, slots=True)
class LogSize:
    """Rows and files of the newest version."""

    rows: int
    files: int
    bytes: int


@dataclass(slots=True)
class Chunk:
    """Publications in order: columns as in the table, timestamps in microseconds, and `step`, which numbers steps."""

    table: pa.Table
    step: I64

    def __len__(self) -> int:
        return len(self.step)

    def records(self, topic: str, where: Any = None) -> RawRecords:
        """Return the records of one topic, in order; only those at the places `where`, if given."""
        table = self.table if where is None else self.table.take(pa.array(where))
        table = table.filter(pc.equal(table.column("topic"), topic)).combine_chunks()
        column = {name: _array(table, name) for name in _COLUMNS[1:]}
        return RawRecords(
            topic=topic,
            keys=ArrowStrings.of_bytes(column["key"]),
            values=ArrowStrings.of_bytes(column["value"]),
            partition=column["partition"].to_numpy().astype(np.int32, copy=False),
            offset=column["offset"].to_numpy().astype(np.int64, copy=False),
            timestamp=column["timestamp"].to_numpy().astype(np.int64, copy=False),
        )


class PublicationLog:
    """The log at `uri`. `storage` are options for object stores, as delta-rs names them.

    *Cost*: opening reads the commits that are kept, 20,000 in about a second.
    """

    def __init__(self, uri: str, storage: Mapping[str, str] | None = None) -> None:
        self.uri = uri
        self.lives = Lives()
        try:
            self._table = DeltaTable(uri, storage_options=dict(storage or {}))
            commits = self._table.history()
        except TableNotFoundError as missing:
            raise NoLog(
                f"there is no log at `{uri}`. The engine keeps one where `log_seconds` is not 0; name the data "
                "directory of its stack by --data-dir, or another place by `log_table`."
            ) from missing
        except (DeltaError, OSError) as error:
            raise LogUnreadable(f"the log `{uri}` cannot be read: {error}. Try again.") from error
        self.versions = [found for commit in reversed(commits) if (found := self._version(commit))]

    def _version(self, commit: dict[str, Any]) -> LogVersion | None:
        mark = decode_mark(commit.get("userMetadata"))
        if mark is None:
            return None
        rows = int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
        return LogVersion(commit["version"], commit["timestamp"], mark, self.lives.cut(mark), rows)

    @property
    def newest(self) -> LogVersion:
        """The newest version. *Raises* NoLog if nothing has been written yet."""
        if not self.versions:
            raise NoLog(f"the log at `{self.uri}` is empty: no publication has been written to it yet.")
        return self.versions[-1]

    @property
    def earliest(self) -> LogVersion:
        """The earliest version whose publications are known: the first, or where that is gone the second one kept."""
        whole = self.newest is self.versions[0] or self.versions[0].mark.number == 0
        return self.versions[0] if whole else self.versions[1]

    @cached_property
    def size(self) -> LogSize:
        """How large the table is now."""
        files = pa.table(self._table.get_add_actions(flatten=True))
        rows = pc.sum(files.column("num_records")).as_py() or 0
        return LogSize(rows, len(files), pc.sum(files.column("size_bytes")).as_py() or 0)

    def at_version(self, version: int) -> Cut:
        """Return the cut after the publications of `version`. *Raises* TooOld; also if there is no such yet."""
        if version > self._table.version():
            raise TooOld(f"there is no version {version} yet: the newest of the log is {self._table.version()}.")
        return self._last_below(version + 1, version)

    def before_version(self, version: int) -> Cut:
        """Return the cut before the publications of `version`. *Raises* TooOld."""
        return self._last_below(version, version)

    def _last_below(self, limit: int, asked: int) -> Cut:
        found = [one for one in self.versions if one.version < limit]
        self._refuse(not found and self.newest.mark.number > 0 and self.versions[0].mark.number > 0, f"version {asked}")
        return found[-1].cut if found else {}

    def at_time(self, moment: datetime, inclusive: bool = True) -> Cut:
        """Return the cut before each partition's first record that is later than `moment`.

        Without `inclusive`, before its first record that is not earlier. *Cost*: reads the timestamps.
        *Raises* TooOld if that is before the oldest version whose predecessor is known.
        """
        micros = int(moment.astimezone(UTC).timestamp() * 1_000_000)
        cut = dict(self._in_force(micros // 1000).cut)
        for topic, place in cut.items():
            ends = self._first_after(topic, place, moment, inclusive)
            cut[topic] = Place(place.life, {p: min(end, ends.get(p, end)) for p, end in place.ends.items()})
        first = self.versions[0]
        self._refuse(first.mark.number > 0 and earlier(cut, first.cut), moment.isoformat())
        return cut

    def lifted(self, cut: Cut, upto: Cut, topic: str) -> Cut:
        """Return where `topic` is cut by `cut`, but not before the life that `upto` cuts it in."""
        place, last = cut.get(topic), upto.get(topic)
        if last is None:
            return {}
        return {topic: place if place is not None and place.life == last.life else Place(last.life, {})}

    def read(
        self, after: Cut, upto: Cut, topics: Collection[str] | None = None, between: Sequence[Cut] | None = None
    ) -> Iterator[Chunk]:
        """Yield the publications between two cuts, in order, of all topics or some. Steps are numbered from 0.

        They end at the cuts `between`, which ascend; the versions' without it.
        *Cost*: about 1 us a record, and memory for `CHUNK` records or the largest version.
        """
        upto = {topic: place for topic, place in upto.items() if topics is None or topic in topics}
        parts: list[Step] = []
        first = 0
        cuts = [one.cut for one in self.versions] if between is None else between
        for step in steps(after, cuts, upto, _LARGEST_STEP):
            if parts and (_records([*parts, step]) > CHUNK or not joinable(parts, step)):
                yield self._chunk(parts, first)
                first, parts = first + len(parts), []
            parts.append(step)
        if parts:
            yield self._chunk(parts, first)

    def beginning_of(self, cut: Cut) -> Cut:
        """Return the cut before the first record of the lives that `cut` lies in."""
        return {topic: Place(place.life, {}) for topic, place in cut.items()}

    def count(self, after: Cut, upto: Cut) -> int:
        """Return how many offsets lie between two cuts; some of them may have no record."""
        return _records(list(steps(after, [one.cut for one in self.versions], upto, _LARGEST_STEP)))

    def _chunk(self, parts: list[Step], first: int) -> Chunk:
        spans = joined(parts)
        dataset = self._table.to_pyarrow_dataset()
        wanted = [_filter(span, self.lives.id(span.topic, span.life)) for span in spans]
        found = dataset.to_table(columns=_COLUMNS, filter=_any(wanted))
        number = _step_numbers(found, parts)
        table, step = found.filter(pa.array(number >= 0)), number[number >= 0] + first
        table = table.set_column(5, "timestamp", table.column("timestamp").cast(pa.timestamp("us")).cast(pa.int64()))
        order = _order(table, step)
        return Chunk(table.take(pa.array(order)), step[order])

    def _in_force(self, millis: int) -> LogVersion:
        return next((one for one in reversed(self.versions) if one.time <= millis), self.newest)

    def _first_after(self, topic: str, place: Place, moment: datetime, inclusive: bool) -> dict[int, int]:
        field = pc.field("timestamp")
        stamp = pa.scalar(moment.astimezone(UTC), pa.timestamp("us", "UTC"))
        late = field > stamp if inclusive else field >= stamp
        known = (pc.field("topic") == topic) & (pc.field("topic_id") == self.lives.id(topic, place.life))
        rows = self._table.to_pyarrow_dataset().to_table(columns=["partition", "offset"], filter=known & late)
        least = rows.group_by("partition").aggregate([("offset", "min")])
        return dict(zip(least["partition"].to_pylist(), least["offset_min"].to_pylist(), strict=True))

    def _refuse(self, refused: bool, what: str) -> None:
        if refused:
            found = self.earliest
            raise TooOld(
                f"{what} is too old: the earliest version that can be replayed is {found.version}, of "
                f"{datetime.fromtimestamp(found.time / 1000, UTC).isoformat(timespec='seconds')}."
            )


def _records(parts: list[Step]) -> int:
    return sum(span.records for step in parts for span in step)


def _filter(span: Span, number: str) -> Any:
    low, high = min(span.begin.values()), max(span.end.values())
    offset = pc.field("offset")
    whose = (pc.field("topic") == span.topic) & (pc.field("topic_id") == number)
    return whose & (offset >= low) & (offset < high)


def _any(filters: list[Any]) -> Any:
    whole = filters[0]
    for one in filters[1:]:
        whole = whole | one
    return whole


def _step_numbers(table: pa.Table, parts: list[Step]) -> I64:
    """Return in which of `parts` each row lies, -1 for none."""
    number = np.full(len(table), -1, np.int64)
    topics = table.column("topic").combine_chunks().dictionary_encode()
    topic_codes = _array_of(topics).indices.to_numpy() if len(table) else np.zeros(0, np.int32)
    names = _array_of(topics).dictionary.to_pylist() if len(table) else []
    partitions, offsets = table.column("partition").to_numpy(), table.column("offset").to_numpy()
    for (topic, partition), (begins, ends, numbers) in _bounds(parts).items():
        if topic not in names:
            continue
        rows = np.flatnonzero((topic_codes == names.index(topic)) & (partitions == partition))
        place = np.searchsorted(ends, offsets[rows], "right")
        inside = place < len(ends)
        place = np.minimum(place, len(ends) - 1)
        inside &= offsets[rows] >= begins[place]
        number[rows] = np.where(inside, numbers[place], -1)
    return number


def _bounds(parts: list[Step]) -> dict[tuple[str, int], tuple[I64, I64, I64]]:
    """Return begins, ends and step numbers of each partition, ascending."""
    lists: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for number, span in ((number, span) for number, step in enumerate(parts) for span in step):
        for partition, end in span.end.items():
            lists.setdefault((span.topic, partition), []).append((span.begin[partition], end, number))
    arrays = {key: np.array(rows, np.int64).T for key, rows in lists.items()}
    return {key: (columns[0], columns[1], columns[2]) for key, columns in arrays.items()}


def _order(table: pa.Table, step: I64) -> I64:
    """Return the order of the rows; see the module's header. Cost: O(m log m)."""
    topics = np.array(pc.rank(table.column("topic"), tiebreaker="dense")) if len(table) else step
    partition, offset = table.column("partition").to_numpy(), table.column("offset").to_numpy()
    by_offset = np.lexsort((offset, partition, topics, step))
    stamp = table.column("timestamp").to_numpy()[by_offset].copy()
    keys = np.stack([step[by_offset], topics[by_offset], partition[by_offset]])
    starts = np.flatnonzero(np.any(np.diff(keys, axis=1, prepend=-1), axis=0))
    for start, end in zip(starts, [*starts[1:], len(stamp)], strict=True):
        np.maximum.accumulate(stamp[start:end], out=stamp[start:end])
    return by_offset[np.lexsort((stamp, step[by_offset]))]


def _array(table: pa.Table, name: str) -> pa.Array:
    return _array_of(table.column(name))


def _array_of(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
