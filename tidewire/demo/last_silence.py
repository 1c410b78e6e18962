"""How a demo's streams end: somebody says that no more rows come, and so all windows close."""

from __future__ import annotations

import datetime as dt
import time

from catalog.schema.relation import Relation
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.client.client import Client
from tidewire.demo.coming_forward import NotCaughtUp
from tidewire.demo.watch import Watch

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 300.0


def silence(kafka: KafkaProperties, topics: Topics, stream: Relation, upto: dt.datetime, watch: Watch) -> None:
    """Say that a stream is silent up to a time, and wait until everybody was told what became final by it.

    Raises NotCaughtUp after five minutes, and what went wrong with the watch or the client.
    """
    with Client(kafka.bootstrap, topics.prefix) as client:
        client.silence(stream.name, upto, _PATIENCE_SECONDS)
    until = time.monotonic() + _PATIENCE_SECONDS
    while not watch.silent(stream, upto):
        if watch.failure is not None:
            raise watch.failure
        if time.monotonic() > until:
            raise NotCaughtUp(f"`{stream.name}` was said to be silent five minutes ago, and is not complete to {upto}.")
        time.sleep(_LOOK_SECONDS)
