"""Topics that no table may be declared on: those that tidewire keeps for itself, and those of Kafka.

A table on one of tidewire's would read what tidewire writes: each dead letter would make the next, each batch another,
and what a shard cannot read as registrations would stop the engine.
"""

from __future__ import annotations

DEFAULT_PREFIX = "tw."
NAMES = (
    "subscriptions", "catalog", "acks", "registrations", "notifications", "deliveries", "edge-state", "batches",
    "engines", "dead-letters", "silences",
)  # fmt: skip
"""Behind the prefix; `connectors.topics.Topics` says what is in each."""
_OF_KAFKA = "__"


def owner_of(topic: str, prefix: str) -> str | None:
    """Return whose topic this is under `prefix`, tidewire's or Kafka's; None where a table may be declared on it.

    >>> owner_of("tw.acks", "tw."), owner_of("__consumer_offsets", "tw."), owner_of("tw.stock", "tw.")
    ('tidewire', 'Kafka', None)
    """
    if topic.startswith(prefix) and topic[len(prefix) :] in NAMES:
        return "tidewire"
    return "Kafka" if topic.startswith(_OF_KAFKA) else None
