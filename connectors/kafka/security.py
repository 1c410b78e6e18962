"""SASL and TLS settings of a Kafka client, read from either dialect and written in each.

The Java clients and librdkafka name the same things differently: who has a working set of properties for one of
them should not have to look up the other's. What is translated:

    meaning           Java                                             librdkafka
    mechanism         sasl.mechanism                                   sasl.mechanism, sasl.mechanisms
    user, password    sasl.jaas.config (PlainLoginModule, Scram...)    sasl.username, sasl.password
    CA                ssl.truststore.* of type PEM                     ssl.ca.location, ssl.ca.pem
    own certificate   ssl.keystore.* of type PEM, ssl.key.password     ssl.certificate.*, ssl.key.*
    host name check   ssl.endpoint.identification.algorithm: "" = off  the same: none = off

A JKS or PKCS12 store has no counterpart that can be made from its name; the error says which section to use.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from state.errors import UserError

PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_LOGIN = "org.apache.kafka.common.security.{}LoginModule required username={} password={};"
_JAAS_OPTION = re.compile(r"(\w+)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s;]+)")
_JAAS_MODULES = ("PlainLoginModule", "ScramLoginModule")


class KafkaPropertyError(UserError):
    """A property for the Kafka clients is unknown, reserved, or cannot be said in another client's dialect."""

    code = "kafka_property"


@dataclass(frozen=True, slots=True)
class Pem:
    """A certificate or key: a file's path, or the text itself."""

    path: str | None = None
    text: str | None = field(default=None, repr=False)

    def read(self) -> str:
        """Return the text. Raises KafkaPropertyError if the file cannot be read."""
        if self.text is not None:
            return self.text
        try:
            return Path(self.path or "").read_text()
        except OSError as error:
            raise KafkaPropertyError(f"cannot read the certificate or key `{self.path}`: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class Security:
    """What the settings mean, whichever dialect they came in. `used` are the names that were understood."""

    mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    key_password: str | None = field(default=None, repr=False)
    check_host: bool | None = None
    stores: Mapping[str, str] = field(default_factory=dict, repr=False)
    used: frozenset[str] = frozenset()

    def java(self) -> dict[str, str]:
        """Return the properties in Java's dialect. Raises KafkaPropertyError if a PEM file cannot be read."""
        out = dict(self.stores)
        if self.mechanism:
            out["sasl.mechanism"] = self.mechanism
        if self.username is not None and self.mechanism:
            module = "plain.Plain" if self.mechanism == "PLAIN" else "scram.Scram"
            out["sasl.jaas.config"] = _LOGIN.format(module, _quote(self.username), _quote(self.password or ""))
        if self.ca and "ssl.truststore.location" not in out:
            name = "ssl.truststore.location" if self.ca.path else "ssl.truststore.certificates"
            out |= {"ssl.truststore.type": "PEM", name: self.ca.path or self.ca.read()}
        if self.certificate and "ssl.keystore.location" not in out:
            out |= self._java_keystore(self.certificate)
        if self.check_host is not None:
            out["ssl.endpoint.identification.algorithm"] = "https" if self.check_host else ""
        return out

    def librdkafka(self) -> dict[str, str]:
        """Return the properties in librdkafka's dialect. Raises KafkaPropertyError for stores only Java can open."""
        if self.stores and not (self.ca or self.certificate):
            raise _untranslatable(self.stores, "librdkafka", "ssl.ca.location")
        out: dict[str, str] = {}
        if self.mechanism:
            out["sasl.mechanism"] = self.mechanism
        if self.username is not None:
            out |= {"sasl.username": self.username, "sasl.password": self.password or ""}
        for name, pem in (("ca", self.ca), ("certificate", self.certificate), ("key", self.key)):
            if pem:
                out[f"ssl.{name}.location" if pem.path else f"ssl.{name}.pem"] = pem.path or pem.read()
        if self.key_password is not None:
            out["ssl.key.password"] = self.key_password
        if self.check_host is not None:
            out["ssl.endpoint.identification.algorithm"] = "https" if self.check_host else "none"
        return out

    def kafka_python(self) -> dict[str, object]:
        """Return the keyword arguments of kafka-python. Raises KafkaPropertyError for what it cannot open."""
        if self.stores and not (self.ca or self.certificate):
            raise _untranslatable(self.stores, "kafka_python", "ssl_cafile")
        if self.certificate and not (self.certificate.path and self.key and self.key.path):
            raise _untranslatable(["ssl.certificate.pem"], "kafka_python", "ssl_certfile")
        files = {
            "ssl_certfile": self.certificate and self.certificate.path,
            "ssl_keyfile": self.key and self.key.path,
            "ssl_cafile": self.ca and self.ca.path,
        }
        wanted: dict[str, object] = {
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.username,
            "sasl_plain_password": self.password,
            "ssl_password": self.key_password,
            "ssl_check_hostname": self.check_host,
        }
        if self.ca and self.ca.text:
            wanted["ssl_context"] = ssl.create_default_context(cadata=self.ca.text)
        return {name: value for name, value in {**wanted, **files}.items() if value is not None}

    def _java_keystore(self, certificate: Pem) -> dict[str, str]:
        key = self.key or certificate
        out = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate.read(),
            "ssl.keystore.key": key.read(),
        }
        if self.key_password is not None:
            out["ssl.key.password"] = self.key_password
        return out


