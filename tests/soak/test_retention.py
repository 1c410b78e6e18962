from __future__ import annotations

from connectors.topics import Topics
from tests.soak.retention import expectation, is_bounded, settings_of

TOPICS = Topics("x.")


def test_settings_are_of_topics_that_exist() -> None:
    assert settings_of(TOPICS).keys() <= {spec.name for spec in TOPICS.specs()}


def test_only_what_the_verification_reads_and_the_log_may_grow() -> None:
    every = [spec.name for spec in TOPICS.specs()] + ["trade", "log table", "checkpoint", "logs", "__consumer_offsets"]
    growing = {kind for kind in every if not is_bounded(kind, TOPICS)}
    assert growing == {"x.subscriptions", "x.deliveries", "x.batches", "x.silences", "trade", "log table"}
    assert expectation("x.edge-state", TOPICS) == "trimmed"
