"""Write `stack.tar.xz`: the data directory of a stack of an older commit, killed amid a batch, and its settings file.

    git worktree add --detach /tmp/older 8c710b4
    cd /tmp/older && PYTHONPATH=/tmp/older:<this repository> python <here>/make_fixture.py <here>/stack.tar.xz

Runs with the modules of /tmp/older, and those of this folder. `cut_process` stands for the function that an engine
runs for a shard. It waits where it is told to, and of one batch it lets out the first chunks of one shard, so that
some virtual edge has the snapshot and not the messages, while another shard of the batch never ends. Then all is
killed. What Kafka builds anew after a kill, its indexes, is left out.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.stack.live_stack import LiveStack

SETTINGS = """\
virtual_edges = 4
edges = 2
http_port = 0
log_seconds = 3
"""
CUT_SHARD = "trade/0"
PASSING = (("data", "logs"), ("data", "run"), ("data", "spark"))
"""What a start makes anew: logs of processes, the status file, Spark's scratch space."""
PROGRAM = (sys.executable, __file__)


def cut_process(spec: Any, batch: int, state: bytes | None, records: Sequence[Any]) -> Any:
    """Run a batch of a shard, but wait or cut as the files in `cut` say. Stands for `process_shard`, in the workers."""
    from pyspark import TaskContext

    from streaming.shard import ShardResult, process_shard

    folder, task = Path(os.environ["TIDEWIRE_DATA_DIR"]).parent / "cut", TaskContext.get().partitionId()
    (folder / f"batch-{batch}").touch()
    while (folder / "wait").exists():
        time.sleep(0.02)
    result = process_shard(spec, batch, state, records)
    if not (folder / "at").exists() or batch != int((folder / "at").read_text()):
        if spec.shard == CUT_SHARD:
            (folder / "task").write_text(str(task))
        return result
    if spec.shard == CUT_SHARD:
        told = [record.partition for record in result.out]
        second = next(i for i in range(1, len(told)) if told[i] == told[i - 1])
        return ShardResult(result.state, result.out[:second])
    while task != int((folder / "task").read_text()):
        time.sleep(1)
    return result


def engine() -> None:
    """Let `tidewire engine` run `cut_process`."""
    from streaming import engine as module

    class CutEngine(module.Engine):
        def __init__(self, config: module.EngineConfig) -> None:
            super().__init__(config, process=cut_process)

    module.Engine = CutEngine


def up() -> None:
    """Let `tidewire up` start this program."""
    from tidewire.stack import embedded

    plain = embedded.EmbeddedStack

    class OwnStack(plain):
        def __init__(self, settings: Any, say: Any) -> None:
            super().__init__(settings, say, PROGRAM)

    embedded.EmbeddedStack = OwnStack


def make(folder: Path) -> None:
    """Fill `folder` with the settings file and a data directory."""
    from tests.stack.live_stack import LiveStack

    (folder / "tidewire.toml").write_text(SETTINGS)
    (folder / "cut").mkdir()
    os.environ["TIDEWIRE_CONFIG"] = str(folder / "tidewire.toml")
    stack = LiveStack(folder / "data", PROGRAM)
    stack.start()
    try:
        _live(stack, folder)
        stack.cut_power()
    finally:
        stack.stop()


def _live(stack: LiveStack, folder: Path) -> None:
    from connectors.kafka import Producer
    from connectors.record import OutRecord
    from tests.stack.live_stack import PATIENCE, eventually
    from tests.stack.trades import QUOTE, TRADE, WIDER_TRADE, Questions
    from tests.upgrade.make_golden import ITEM, ITEM_QUESTIONS, Inputs
    from tidewire.client import Client
    from tidewire.verification.reading import verify_kafka

    inputs, producer = Inputs(stack.topics.subscriptions, Questions(10, stack.topics)), Producer(stack.kafka)

    def send(steps: Iterable[list[Any]]) -> None:
        for _, topic, key, value, partition in steps:
            producer.send(OutRecord(topic, partition, key, value))
        producer.flush()

    def judge() -> None:
        stack.await_all_read()
        report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
        assert report.clean, report

    with Client(stack.settings.address) as client:
        client.apply(f"{TRADE}; {ITEM}", timeout=120, partitions=2)
        send(inputs.publish(200))
        send(inputs.subscribe(100))
        send(inputs.subscription(f"item{i}", {"sql": sql}) for i, sql in enumerate(ITEM_QUESTIONS * 3))
        judge()
        client.apply(f"{WIDER_TRADE}; {QUOTE}", timeout=120, partitions=2)
    inputs.trades.widen()
    send(inputs.subscribe(40, later=True))
    for _ in range(4):
        send(inputs.publish(50))
        judge()
    send(inputs.change(30))
    judge()
    time.sleep(6)
    cut = folder / "cut"
    (cut / "wait").touch()
    send(inputs.publish(10))
    last = _last_batch(cut)
    running = eventually(lambda: (found := _last_batch(cut)) > last and found, "a batch that waits")
    before = stack.look()
    send([*inputs.subscribe(30), *inputs.subscribe(20, later=True)])
    time.sleep(3)
    send(inputs.publish(80))
    (cut / "at").write_text(str(running + 1))
    (cut / "wait").unlink()
    eventually(lambda: _is_cut(stack, running + 1), "a batch to be cut", 60)
    send([*inputs.subscribe(10), *inputs.publish(20)])
    time.sleep(2)
    print(before.warnings, "batch", running + 1)


def _last_batch(cut: Path) -> int:
    return max(int(path.name.removeprefix("batch-")) for path in cut.glob("batch-*"))


def _is_cut(stack: LiveStack, batch: int) -> bool:
    """Whether `notifications` has a chunk of `CUT_SHARD` that says there are others, of `batch`."""
    from connectors.kafka import Reader
    from operators.packed import is_packed, unpack

    read = Reader(stack.kafka).read_to_end(stack.topics.notifications)
    headers = [unpack(record.value).header for record in read if record.value and is_packed(record.value)]
    return any(h.batch == batch and h.shard == CUT_SHARD and h.of > 1 for h in headers)


def pack(folder: Path, target: Path) -> None:
    """Write the archive of `folder`."""

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        path = Path(member.name)
        gone = path.suffix in (".index", ".timeindex") or path.parts[:1] == ("cut",) or path.parts[:2] in PASSING
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member if not gone and (member.isfile() or member.isdir()) else None

    with tarfile.open(target, "w:xz", preset=9) as archive:
        archive.add(folder, ".", filter=kept)


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tidewire-older-") as folder:
        make(Path(folder))
        pack(Path(folder), target)


if __name__ == "__main__":
    {"engine": engine, "up": up}.get(sys.argv[1], lambda: None)()
    if sys.argv[1].endswith(".xz"):
        main(Path(sys.argv[1]))
    else:
        from tidewire.cli import main as tidewire

        tidewire()
