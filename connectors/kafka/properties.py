"""Where the Kafka cluster is and how to talk to it: the user's client properties, for each client we use.

The user writes Kafka properties once, in Java's or librdkafka's dialect. Names under `java.`, `librdkafka.` or
`kafka_python.` go to that client alone, as they stand, and win. SASL and TLS are translated
(`connectors/kafka/security.py`); other names go to every client that knows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import kafka
from confluent_kafka import KafkaException, Producer

from connectors.kafka.security import KafkaPropertyError, Security, read_security

DIALECTS = ("java", "librdkafka", "kafka_python")
_RESERVED = {
    "bootstrap.servers": "set `bootstrap` instead",
    "group.id": "it is chosen by tidewire",
    "group.protocol": "it is chosen by tidewire",
    "client.id": "it is chosen by tidewire",
    "transactional.id": "it is chosen by tidewire",
    "transaction.timeout.ms": "it is chosen by tidewire",
    "isolation.level": "tidewire always reads committed records",
    "enable.idempotence": "tidewire's producers are always idempotent",
    "acks": "tidewire's producers always wait for all replicas",
    "partitioner": "every client must find the same home for a key (murmur2)",
    "enable.auto.commit": "positions are committed inside transactions",
    "auto.offset.reset": "positions are chosen by tidewire",
    "partition.assignment.strategy": "co-partitioned topics must stay together",
}
_FAMILIES = ("sasl.", "ssl.")


@dataclass(frozen=True)
class KafkaProperties:
    """A cluster's address and the client properties for it. Neither `repr` nor errors show a value.

    Args:
        bootstrap: `host:port`, several separated by commas.
        properties: as the user wrote them; nested mappings (`{"java": {"ssl.truststore.location": …}}`) and
            flat names (`java.ssl.truststore.location`, also with `kafka.` before it) are the same.

    Raises:
        KafkaPropertyError: a name that tidewire must set itself.
    """

    bootstrap: str
    properties: Mapping[str, object] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", dict(_flatten(self.properties)))
        for name in self.properties:
            bare = _undotted(name)
            if bare in _RESERVED:
                raise KafkaPropertyError(f"the Kafka property `{name}` cannot be set: {_RESERVED[bare]}. Remove it.")

    def __repr__(self) -> str:
        return f"KafkaProperties({self.bootstrap!r}, {sorted(self.properties)})"

    def librdkafka(self) -> dict[str, str]:
        """Return the configuration for confluent-kafka. *Raises* KafkaPropertyError if it cannot be said there."""
        plain, security = self._understand("librdkafka")
        for name in plain:
            if not _librdkafka_knows(name):
                raise KafkaPropertyError(
                    f"`{name}` is not a property of librdkafka, which carries tidewire's own traffic. Write it as "
                    f"`kafka.java.{name}` if it is meant for Spark's client, or give librdkafka's name for it."
                )
        return self._assemble("librdkafka", plain, security.librdkafka())

    def java(self) -> dict[str, str]:
        """Return the properties for Java clients, Spark's among them (add `kafka.` to each name there)."""
        plain, security = self._understand("java")
        return self._assemble("java", plain, security.java())

    def kafka_python(self) -> dict[str, object]:
        """Return keyword arguments for kafka-python's consumer, producer and admin client alike."""
        known = _kafka_python_defaults()
        plain, security = self._understand("kafka_python")
        out: dict[str, object] = {"bootstrap_servers": self.bootstrap.split(","), **security.kafka_python()}
        for name, value in {**plain, **self._overrides("kafka_python")}.items():
            argument = name.replace(".", "_")
            if argument in known:
                out[argument] = _as_type_of(known[argument], value)
        return out

    def _understand(self, dialect: str) -> tuple[dict[str, str], Security]:
        """Return the shared properties that need no translation, and what the others mean.

        A family (`sasl.`, `ssl.`) of which `dialect` has its own properties is left out: those replace it.
        """
        own = {_dotted(name) for name in self._overrides(dialect)}
        replaced = tuple(family for family in _FAMILIES if any(name.startswith(family) for name in own))
        shared = {
            name: str(text)
            for name, text in self.properties.items()
            if name.split(".")[0] not in DIALECTS and not name.startswith(replaced)
        }
        security = read_security(shared)
        return {name: text for name, text in shared.items() if name not in security.used}, security

    def _overrides(self, dialect: str) -> dict[str, str]:
        start = dialect + "."
        return {name[len(start) :]: str(text) for name, text in self.properties.items() if name.startswith(start)}

    def _assemble(self, dialect: str, *parts: dict[str, str]) -> dict[str, str]:
        out = {"bootstrap.servers": self.bootstrap}
        for part in (*parts, self._overrides(dialect)):
            out |= part
        return out


def _flatten(properties: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    out: list[tuple[str, object]] = []
    for name, value in properties.items():
        if isinstance(value, Mapping):
            out += _flatten(value, f"{prefix}{name}.")
        else:
            text = str(value).lower() if isinstance(value, bool) else value
            out.append((f"{prefix}{name}".removeprefix("kafka."), text))
    return out


def _dotted(name: str) -> str:
    return name.replace("_", ".")


def _undotted(name: str) -> str:
    first, _, rest = name.partition(".")
    return _dotted(rest) if first in DIALECTS else name


@cache
def _librdkafka_knows(name: str) -> bool:
    """Ask librdkafka itself, so that no list of its 200 names can grow old. *Cost*: about 1 ms, once a name."""
    try:
        Producer({name: "1", "log_level": 0})
    except KafkaException as error:
        reason = error.args[0].str()
        return "No such configuration property" not in reason and "not supported" not in reason
    return True


@cache
def _kafka_python_defaults() -> dict[str, object]:
    classes = (kafka.KafkaConsumer, kafka.KafkaProducer, kafka.KafkaAdminClient)
    shared = set.intersection(*(set(cls.DEFAULT_CONFIG) for cls in classes))
    return {name: kafka.KafkaConsumer.DEFAULT_CONFIG[name] for name in shared}


def _as_type_of(default: object, value: object) -> object:
    """Turn text into what kafka-python expects there; what is no text stays."""
    if not isinstance(value, str):
        return value
    if isinstance(default, bool):
        return value.lower() == "true"
    return int(value) if isinstance(default, int) else value
