"""A time-out is explained by what the client heard before it."""

from __future__ import annotations

from confluent_kafka import KafkaError

from connectors.kafka.client import Ear, configuration
from connectors.kafka.failure import BrokerUnavailable, NotAuthorised
from connectors.kafka.properties import KafkaProperties

TIMED_OUT = KafkaError(KafkaError._TIMED_OUT, "timed out")


def test_a_refused_login_explains_the_time_out_even_after_lost_connections() -> None:
    ear = Ear("h:1")
    ear(KafkaError(KafkaError._AUTHENTICATION, "wrong password"))
    ear(KafkaError(KafkaError._TRANSPORT, "connection closed"))
    failure = ear.explain(TIMED_OUT, "x")
    assert isinstance(failure, NotAuthorised)
    assert "wrong password" in str(failure)


def test_a_lost_connection_explains_the_time_out() -> None:
    ear = Ear("h:1")
    ear(KafkaError(KafkaError._TRANSPORT, "connection refused"))
    failure = ear.explain(TIMED_OUT, "x")
    assert isinstance(failure, BrokerUnavailable)
    assert "connection refused" in str(failure)


def test_clear_errors_explain_themselves() -> None:
    ear = Ear("h:1")
    ear(KafkaError(KafkaError._TRANSPORT, "connection refused"))
    assert "too large" in str(ear.explain(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE, "too large"), "x"))


def test_defaults_yield_to_the_user_and_the_user_to_what_must_be() -> None:
    kafka = KafkaProperties("h:1", {"linger.ms": 3, "delivery.timeout.ms": 77})
    merged = configuration(kafka, Ear("h:1"), {"delivery.timeout.ms": 5}, {"linger.ms": 9, "batch.size": 1})
    assert (merged["linger.ms"], merged["delivery.timeout.ms"], merged["batch.size"]) == ("3", 5, 1)
    assert merged["bootstrap.servers"] == "h:1"
