"""A demo from start to verdict: a stack of its own, a catalog, subscriptions, events, verification."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from state.errors import TidewireError
from tidewire.client.client import Client
from tidewire.demo.coming_forward import ComingForward
from tidewire.demo.kills import Kills
from tidewire.demo.last_silence import silence
from tidewire.demo.publisher import STEP_SECONDS, Publisher
from tidewire.demo.story import Story
from tidewire.demo.view import View
from tidewire.demo.watch import Seen, Watch
from tidewire.settings import Settings
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.running import running_stack
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

_START_SECONDS = 420.0
_SUBSCRIBE_SECONDS = 300.0
_PATIENCE_SECONDS = 60.0


def run_demo(settings: Settings, story: Story, view: View, say: Callable[[str], None]) -> tuple[Seen, Report]:
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
            seen, report = _show(properties, Topics(own.prefix), DataDirectory(home), story, view, say)
    except KeyboardInterrupt:
        _remove(home)
        raise
    if report.clean and story.claim.holds:
        _remove(home)
    else:
        say(f"logs and data are kept in `{home}`")
    return seen, report


def _show(
    properties: KafkaProperties,
    topics: Topics,
    directory: DataDirectory,
    story: Story,
    view: View,
    say: Callable[[str], None],
) -> tuple[Seen, Report]:
    with Client(properties.bootstrap, topics.prefix) as client:
        client.apply(story.ddl, partitions=story.partitions)
        catalog = client.catalog()
        _subscribe(client, story.asked, say)
    published = [catalog.relations[table].topic for table in story.tables]
    watch = Watch(properties, topics, published, story.claim.told, catalog)
    watch.start()
    say(f"publishing {story.about}, {story.pace.about}")
    with view, Kills(directory, watch, story.kills, len(story.events)) as kills:
        progress = ComingForward(watch, kills)

        def show(clock: str) -> bool:
            view.show(clock, watch)
            return progress.over()

        Publisher(catalog, story.events, story.pace, watch, Producer(properties)).run(show)
        while not show("all is published"):
            time.sleep(STEP_SECONDS)
    for stream, upto in story.silences.items():
        found = "".join(f"{name} {value}, " for name, value in story.claim.rows())
        say(f"{found}and nothing more comes: `tidewire silence {stream} --upto {upto:%Y-%m-%dT%H:%M}`")
        silence(properties, topics, catalog.relations[stream], upto, watch)
    seen = watch.seen()
    watch.stop()
    say("verifying: every delivery is recomputed by DuckDB")
    return seen, verify_kafka(properties, topics, _PATIENCE_SECONDS)


def _subscribe(client: Client, asked: Mapping[str, str], say: Callable[[str], None]) -> None:
    began = time.monotonic()
    acks = client.subscribe_all(asked, timeout=_SUBSCRIBE_SECONDS)
    refused = [ack for ack in acks.values() if ack.status != "live"]
    if refused:
        raise TidewireError(
            f"{len(refused)} subscription(s) were refused, `{refused[0].id}` first: {refused[0].message}"
        )
    say(f"{len(acks):,} subscriptions are live after {time.monotonic() - began:.1f} s")


def _remove(home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
