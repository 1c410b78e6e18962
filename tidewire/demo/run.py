"""A demo from start to verdict: a stack of its own, a catalog, subscriptions, events, verification."""

from __future__ import annotations

import datetime as dt
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from state.errors import TidewireError
from tidewire.client.client import Client
from tidewire.demo.story import Event, Story
from tidewire.demo.view import View
from tidewire.demo.watch import Seen, Watch
from tidewire.settings import Settings
from tidewire.stack.running import running_stack
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

_START_SECONDS = 420.0
_STEP_SECONDS = 0.1
_CATCH_UP_SECONDS = 120.0
_PATIENCE_SECONDS = 60.0


class NotCaughtUp(TidewireError):
    """The engine or an edge did not cover everything that was published."""

    code = "demo_behind"
    retry_helps = True


@dataclass(frozen=True, slots=True)
class Pace:
    """When the first day of a story began, and how many times as fast as it happened it is told."""

    first: dt.date
    speed: float


def run_demo(
    settings: Settings, story: Story, pace: Pace, view: View, say: Callable[[str], None]
) -> tuple[Seen, Report]:
    """Run the demo in a data directory of its own, which is removed if all went well or it was stopped.

    Raises TidewireError.
    """
    home = settings.data_dir / f"demo-{time.strftime('%Y%m%d-%H%M%S')}"
    own = settings.model_copy(
        update={"bootstrap": None, "data_dir": home, "prefix": "demo.", "broker_port": 0, "http_port": 0, "edges": 1}
    )
    say(f"starting broker, engine and edge in `{home}` (about 20 s)")
    try:
        with running_stack(own, _START_SECONDS) as status:
            properties = KafkaProperties(str(status["bootstrap"]))
            seen, report = _show(properties, Topics(own.prefix), story, pace, view, say)
    except KeyboardInterrupt:
        _remove(home)
        raise
    if report.clean:
        _remove(home)
    else:
        say(f"logs and data are kept in `{home}`")
    return seen, report


def _show(
    properties: KafkaProperties, topics: Topics, story: Story, pace: Pace, view: View, say: Callable[[str], None]
) -> tuple[Seen, Report]:
    with Client(properties.bootstrap, topics.prefix) as client:
        client.apply(story.ddl)
        catalog = client.catalog()
        _subscribe(client, story.asked, say)
    watch = Watch(properties, topics, [catalog.relations[table].topic for table in story.tables])
    watch.start()
    say(f"publishing {story.about}, {pace.speed:,.0f} times as fast as they were")
    with view:
        publisher = Publisher(catalog, story.events, pace, watch, Producer(properties))
        publisher.run(lambda clock: view.show(clock, watch))
        _catch_up(watch, lambda: view.show("all is over", watch))
    seen = watch.seen()
    watch.stop()
    say("verifying: every delivery is recomputed by DuckDB")
    return seen, verify_kafka(properties, topics, _PATIENCE_SECONDS)


def _subscribe(client: Client, asked: Mapping[str, str], say: Callable[[str], None]) -> None:
    began = time.monotonic()
    acks = client.subscribe_all(asked, timeout=_CATCH_UP_SECONDS)
    refused = [ack for ack in acks.values() if ack.status != "live"]
    if refused:
        raise TidewireError(
            f"{len(refused)} subscription(s) were refused, `{refused[0].id}` first: {refused[0].message}"
        )
    say(f"{len(acks):,} subscriptions are live after {time.monotonic() - began:.1f} s")


class Publisher:
    """Publishes events at the times at which they happened, `pace.speed` times as fast, in a thread."""

    def __init__(self, catalog: Catalog, events: list[Event], pace: Pace, watch: Watch, producer: Producer) -> None:
        self._records = [(event.minute, _record(catalog, event)) for event in events]
        self._pace = pace
        self._watch = watch
        self._producer = producer
        self._minute = events[0].minute
        self._stopped = threading.Event()
        self._failure: Exception | None = None

    def run(self, show: Callable[[str], None]) -> None:
        """Publish everything; `show` is called with the time in the data, several times a second."""
        thread = threading.Thread(target=self._publish, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_STEP_SECONDS)
                show(self._clock())
        finally:
            self._stopped.set()
            thread.join(5)
        if self._failure is not None:
            raise self._failure

    def _publish(self) -> None:
        began, first = time.monotonic(), self._minute
        try:
            for minute, record in self._records:
                wait = began + (minute - first) * 60 / self._pace.speed - time.monotonic()
                if self._stopped.wait(wait) if wait > 0 else self._stopped.is_set():
                    return
                self._minute = minute
                self._producer.send(record, partial(self._watch.published, record.topic))
            self._producer.flush()
        except Exception as error:  # raised again by `run`, in the thread of the one who called it
            self._failure = error

    def _clock(self) -> str:
        moment = dt.datetime.combine(self._pace.first, dt.time()) + dt.timedelta(minutes=self._minute)
        return f"{moment:%Y-%m-%d %H:%M}"


def _record(catalog: Catalog, event: Event) -> OutRecord:
    relation = catalog.relations[event.table]
    key = encode_key(relation, event.key)
    return OutRecord(relation.topic, None, key, None if event.row is None else encode_row(relation, event.row))


def _catch_up(watch: Watch, show: Callable[[], None]) -> None:
    until = time.monotonic() + _CATCH_UP_SECONDS
    while not watch.complete():
        if watch.failure is not None:
            raise watch.failure
        if time.monotonic() > until:
            raise NotCaughtUp(f"{watch.seen().lag} publications are in no batch after {_CATCH_UP_SECONDS:g} s.")
        show()
        time.sleep(_STEP_SECONDS)


def _remove(home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
