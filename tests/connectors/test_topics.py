"""The topics under a prefix."""

from __future__ import annotations

from connectors.topics import Topics


def test_all_topics_are_made_and_begin_with_the_prefix() -> None:
    topics = Topics("mine.")
    names = {spec.name for spec in topics.specs()}
    declared = {getattr(topics, name) for name in vars(Topics) if isinstance(getattr(Topics, name), property)}
    assert names == declared
    assert all(name.startswith("mine.") for name in names)


def test_co_partitioned_topics() -> None:
    topics = Topics()
    assert {spec.name for spec in topics.specs() if spec.per_virtual_edge} == {
        topics.subscriptions,
        topics.acks,
        topics.registrations,
        topics.notifications,
        topics.deliveries,
        topics.edge_state,
    }


def test_deliveries_and_state_are_never_compacted() -> None:
    """`n` is gapless, and a delta means something only after those before it."""
    topics = Topics()
    policies = {spec.name: spec.config["cleanup.policy"] for spec in topics.specs()}
    assert policies[topics.deliveries] == policies[topics.edge_state] == "delete"
    assert policies[topics.subscriptions] == "compact"
