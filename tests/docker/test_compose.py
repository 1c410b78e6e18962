"""The Compose file: well-formed, at one with itself, and with our versions and settings."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import msgspec
import pytest
import yaml

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.properties import KafkaProperties
from tests.docker.compose_file import FOLDER, Compose, read_compose
from tidewire.settings import ENV_PREFIX, Settings, load_settings
from tidewire.stack.jars import read_jar_sets

ROOT = FOLDER.parent
TEXT = (FOLDER / "compose.yaml").read_text()
OURS = {"spark", "worker-1", "worker-2", "engine", "edge-1", "edge-2"}


@pytest.fixture(scope="module")
def compose() -> Compose:
    return read_compose(TEXT)


def test_what_is_unknown_or_said_twice_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="`prots`"):
        read_compose(TEXT.replace('    ports: ["127.0.0.1:8083:8083"]', '    prots: ["127.0.0.1:8083:8083"]'))
    with pytest.raises(yaml.YAMLError, match="said twice"):
        read_compose(TEXT + "  broker:\n")


def test_its_parts_are_there(compose: Compose) -> None:
    assert set(compose.services) == OURS | {"broker", "postgres", "connect", "connector"}
    for name, service in compose.services.items():
        for other, wanted in service.depends_on.items():
            healthy = compose.services[other].healthcheck is not None
            assert healthy or wanted.condition != "service_healthy", (name, other)
        for volume in service.volumes:
            source = volume.split(":")[0]
            assert (FOLDER / source).is_file() if source.startswith(".") else source in compose.volumes, (name, source)
        build = service.build
        assert (build is not None) == (name in OURS), name
        assert build is None or (FOLDER / build.context / build.dockerfile).is_file(), name


def test_images_have_versions_and_ports_are_on_loopback_and_taken_once(compose: Compose) -> None:
    assert all(":" in service.image and "latest" not in service.image for service in compose.services.values())
    ports = [port.split(":") for service in compose.services.values() for port in service.ports]
    assert {port[0] for port in ports} == {"127.0.0.1"}
    assert len({port[1] for port in ports}) == len(ports)


def test_the_broker_is_the_embedded_one_in_a_container(compose: Compose) -> None:
    broker = compose.services["broker"]
    version = next(c for c in read_jar_sets()["broker"].coordinates if c.startswith("org.apache.kafka:")).split(":")[2]
    assert broker.image == f"apache/kafka:{version}"
    lines = (ROOT / "conf" / "broker.properties").read_text().splitlines()
    embedded = dict(line.split("=") for line in lines if line and not line.startswith("#"))
    said = {name.removeprefix("KAFKA_").lower().replace("_", "."): v for name, v in broker.environment.items()}
    own = {"listener.security.protocol.map", "inter.broker.listener.name"}
    assert not {name for name, value in said.items() if name in embedded and embedded[name] != value} - own
    assert "message.max.bytes" in said
    assert load_settings(bootstrap=None).broker_port == 19092
    assert broker.ports == ["127.0.0.1:19092:19092"]


def test_settings_and_commands_are_ours(compose: Compose) -> None:
    for name in OURS:
        service = compose.services[name]
        known = {setting.removeprefix(ENV_PREFIX).lower() for setting in service.environment}
        assert known <= set(Settings.model_fields), name
        KafkaProperties(service.environment.get("TIDEWIRE_BOOTSTRAP", "broker:9092"))
        if not service.entrypoint:
            assert (ROOT / "tidewire" / "commands" / f"{service.command[0]}.py").is_file(), name
    spark = json.loads(compose.services["engine"].environment["TIDEWIRE_SPARK"])
    assert spark["spark.driver.host"] == "engine"
    for number in (1, 2):
        edge = compose.services[f"edge-{number}"]
        advertised, inside = edge.command[-1].split(":")[1], edge.command[edge.command.index("--http-port") + 1]
        assert edge.ports == [f"127.0.0.1:{advertised}:{inside}"]


def test_workers_hold_the_state_where_the_engine_does(compose: Compose) -> None:
    mounts = {tuple(compose.services[name].volumes) for name in ("engine", "worker-1", "worker-2")}
    assert mounts == {("engine:/data",)}
    assert "TIDEWIRE_DATA_DIR=/data" in (FOLDER / "Dockerfile").read_text()


def test_the_image_gets_every_package_and_nothing_else() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]["include"]
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert let_in == {name.rstrip("*") for name in packages} | {"README.md", "constraints.txt", "pyproject.toml"}
    assert all((ROOT / name).exists() for name in let_in)


def test_the_table_is_what_the_connector_publishes() -> None:
    [relation] = apply_ddl(Catalog(), (FOLDER / "stock.sql").read_text(), 0).relations.values()
    connector = json.loads((FOLDER / "connector.json").read_text())
    assert relation.topic == f"{connector['topic.prefix']}.{connector['table.include.list']}"
    assert (relation.format, dict(relation.options)["decimal"]) == ("debezium-json", connector["decimal.handling.mode"])
    made = (FOLDER / "postgres.sql").read_text()
    assert all(f"  {column.name} " in made for column in relation.columns)


def has_compose() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0


@pytest.mark.skipif(not has_compose(), reason="`docker compose` is not installed")
def test_compose_itself_accepts_it(tmp_path: Path) -> None:
    command = ["docker", "compose", "-f", str(FOLDER / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
