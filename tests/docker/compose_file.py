"""`docker/compose.yaml`, read strictly: what the Compose specification does not know, or we do not use, is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

FOLDER = Path(__file__).parents[2] / "docker"
Text = dict[str, str]


class Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping with no other members."""


class Build(Strict):
    context: str
    dockerfile: str


class Condition(Strict):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Healthcheck(Strict):
    test: list[str]
    interval: str
    timeout: str
    retries: int


class Service(Strict):
    image: str
    build: Build | None = None
    restart: Literal["no", "always", "on-failure", "unless-stopped"] = "no"
    entrypoint: list[str] = []
    command: list[str] = []
    environment: Text = {}
    ports: list[str] = []
    volumes: list[str] = []
    healthcheck: Healthcheck | None = None
    stop_grace_period: str | None = None
    depends_on: dict[str, Condition] = {}


class Compose(Strict):
    name: str
    services: dict[str, Service]
    volumes: dict[str, None]


class _Loader(yaml.SafeLoader):
    """YAML in which no mapping says a thing twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value if key.value != "<<"]
        twice = {name for name in names if names.count(name) > 1}
        if twice and not any(key.value == "<<" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(None, None, f"{twice} are said twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read_compose(text: str) -> Compose:
    """Return the file's meaning. Raises msgspec.ValidationError or yaml.YAMLError, saying where."""
    said = yaml.load(text, _Loader)
    return msgspec.convert({name: part for name, part in said.items() if not name.startswith("x-")}, Compose)
