"""The same security, said in Java's dialect, librdkafka's and kafka-python's."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.kafka.security import KafkaPropertyError, read_security

JAAS = "org.apache.kafka.common.security.{}LoginModule required username={} password={};"


def test_plain_from_java() -> None:
    jaas = JAAS.format("plain.Plain", '"ann"', '"se\\"cr\\\\et"')
    security = read_security({"sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas})
    assert security.librdkafka() == {
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ann",
        "sasl.password": 'se"cr\\et',
    }
    assert security.java()["sasl.jaas.config"] == jaas
    assert security.kafka_python() == {
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "ann",
        "sasl_plain_password": 'se"cr\\et',
    }


@pytest.mark.parametrize("quote", ['"', "'", ""])
def test_scram_from_java_in_any_quotes(quote: str) -> None:
    jaas = JAAS.format("scram.Scram", quote + "bob" + quote, quote + "pw" + quote)
    security = read_security({"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas})
    assert (security.username, security.password) == ("bob", "pw")


def test_scram_from_librdkafka() -> None:
    given = {"sasl.mechanisms": "SCRAM-SHA-256", "sasl.username": 'a"b', "sasl.password": "p\\w"}
    java = read_security(given).java()
    assert java["sasl.mechanism"] == "SCRAM-SHA-256"
    assert java["sasl.jaas.config"] == JAAS.format("scram.Scram", '"a\\"b"', '"p\\\\w"')
    assert read_security(java).librdkafka() == {
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": 'a"b',
        "sasl.password": "p\\w",
    }


def test_a_password_mechanism_needs_a_password() -> None:
    with pytest.raises(KafkaPropertyError, match=r"`sasl\.username`"):
        read_security({"sasl.mechanism": "PLAIN"})


def test_a_ca_in_both_dialects() -> None:
    java = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"}
    assert read_security({"ssl.ca.location": "/ca.pem"}).java() == java
    assert read_security(java).librdkafka() == {"ssl.ca.location": "/ca.pem"}
    assert read_security(java).kafka_python() == {"ssl_cafile": "/ca.pem"}


def test_a_ca_as_text() -> None:
    assert read_security({"ssl.ca.pem": "PEM"}).java()["ssl.truststore.certificates"] == "PEM"
    given = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "PEM"}
    assert read_security(given).librdkafka() == {"ssl.ca.pem": "PEM"}


def test_an_own_certificate(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("CERT")
    (tmp_path / "k.pem").write_text("KEY")
    paths = {"ssl.certificate.location": str(tmp_path / "c.pem"), "ssl.key.location": str(tmp_path / "k.pem")}
    security = read_security(paths | {"ssl.key.password": "pw"})
    assert security.java() == {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "CERT",
        "ssl.keystore.key": "KEY",
        "ssl.key.password": "pw",
    }
    assert security.librdkafka() == paths | {"ssl.key.password": "pw"}
    assert security.kafka_python()["ssl_keyfile"] == str(tmp_path / "k.pem")
    (tmp_path / "k.pem").unlink()
    with pytest.raises(KafkaPropertyError, match=r"k\.pem"):
        security.java()


def test_a_combined_pem_keystore() -> None:
    security = read_security({"ssl.keystore.type": "PEM", "ssl.keystore.location": "/both.pem"})
    assert security.librdkafka() == {"ssl.certificate.location": "/both.pem", "ssl.key.location": "/both.pem"}


def test_a_store_that_only_java_opens() -> None:
    security = read_security({"ssl.truststore.location": "/t.jks", "ssl.truststore.password": "hidden"})
    assert security.java() == {"ssl.truststore.location": "/t.jks", "ssl.truststore.password": "hidden"}
    with pytest.raises(KafkaPropertyError, match=r"kafka\.librdkafka\.ssl\.ca\.location"):
        security.librdkafka()
    with pytest.raises(KafkaPropertyError, match=r"kafka\.kafka_python\.ssl_cafile"):
        security.kafka_python()


@pytest.mark.parametrize(("given", "java", "librdkafka"), [("", "", "none"), ("none", "", "none"), ("https",) * 3])
def test_the_host_name_check(given: str, java: str, librdkafka: str) -> None:
    name = "ssl.endpoint.identification.algorithm"
    security = read_security({name: given})
    assert security.java() == {name: java}
    assert security.librdkafka() == {name: librdkafka}
    assert security.kafka_python() == {"ssl_check_hostname": given == "https"}


def test_secrets_are_not_shown() -> None:
    security = read_security({"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "hidden"})
    assert "hidden" not in repr(security)
    assert "hidden" not in repr(read_security({"ssl.truststore.password": "hidden", "ssl.key.pem": "hidden"}))
