"""Progress: which batches are committed, told to every virtual edge and, last, to the topic `batches`.

The truth is the checkpoint's commit log. Whatever stands there and not yet in `batches` is written, in order, also
by a later start: so a crash between a batch's commit and its progress loses nothing (promise 1 of restarts).
A progress record follows all of its batch's messages, because the sink has flushed before the commit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import msgspec

from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Control, Progress, control_at, encode_control
from streaming.checkpoint.checkpoint import Checkpoint, CheckpointError
from streaming.epoch.cluster import Cluster

PROGRESS_KEY = b"@progress"
_BLOCK = 500


def utc_now() -> str:
    """Return the present moment as ISO text with milliseconds, in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_every_edge(topics: Topics, partitions: int, key: bytes, record: Control) -> list[OutRecord]:
    """Return `record` once for each virtual edge."""
    value = encode_control(record)
    return [OutRecord(topics.notifications, edge, key, value) for edge in range(partitions)]


class ProgressWriter:
    """Writes the progress of one epoch.

    `last` is the last batch written, -1 before the first. Call `recover` once before anything else.
    Cost: two acknowledged rounds of small records (4-10 ms) a batch.
    """

    def __init__(
        self,
        cluster: Cluster,
        checkpoint: Checkpoint,
        topics: Topics,
        partitions: int,
        epoch: int,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._cluster = cluster
        self._checkpoint = checkpoint
        self._topics = topics
        self._partitions = partitions
        self._epoch = epoch
        self._now = now
        self._newest: Progress | None = None
        self.last = -1

    def recover(self) -> None:
        """Find the last batch of this epoch in `batches`.

        The checkpoint must have planned it with the same end. (Its commit may be missing: the batch runs again,
        and gives the same records.)

        Raises CheckpointError if it has not: it is a copy from the past, and would give other batches numbers
        that are taken.
        """
        self._newest = self._find_last()
        self.last = self._before_the_oldest() if self._newest is None else self._newest.batch
        if self._newest is not None and self.last >= 0 and not self._was_planned(self._newest):
            raise CheckpointError(
                f"the checkpoint `{self._checkpoint.uri}` is behind what was already told: it has planned "
                f"{self._checkpoint.last_planned() + 1} batches, but `{self._topics.batches}` has batch {self.last} of "
                f"the same epoch {self._epoch} with another end. It was restored from an older copy; start with a new, "
                "empty checkpoint."
            )

    def pending(self) -> bool:
        """Whether a batch is committed and not yet told."""
        return self._checkpoint.is_committed(self.last + 1)

    def write_committed(self, catalog: int, holds: Callable[[int], int]) -> int:
        """Write the progress of every committed batch after `last`; return how many there were.

        `catalog` is the version announced, `holds` tells under which one a batch ran.
        """
        count = 0
        while self.pending():
            batch = self.last + 1
            start, end = self._checkpoint.ranges(batch)
            self.write(Progress(self._epoch, batch, catalog, self._now(), start, end, holds(batch)))
            count += 1
        return count

    def write_overtaken(self, catalog: int) -> int:
        """Write, without their ranges, the batches that left the log untold; return how many there were.

        That takes a driver that stood still for 100 batches while the JVM went on. The edges go on from there;
        what those batches held cannot be verified from outside. *Cost*: one listing.
        """
        oldest, first = self._checkpoint.first_committed(), self.last + 1
        for batch in range(first, oldest + 1 if oldest > first else first):
            self.write(Progress(self._epoch, batch, catalog, self._now()))
        return self.last + 1 - first

    def repeat(self, catalog: int) -> None:
        """Write the newest progress again, with the present time: nothing new has been committed."""
        newest = self._newest or Progress(self._epoch, -1, catalog, "")
        self.write(msgspec.structs.replace(newest, catalog=catalog, time=self._now()))

    def write(self, progress: Progress) -> None:
        """Write one progress record everywhere; the topic `batches` comes when all edges have theirs."""
        plain = msgspec.structs.replace(progress, start={}, end={}, holds=-1)
        self._cluster.append(to_every_edge(self._topics, self._partitions, PROGRESS_KEY, plain))
        self._cluster.append([OutRecord(self._topics.batches, 0, None, encode_control(progress))])
        self._newest = progress
        self.last = progress.batch

    def _was_planned(self, told: Progress) -> bool:
        checkpoint = self._checkpoint
        if told.batch > checkpoint.last_planned():
            return False
        return told.batch < checkpoint.first_committed() or checkpoint.end_offsets(told.batch) == told.end

    def _before_the_oldest(self) -> int:
        """Where to begin if `batches` holds nothing of this epoch (never written, or trimmed long ago)."""
        oldest = self._checkpoint.first_committed()
        return oldest if oldest > 0 else -1

    def _find_last(self) -> Progress | None:
        """Read `batches` backwards until a record of this epoch. *Cost*: one block, as a rule.

        Raises ControlError, which says where, for a record that no engine wrote or a newer one.
        """
        end = self._cluster.end(self._topics.batches)
        while end > 0:
            start = max(0, end - _BLOCK)
            for record in reversed(self._cluster.read(self._topics.batches, start, end)):
                found = control_at(self._topics.batches, 0, record.offset, record.value)
                if isinstance(found, Progress) and found.epoch == self._epoch:
                    return found
            end = start
        return None