def read_security(properties: Mapping[str, str]) -> Security:
    """Understand the SASL and TLS properties among `properties`, of either dialect.

    Raises KafkaPropertyError if a password mechanism comes without user and password.
    """
    mechanism = properties.get("sasl.mechanism") or properties.get("sasl.mechanisms")
    username, password = _credentials(properties, mechanism)
    ca, certificate, key, stores = _stores(properties)
    algorithm = properties.get("ssl.endpoint.identification.algorithm")
    used = {
        name
        for name in properties
        if name in {"sasl.mechanism", "sasl.mechanisms", "ssl.endpoint.identification.algorithm", "ssl.key.password"}
        or (username is not None and name in {"sasl.username", "sasl.password", "sasl.jaas.config"})
        or name.startswith(("ssl.truststore.", "ssl.keystore.", "ssl.ca.", "ssl.certificate."))
        or name in {"ssl.key.location", "ssl.key.pem"}
    }
    return Security(
        mechanism=mechanism,
        username=username,
        password=password,
        ca=ca,
        certificate=certificate,
        key=key,
        key_password=properties.get("ssl.key.password"),
        check_host=None if algorithm is None else algorithm.lower() == "https",
        stores=stores,
        used=frozenset(used),
    )


def _credentials(properties: Mapping[str, str], mechanism: str | None) -> tuple[str | None, str | None]:
    if mechanism not in PASSWORD_MECHANISMS:
        return None, None
    if "sasl.username" in properties:
        return properties["sasl.username"], properties.get("sasl.password", "")
    jaas = properties.get("sasl.jaas.config", "")
    options = {name: _unquote(text) for name, text in _JAAS_OPTION.findall(jaas)}
    if "username" in options and any(module in jaas for module in _JAAS_MODULES):
        return options["username"], options.get("password", "")
    raise KafkaPropertyError(
        f"`sasl.mechanism` is {mechanism}, which needs a user and a password: expected `sasl.username` and "
        "`sasl.password`, or a `sasl.jaas.config` of PlainLoginModule or ScramLoginModule. Set one of them."
    )


def _stores(properties: Mapping[str, str]) -> tuple[Pem | None, Pem | None, Pem | None, dict[str, str]]:
    """Return CA, certificate and key where they are PEM, and the properties of stores that only Java opens."""
    get = properties.get
    ca = _pem(get("ssl.ca.location"), get("ssl.ca.pem"))
    certificate = _pem(get("ssl.certificate.location"), get("ssl.certificate.pem"))
    key = _pem(get("ssl.key.location"), get("ssl.key.pem"))
    stores: dict[str, str] = {}
    if get("ssl.truststore.type") == "PEM":
        ca = ca or _pem(get("ssl.truststore.location"), get("ssl.truststore.certificates"))
    else:
        stores |= {name: text for name, text in properties.items() if name.startswith("ssl.truststore.")}
    if get("ssl.keystore.type") == "PEM":
        certificate = certificate or _pem(get("ssl.keystore.location"), get("ssl.keystore.certificate.chain"))
        key = key or _pem(get("ssl.keystore.location"), get("ssl.keystore.key"))
    else:
        stores |= {name: text for name, text in properties.items() if name.startswith("ssl.keystore.")}
    return ca, certificate, key, stores


def _pem(path: str | None, text: str | None) -> Pem | None:
    return Pem(path, text) if path or text else None


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote(text: str) -> str:
    if text[:1] in {'"', "'"}:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _untranslatable(names: Mapping[str, str] | list[str], dialect: str, wanted: str) -> KafkaPropertyError:
    return KafkaPropertyError(
        f"`{next(iter(names))}` cannot be translated for {dialect}: expected PEM files, got a form that it cannot "
        f"open. Add `kafka.{dialect}.{wanted}` (and what else it needs) for that client."
    )
