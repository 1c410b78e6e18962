"""One soak: a whole stack under load and kills, looked at all the time, verified at the end."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.kafka.producer import Producer
from tests.soak.census import Census, live_subscriptions
from tests.soak.flow import PATIENCE, Flow
from tests.soak.kills import Kill, schedule
from tests.soak.market import QUOTE, TRADE, Asker, Market
from tests.soak.population import Population
from tests.soak.restarts import Restarts, logs_of_slow
from tests.soak.retention import BROKER, apply_settings
from tests.stack.boards import BOARDS
from tests.stack.live_stack import LiveStack, eventually
from tests.stack.notes import NOTE
from tests.stack.offers import OFFER
from tests.stack.ticks import MINUTES, TICK
from tests.stack.ways import Ways
from tidewire.client.client import Client
from tidewire.stack.process_state import ProcessState, processes_in
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka
from tidewire.verification.records.sample import Sample

SEED = 20_261
PARTITIONS = 4
JUDGED = 1_000
"""About so many subscriptions are verified: each of their versions is a scan of all versions of a table's rows."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What is asked of a soak. `turnover`: part of the subscriptions that is replaced or ended in a minute."""

    minutes: float = 60.0
    rate: float = 1_000.0
    subscriptions: int = 100_000
    kill_every: float = 60.0
    turnover: float = 0.02

    @property
    def seconds(self) -> float:
        return self.minutes * 60

    @property
    def sample(self) -> Sample:
        """The share of the subscriptions that is verified."""
        return Sample(min(1.0, JUDGED / max(self.subscriptions, 1)))


@dataclass
class Outcome:
    """What happened; `failures` are what a soak must not have."""

    plan: Plan
    kills: list[dict[str, Any]] = field(default_factory=list)
    restarts: Restarts = field(default_factory=Restarts)
    figures: dict[str, Any] = field(default_factory=dict)
    census: Census | None = None
    report: Report | None = None
    failures: list[str] = field(default_factory=list)


class Soak:
    """Runs a plan in `folder`, which is new. `run` may be interrupted at any point; `close` stops everything."""

    def __init__(self, plan: Plan, folder: Path, say: Say) -> None:
        self.plan = plan
        self.outcome = Outcome(plan)
        self._say = say
        self.stack = LiveStack(folder, virtual_edges=4, broker=BROKER)
        asker = Asker(SEED, self.stack.topics, plan.subscriptions)
        self.population = Population(self.stack.topics.subscriptions, plan.subscriptions, SEED, asker.ask)
        self.ways = Ways(self.stack, random.Random(SEED))

    def run(self) -> Outcome:
        """Start, load, kill, end, verify."""
        self._start()
        flow = Flow(self.stack.kafka, Market(SEED), self.population, self.plan.rate, self.plan.turnover)
        census = self.outcome.census = Census(self.stack, time.monotonic(), note=self.outcome.restarts.note)
        flow.start()
        census.start()
        for kill in [*schedule(self.plan.seconds, self.plan.kill_every, SEED), None]:
            self._watch(census, flow, self.plan.seconds if kill is None else kill.at)
            if kill is not None:
                self._kill(kill, census)
        self._end(flow, census)
        self._verify()
        return self.outcome

    def close(self) -> None:
        """Stop everything as Ctrl-C does."""
        self.stack.stop()

    def _start(self) -> None:
        """Start the stack, declare the tables, ask all questions and wait until they are answered."""
        self.stack.start()
        apply_settings(self.stack.kafka, self.stack.topics)
        with Client(self.stack.settings.address) as client:
            client.apply(f"{TRADE}; {QUOTE}", timeout=PATIENCE, partitions=PARTITIONS)
            client.apply(NOTE, timeout=PATIENCE, partitions=1)
            client.apply(f"{BOARDS}; {OFFER}; {TICK}; {MINUTES}", timeout=PATIENCE)
        began = time.monotonic()
        producer = Producer(self.stack.kafka, PATIENCE)
        for record in self.population.first(0.0):
            producer.send(record)
        producer.flush()
        enough = int(self.plan.subscriptions * 0.9)  # some have ended by their TTL before the last ones came
        eventually(lambda: (live_subscriptions(self.stack) or 0) >= enough or time.sleep(0.5), "all to be live")
        self.outcome.figures["registration_s"] = round(time.monotonic() - began, 1)
        self._say(f"{len(self.population):,} subscriptions after {time.monotonic() - began:.1f} s")

    def _watch(self, census: Census, flow: Flow, until: float) -> None:
        """Wait until so many seconds of the run, telling every minute how it goes."""
        while (left := census.began + until - time.monotonic()) > 0:
            next_minute = 60 - (time.monotonic() - census.began) % 60
            time.sleep(min(left, next_minute))
            if left > next_minute and census.moments:
                self._tell(census, flow)
            if flow.failure is not None:
                raise flow.failure

    def _tell(self, census: Census, flow: Flow) -> None:
        now = census.moments[-1]
        total = sum(memory.mb for _, memory in now.memory)
        self._say(
            f"minute {now.time / 60:.0f}: {flow.sent:,} published, lag {_shown(now.lag)}, "
            f"{_shown(now.live)} live, {_shown(now.deliveries)} deliveries, {total:,.0f} MB in "
            f"{len(now.memory)} processes, {sum(now.disk.values()):,.0f} MB on disk"
        )

    def _kill(self, kill: Kill, census: Census) -> None:
        began = time.monotonic()
        getattr(self.ways, kill.way)()
        self.stack.await_ready("broker", "engine", "edge-0", "edge-1")
        taken = round(time.monotonic() - began, 1)
        processes = processes_in(self.stack.directory.read_status())
        self.outcome.restarts.note(processes)
        told = {"way": kill.way, "at_s": round(began - census.began), "ready_after_s": taken}
        self.outcome.kills.append(told | {"slow": list(logs_of_slow(processes, taken))})
        each = ", ".join(f"{one.name} {_took(one)}" for one in processes)
        self._say(f"killed: {kill.way}; ready after {taken} s ({each})")

    def _end(self, flow: Flow, census: Census) -> None:
        """Publish no more, and wait until all is read and told."""
        seconds = time.monotonic() - census.began
        sent = flow.sent
        flow.finish()
        stopped = time.monotonic()
        self.stack.await_all_read()
        census.finish()
        self.outcome.figures |= {
            "publications": flow.sent,
            "publications_per_s": round(sent / seconds, 1),
            "caught_up_after_s": round(time.monotonic() - stopped, 1),
            "subscriptions": dict(self.population.counts),
            "kills": self.stack.kills,
        }

    def _verify(self) -> None:
        self._say("verifying")
        began = time.monotonic()
        sample = self.plan.sample
        self.outcome.report = verify_kafka(self.stack.kafka, self.stack.topics, PATIENCE, sample)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        self.outcome.figures |= {"verify_s": round(time.monotonic() - began), "verify_peak_mb": round(peak)}
        self._say(f"verified in {time.monotonic() - began:.0f} s, {peak:,.0f} MB at most")


def _took(process: ProcessState) -> str:
    """Say how long the present start of a process took, and why there was one."""
    why = f" after {process.last[-1].why}" if process.last else ""
    return f"{process.ready_after_s} s{why}"


def _shown(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
