"""One set of properties, three clients."""

from __future__ import annotations

import pytest

from connectors.kafka.properties import KafkaProperties
from connectors.kafka.security import KafkaPropertyError


def test_what_all_know_goes_to_all() -> None:
    kafka = KafkaProperties("a:1,b:2", {"security.protocol": "SSL", "request.timeout.ms": 3000})
    assert kafka.librdkafka() == {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "SSL",
        "request.timeout.ms": "3000",
    }
    assert kafka.java() == kafka.librdkafka()
    assert kafka.kafka_python() == {
        "bootstrap_servers": ["a:1", "b:2"],
        "security_protocol": "SSL",
        "request_timeout_ms": 3000,
    }


def test_sections_win_and_go_to_one_client_only() -> None:
    kafka = KafkaProperties(
        "a:1",
        {
            "compression.type": "lz4",
            "java": {"compression.type": "zstd", "fetch": {"max.wait.ms": 7}},
            "librdkafka.debug": "broker",
            "kafka.kafka_python.metadata_max_age_ms": "9",
        },
    )
    assert kafka.java() == {"bootstrap.servers": "a:1", "compression.type": "zstd", "fetch.max.wait.ms": "7"}
    assert kafka.librdkafka() == {"bootstrap.servers": "a:1", "compression.type": "lz4", "debug": "broker"}
    assert kafka.kafka_python() == {"bootstrap_servers": ["a:1"], "metadata_max_age_ms": 9}


def test_sasl_is_translated_for_each() -> None:
    kafka = KafkaProperties(
        "a:1",
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": 'common.security.plain.PlainLoginModule required username="u" password="p";',
        },
    )
    assert kafka.librdkafka()["sasl.username"] == "u"
    assert "sasl.jaas.config" not in kafka.librdkafka()
    assert "sasl.username" not in kafka.java()
    assert kafka.kafka_python()["sasl_plain_password"] == "p"


def test_a_section_replaces_a_family_that_cannot_be_translated() -> None:
    shared = {
        "sasl.mechanism": "GSSAPI",
        "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;",
    }
    with pytest.raises(KafkaPropertyError, match=r"kafka\.java\.sasl\.jaas\.config"):
        KafkaProperties("a:1", shared).librdkafka()
    own = {"librdkafka.sasl.mechanism": "GSSAPI", "librdkafka.sasl.kerberos.principal": "me"}
    kafka = KafkaProperties("a:1", shared | own)
    assert kafka.librdkafka() == {
        "bootstrap.servers": "a:1",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.principal": "me",
    }
    assert kafka.java()["sasl.jaas.config"] == shared["sasl.jaas.config"]


def test_a_name_that_librdkafka_does_not_know() -> None:
    with pytest.raises(KafkaPropertyError, match=r"`fetch\.max\.wait\.ms` .* `kafka\.java\.fetch\.max\.wait\.ms`"):
        KafkaProperties("a:1", {"fetch.max.wait.ms": 7}).librdkafka()


@pytest.mark.parametrize(
    "name", ["group.id", "java.isolation.level", "librdkafka.partitioner", "kafka_python.group_id", "bootstrap.servers"]
)
def test_what_tidewire_must_set_itself(name: str) -> None:
    with pytest.raises(KafkaPropertyError, match=f"`{name}` cannot be set"):
        KafkaProperties("a:1", {name: "x"})


def test_booleans_are_written_as_clients_read_them() -> None:
    assert KafkaProperties("a:1", {"enable.ssl.certificate.verification": False}).librdkafka() == {
        "bootstrap.servers": "a:1",
        "enable.ssl.certificate.verification": "false",
    }


def test_no_value_is_shown() -> None:
    kafka = KafkaProperties("a:1", {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "hidden"})
    assert "hidden" not in repr(kafka)
    assert "sasl.password" in repr(kafka)
