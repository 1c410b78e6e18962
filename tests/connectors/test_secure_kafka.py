"""TLS and passwords against the embedded broker: our Kafka properties, in the dialect of each client we use."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from connectors.kafka.admin import Admin
from connectors.kafka.failure import KafkaFailure, NotAuthorised
from connectors.kafka.group import GroupConsumer
from connectors.kafka.producer import Producer, TransactionalProducer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.conftest import TEST_VIRTUAL_EDGES, make_broker
from tests.connectors.certificates import Authority
from tests.overlay.process.test_edge_process import edge, started, until
from tests.tidewire.test_any_client import ConsoleTools
from tidewire import Client
from tidewire.stack.port import free_port

pytestmark = pytest.mark.broker
USER, PASSWORD = "tidewire", 'pass "word" 1;'
SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
MECHANISMS = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}


@dataclass(frozen=True)
class Secure:
    """A broker with a listener for passwords over TLS, and one for client certificates."""

    plain: str
    password: str
    certificate: str
    ours: Authority
    others: Authority
    client: tuple[Path, Path]

    def scram(self, mechanism: str, **changed: str) -> dict[str, str]:
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": mechanism,
            "sasl.username": USER,
            "sasl.password": PASSWORD,
            "ssl.ca.location": str(self.ours.ca),
        } | {name.replace("_", "."): value for name, value in changed.items()}

    def mutual(self) -> dict[str, str]:
        certificate, key = self.client
        return {
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.ours.ca),
            "ssl.certificate.location": str(certificate),
            "ssl.key.location": str(key),
        }

    def properties(self, way: str) -> KafkaProperties:
        if way == "certificate":
            return KafkaProperties(self.certificate, self.mutual())
        return KafkaProperties(self.password, self.scram(way))


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("secure")
    ours, others = Authority(folder, "ours"), Authority(folder, "others")
    server, key = ours.sign("server", "IP:127.0.0.1,DNS:localhost")
    store = folder / "store.pem"
    store.write_text(key.read_text() + server.read_text())
    running = make_broker(folder)
    password, certificate, controller = free_port(), free_port(), free_port()
    listeners = f"PLAINTEXT://{running.bootstrap},PASSWORD://127.0.0.1:{password},CERTIFICATE://127.0.0.1:{certificate}"
    running._overrides |= {
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PASSWORD:SASL_SSL,CERTIFICATE:SSL",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        **{f"listener.name.password.{mechanism.lower()}.sasl.jaas.config": SCRAM_LOGIN for mechanism in MECHANISMS},
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ours.ca),
        "listener.name.certificate.ssl.client.auth": "required",
    }
    running.start()
    _add_user(running.bootstrap)
    here = "127.0.0.1"
    client = ours.sign("client", "DNS:client")
    yield Secure(running.bootstrap, f"{here}:{password}", f"{here}:{certificate}", ours, others, client)
    running.stop()


def _add_user(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [
        UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
        for mechanism in MECHANISMS.values()
    ]
    for one in wanted:
        for future in admin.alter_user_scram_credentials([one]).values():
            future.result(30)


@pytest.fixture(params=[*MECHANISMS, "certificate"])
def kafka(request: pytest.FixtureRequest, secure: Secure) -> KafkaProperties:
    return secure.properties(request.param)


def test_our_own_clients(kafka: KafkaProperties, topics: Topics) -> None:
    producer = Producer(kafka)
    producer.send(OutRecord(topics.acks, 0, b"k", b"plain"))
    producer.flush()
    group = GroupConsumer(kafka, topics.prefix + "g", [topics.acks], "x", 6.0)
    until(lambda: bool(group.poll(0.1, 10) or group.assignment.places))
    place = (topics.acks, 0)
    writer = TransactionalProducer(kafka)
    writer.commit([OutRecord(topics.acks, 0, b"k", b"whole")], {place: 1}, group.assignment.group)
    assert [record.value for record in Reader(kafka).read_to_end(topics.acks)] == [b"plain", b"whole"]
    assert Admin(kafka).end_offsets(topics.acks, [0])[0] >= 2
    group.close()
    writer.close()


def test_an_edge_and_the_python_client(kafka: KafkaProperties, topics: Topics) -> None:
    properties = {name: str(value) for name, value in kafka.properties.items()}
    with edge(kafka, topics), Client(kafka.bootstrap, topics.prefix, **properties) as client:
        engine = started(kafka, topics)
        engine.subscribe("s")
        until(lambda: engine.run_batch(engine.value + 1) == 1)
        until(lambda: (told := client.answer("s")) is not None and told.new == engine.value)
        client.unsubscribe("s")
        until(lambda: (told := client.answer("s")) is not None and told.kind == "ended")


def test_javas_clients(kafka: KafkaProperties, topics: Topics, tmp_path: Path) -> None:
    producer = Producer(kafka)
    producer.send(OutRecord(topics.acks, 0, b"k", b"hello"))
    producer.flush()
    lines = [f"{name}={_escaped(value)}" for name, value in kafka.java().items()]
    (tmp_path / "client.properties").write_text("\n".join(lines) + "\n")
    tools = ConsoleTools(kafka.bootstrap, tmp_path)
    command = [*tools._java, "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", kafka.bootstrap]
    command += ["--topic", topics.acks, "--from-beginning", "--max-messages", "1", "--timeout-ms", "30000"]
    command += ["--command-config", str(tmp_path / "client.properties")]
    done = subprocess.run(command, capture_output=True, timeout=90, check=False)
    assert done.stdout.strip() == b"hello", done.stderr


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


@pytest.mark.parametrize(
    "changed",
    [{"sasl_password": "wrong"}, {"sasl_username": "nobody"}],
    ids=["password", "user"],
)
def test_a_refused_login_is_said_so(secure: Secure, changed: dict[str, str]) -> None:
    wrong = KafkaProperties(secure.password, secure.scram("SCRAM-SHA-512", **changed))
    with pytest.raises(NotAuthorised, match="uthenticat"):
        Admin(wrong, timeout=4.0).topics()
    soon = {"bootstrap.timeout.ms": 4_000}
    with pytest.raises(KafkaFailure), Client(wrong.bootstrap, "x.", **wrong.properties, **soon) as client:
        client.catalog()


def test_a_broker_of_another_authority_is_not_trusted(secure: Secure) -> None:
    began = time.monotonic()
    wrong = KafkaProperties(secure.password, secure.scram("SCRAM-SHA-512", ssl_ca_location=str(secure.others.ca)))
    with pytest.raises(KafkaFailure, match=r"(?i)certificate"):
        Admin(wrong, timeout=4.0).topics()
    assert time.monotonic() - began < 30


def test_without_a_certificate_nobody_comes_in_where_one_is_asked_for(secure: Secure) -> None:
    bare = KafkaProperties(secure.certificate, {"security.protocol": "SSL", "ssl.ca.location": str(secure.ours.ca)})
    with pytest.raises(KafkaFailure):
        Admin(bare, timeout=5.0).topics()


def test_passwords_are_in_no_message(secure: Secure) -> None:
    wrong = KafkaProperties(secure.password, secure.scram("SCRAM-SHA-512", sasl_password="my-secret"))
    with pytest.raises(NotAuthorised) as refused:
        Admin(wrong, timeout=4.0).topics()
    assert "my-secret" not in f"{refused.value} {wrong!r}"


@pytest.fixture
def topics(kafka: KafkaProperties, prefix: str) -> Topics:
    names = Topics(prefix)
    Admin(kafka).ensure_topics(names, TEST_VIRTUAL_EDGES)
    return names
