"""What every librdkafka client of ours has in common: its configuration, its log, and the errors it heard of.

A request that times out says only that; why (connection refused, wrong password, bad certificate) comes through the
error callback. So each client has an `Ear` that keeps the last such reason and puts it into the error that is raised;
librdkafka's own log, a line a lost connection and second, is silent unless `librdkafka.log_level` asks for it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException

from connectors.kafka.failure import KafkaFailure, explain
from connectors.kafka.properties import KafkaProperties

REQUEST_SECONDS = 10.0
PREFETCH = {"fetch.queue.backoff.ms": 20, "queued.max.messages.kbytes": 32_768}
"""How far consumers read ahead: 32 MB, and on again 20 ms after there is room (librdkafka's default waits 1 s)."""

_LOG = logging.getLogger("tidewire.kafka")
_LOG.addHandler(logging.NullHandler())
_REASONS = {KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._RESOLVE, KafkaError._TRANSPORT}
_DECISIVE = {KafkaError._AUTHENTICATION, KafkaError._SSL}


class Ear:
    """Keeps the last reason that a client's error callback gave."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.reason: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        """Hear an error; a refused login or certificate is kept over the lost connections that follow it."""
        if error.code() in _REASONS and not (self.reason and self.reason.code() in _DECISIVE):
            self.reason = error

    def explain(self, problem: KafkaException | KafkaError, doing: str) -> KafkaFailure:
        """Return the error to raise for `problem`; a time-out is explained by the reason heard before it."""
        error = problem.args[0] if isinstance(problem, KafkaException) else problem
        unclear = isinstance(error, KafkaError) and error.code() in {KafkaError._TRANSPORT, KafkaError._TIMED_OUT}
        return explain(self.reason if unclear and self.reason else problem, doing, self.bootstrap)


def configuration(
    properties: KafkaProperties, ear: Ear, own: Mapping[str, object], defaults: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return a client's configuration: the user's properties override `defaults`, nothing overrides `own`."""
    return {
        "topic.metadata.refresh.interval.ms": 30_000,
        "reconnect.backoff.max.ms": 1_000,
        "log.connection.close": False,
        "log_level": 2,
        **(defaults or {}),
        **properties.librdkafka(),
        **own,
        "error_cb": ear,
        "logger": _LOG,
    }
