"""Claims and epochs: who is the engine, and since when.

An engine's epoch is the offset of its claim record in the topic `engines`; the record's key is a random id that
the checkpoint remembers. The higher epoch wins: an engine that sees one stops itself, and edges drop what lower
epochs still send. Steps, each safe to repeat after a crash:

    1. the id is stored in the checkpoint, before batch 0
    2. the claim is written; its offset is the epoch, stored beside the id
       (a crash in between makes a second claim; nothing was done under the first)
    3. `epoch begins` goes to every notifications partition; from there edges drop lower epochs
    4. the end offsets of the topics read are noted; the query catches up
    5. past them `register` goes to every notifications partition: edges register everything, stating the epoch
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import EpochBegins, Offsets, RegisterAll
from state.errors import TidewireError, UserError
from streaming.checkpoint.checkpoint import Checkpoint, CheckpointError, Sidecar
from streaming.epoch.cluster import Cluster
from streaming.epoch.progress import to_every_edge, utc_now

EPOCH_KEY = b"@epoch"
REGISTER_KEY = b"@register"
STILL_SECONDS = 3.0
"""A living engine writes to `batches` every second; unmoved for this long means that none lives."""


class ClaimConflictError(UserError):
    """Another engine is at work on these topics."""

    code = "engine_running"


class SupersededError(TidewireError):
    """A newer engine has claimed these topics; this one must stop."""

    code = "superseded"


class ClaimRecord(msgspec.Struct, frozen=True, tag="claim", tag_field="kind", omit_defaults=True):
    """What a claim says; its offset is the epoch. from_log: how many groups begin with what the log had of them."""

    id: str
    time: str
    checkpoint: str
    from_log: int = 0


@dataclass(frozen=True, slots=True)
class LivenessProbe:
    """Where the topic `batches` ended, and when that was looked up (monotonic seconds)."""

    end: int
    since: float

    @classmethod
    def begin(cls, cluster: Cluster, topics: Topics, clock: Callable[[], float] = time.monotonic) -> LivenessProbe:
        """Look now; some seconds later `check` says whether anybody wrote in between."""
        return cls(cluster.end(topics.batches), clock())

    def check(
        self,
        cluster: Cluster,
        topics: Topics,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Wait until `STILL_SECONDS` have passed since `begin`.

        Raises ClaimConflictError if `batches` has moved.
        """
        sleep(max(0.0, self.since + STILL_SECONDS - clock()))
        end = cluster.end(topics.batches)
        if end != self.end:
            raise ClaimConflictError(
                f"another engine is at work: `{topics.batches}` moved from {self.end} to {end} within "
                f"{STILL_SECONDS:.0f} s. Stop it first, or take over (`--take-over`) to make it stop itself."
            )


def claim(cluster: Cluster, topics: Topics, checkpoint: Checkpoint, new_id: Callable[[], str] | None = None) -> Sidecar:
    """Return the checkpoint's sidecar with an epoch; make the claim if it has none yet (steps 1 and 2).

    Raises:
        CheckpointError: Spark's logs are there but not our file.
        SupersededError: a newer engine has claimed the topics.
    """
    sidecar = checkpoint.load()
    if sidecar is None:
        if checkpoint.last_planned() >= 0:
            raise CheckpointError(
                f"`{checkpoint.uri}` holds batches up to {checkpoint.last_planned()} but not `tidewire/engine.json`: "
                "it was not made by this engine, or is an incomplete copy. Use a new, empty folder."
            )
        sidecar = Sidecar(claim=(new_id or _random_id)())
        checkpoint.store(sidecar)
    if sidecar.epoch < 0:
        record = ClaimRecord(sidecar.claim, utc_now(), checkpoint.uri, len(sidecar.seeds))
        value = msgspec.json.encode(record)
        sidecar.epoch = cluster.append([OutRecord(topics.engines, 0, sidecar.claim.encode(), value)])[0]
        checkpoint.store(sidecar)
    return sidecar


def _random_id() -> str:
    return "claim-" + secrets.token_hex(12)


class ClaimWatch:
    """Looks for newer claims. *Cost* of `check`: one round trip, plus the counters written since the last one."""

    def __init__(self, cluster: Cluster, topics: Topics, sidecar: Sidecar) -> None:
        self._cluster = cluster
        self._topics = topics
        self._own = sidecar.claim.encode()
        self._epoch = sidecar.epoch
        self._next = sidecar.epoch + 1

    def check(self) -> None:
        """Raise SupersededError if another engine has claimed the topics since."""
        end = self._cluster.end(self._topics.engines)
        if end <= self._next:
            return
        for record in self._cluster.read(self._topics.engines, self._next, end):
            found = _read_claim(record.value)
            if found is not None and record.key != self._own:
                raise SupersededError(
                    f"a newer engine has taken over: epoch {record.offset} was claimed at {found.time} with the "
                    f"checkpoint `{found.checkpoint}`, ours is {self._epoch}. This engine has stopped; to go back "
                    "to it, start it with a new checkpoint and `--take-over`."
                )
        self._next = end


def _read_claim(value: bytes | None) -> ClaimRecord | None:
    if value is None or b'"claim"' not in value[:32]:
        return None
    try:
        return msgspec.json.decode(value, type=ClaimRecord)
    except msgspec.DecodeError:
        return None


@dataclass(frozen=True, slots=True)
class EpochOpening:
    """Steps 3 to 5 of an epoch, for `partitions` virtual edges. *Cost*: two rounds of small records in all."""

    cluster: Cluster
    checkpoint: Checkpoint
    topics: Topics
    partitions: int

    def begin(self, sidecar: Sidecar, catalog: int, names: Sequence[str]) -> None:
        """Announce the epoch and note where the topics `names` end; nothing if that has been done before."""
        if not sidecar.begun:
            record = EpochBegins(sidecar.epoch, catalog)
            self.cluster.append(to_every_edge(self.topics, self.partitions, EPOCH_KEY, record))
            sidecar.begun = True
            sidecar.silences = self.cluster.end(self.topics.silences)
            sidecar.catch_up = {name: _as_offsets(self.cluster.ends(name)) for name in names}
            self.checkpoint.store(sidecar)

    def register(self, sidecar: Sidecar, catalog: int, names: Sequence[str], reached: Offsets) -> bool:
        """Tell the edges to register once `reached` is past the noted ends; return whether that has been done.

        `names` are the topics read now: one that has left the catalog is not waited for.
        """
        if sidecar.registered or sidecar.catch_up is None:
            return sidecar.registered
        if not all(
            _passed(sidecar.catch_up[name], reached.get(name, {})) for name in names if name in sidecar.catch_up
        ):
            return False
        record = RegisterAll(sidecar.epoch, catalog)
        self.cluster.append(to_every_edge(self.topics, self.partitions, REGISTER_KEY, record))
        sidecar.registered = True
        self.checkpoint.store(sidecar)
        return True


def _as_offsets(ends: dict[int, int]) -> dict[str, int]:
    return {str(partition): end for partition, end in ends.items()}


def _passed(wanted: dict[str, int], reached: dict[str, int]) -> bool:
    return all(end == 0 or reached.get(partition, 0) >= end for partition, end in wanted.items())
