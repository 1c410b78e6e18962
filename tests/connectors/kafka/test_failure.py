"""Each kind of failure says what failed, where, and what to do."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from connectors.kafka.failure import BrokerUnavailable, KafkaFailure, NotAuthorised, TopicUnknown, explain
from state.errors import UserError


@pytest.mark.parametrize(
    ("code", "expected", "helps"),
    [
        (KafkaError._TRANSPORT, BrokerUnavailable, True),
        (KafkaError._TIMED_OUT, BrokerUnavailable, True),
        (KafkaError._RESOLVE, BrokerUnavailable, True),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, TopicUnknown, True),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, NotAuthorised, False),
        (KafkaError._AUTHENTICATION, NotAuthorised, False),
        (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaFailure, True),
        (KafkaError.FENCED_LEADER_EPOCH, KafkaFailure, True),
        (KafkaError.UNSTABLE_OFFSET_COMMIT, KafkaFailure, True),
        (KafkaError._FATAL, KafkaFailure, True),
        (KafkaError._PURGE_QUEUE, KafkaFailure, True),
        (KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, KafkaFailure, True),
        (KafkaError.INVALID_PRODUCER_EPOCH, KafkaFailure, True),
        (KafkaError.MSG_SIZE_TOO_LARGE, KafkaFailure, False),
    ],
)
def test_kinds(code: int, expected: type[KafkaFailure], helps: bool) -> None:
    failure = explain(KafkaException(KafkaError(code, "why")), "reading `x`", "host:9")
    assert type(failure) is expected
    assert failure.retry_helps is helps
    for part in ("reading `x`", "`host:9`", "why"):
        assert part in str(failure)


def test_what_the_user_must_mend_is_a_user_error() -> None:
    failure = explain(KafkaError(KafkaError.SASL_AUTHENTICATION_FAILED, "no"), "x", "host:9")
    assert isinstance(failure, UserError)
    assert isinstance(failure, ValueError)


def test_an_error_of_another_kind() -> None:
    assert "odd" in str(explain(KafkaException("odd"), "x", "host:9"))
