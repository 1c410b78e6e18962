"""Settings: what can be set, where it was set, and one readable message when it is wrong.

A setting is taken from the first of: an option of the command line, an environment variable `TIDEWIRE_<NAME>`
(tables as JSON), the configuration file (`--config` or `TIDEWIRE_CONFIG`), `conf/settings.toml`, which holds all
defaults. Tables, such as `tenants` and `kafka`, are merged line by line. Paths in a configuration file are relative to
that file, all others to the working directory.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from connectors.http.address import HttpAddress, parse_address
from connectors.http.bearer_token import are_hashes
from connectors.http.served_addresses import ServedAddresses
from connectors.schemas.schema_registry import Registry
from state.errors import UserError
from tidewire.option_name import option_of

if TYPE_CHECKING:
    from connectors.http.rules import HttpRules
    from shard.bounds import Bounds

ENV_PREFIX = "TIDEWIRE_"
_PATHS = ("data_dir", "jars_dir", "ivy_settings")
_PLACES = ("checkpoint", "log_table")
_SECRET = ("tenants", "http_token", "registry", "registry_credentials")
_ORIGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#@]+")
_ATTRIBUTE = re.compile(r".+\.[a-z_][a-z0-9_]*", re.ASCII | re.DOTALL)
_COMMAND_LINE = "the command line"
_ADDRESS = r"^\S+:\d{1,5}(,\S+:\d{1,5})*$"


class SettingError(UserError):
    """A setting is unknown or has a value that it cannot have; the message says which, and where it was set."""

    code = "setting"


class Settings(BaseSettings):
    """All settings, checked; made by `load_settings`. A field's description is what its error message expects."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    bootstrap: str | None = Field(None, pattern=_ADDRESS, description="host:port[,host:port...] of a Kafka cluster")
    prefix: str = Field(
        pattern=r"^[a-zA-Z0-9._-]{0,100}$", description="letters, digits, '.', '_' and '-', at most 100"
    )
    virtual_edges: int = Field(ge=1, le=1024, description="a whole number from 1 to 1024")
    data_dir: Path = Field(description="a path")
    broker_port: int = Field(ge=0, le=65535, description="a port number; 0 takes a free one")
    edges: int = Field(ge=0, le=64, description="a whole number from 0 to 64")
    http_host: str = Field(min_length=1, description="an address of this machine")
    http_port: int = Field(ge=0, le=65535, description="a port number; 0 takes free ones")
    http_names: list[str] = Field(
        description="a list of names such as edge.example.org or https://edge.example.org:8443"
    )
    http_advertised: str | list[str] = Field(
        description="the address of the edge such as https://edge.example.org, or a list of one for each edge"
    )
    http_origins: list[str] = Field(description="a list of origins such as https://example.org")
    http_connections: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    http_address_connections: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    http_tenant_streams: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    http_request_seconds: float = Field(gt=0, le=3_600, description="seconds, more than 0 and at most 3600")
    http_stream_subscriptions: int = Field(ge=1, le=10_000, description="a whole number from 1 to 10000")
    http_token: str | None = Field(None, pattern=r"^[!-~]+$", repr=False, description="a token of `tidewire token`")
    master: str = Field(min_length=1, description="a Spark master, such as local[*] or spark://host:7077")
    checkpoint: str | None = Field(None, min_length=1, description="a path or a URI that Spark can write")
    max_offsets_per_trigger: int = Field(ge=1, le=10_000_000, description="a whole number from 1 to 10000000")
    shard_channels: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    shard_orderings: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    shard_state_mb: int = Field(ge=1, le=2_000, description="a whole number of megabytes from 1 to 2000")
    joins_on_demand: bool = Field(description="true or false")
    cell_seconds: float = Field(ge=0, le=3_600, description="seconds, from 0 to 3600")
    join_window: int = Field(ge=0, le=1_000, description="a whole number of batches from 0 to 1000; 0: none")
    join_window_mb: int = Field(ge=1, le=10_000, description="a whole number of megabytes from 1 to 10000")
    answer_rows: int = Field(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
    answer_bytes: int = Field(ge=1_000, le=256_000_000, description="a whole number from 1000 to 256000000")
    log_seconds: int = Field(ge=0, le=3600, description="a whole number of seconds up to 3600; 0 keeps no log")
    log_table: str | None = Field(None, min_length=1, description="a path or a URI that Spark can write")
    log_replay_days: int = Field(ge=7, le=3650, description="a whole number of days from 7 to 3650")
    log_compact_minutes: int = Field(ge=1, le=10_000, description="a whole number of minutes from 1 to 10000")
    disk_floor_mb: int = Field(ge=1, description="a whole number of megabytes, at least 1")
    log_level: Literal["debug", "info", "warning", "error"] = Field(description="debug, info, warning or error")
    registry: str | None = Field(
        None, pattern=r"^https?://[^\s@?#/]+[^\s@?#]*$", description="the URL of a schema registry, without credentials"
    )
    registry_credentials: str | None = Field(None, pattern=r"^[^:\s]+:.+$", repr=False, description="user:password")
    jars_dir: Path | None = Field(None, description="a path")
    ivy_settings: Path | None = Field(None, description="the path of an Ivy settings file")
    tenants: dict[str, str] = Field(description="SHA-256 hashes of tokens in hexadecimal; see `tidewire token`")
    tenant_attributes: dict[str, str | int | float | bool] = Field(
        description="a table of lines such as tenant.attribute = 'value'; the attribute a word in small letters"
    )
    kafka: dict[str, str] = Field(description="a table of Kafka client properties")
    spark: dict[str, str] = Field(description="a table of Spark properties")
    broker: dict[str, str] = Field(description="a table of broker properties")

    @field_validator("data_dir", "jars_dir", "ivy_settings", mode="before")
    @classmethod
    def _is_a_path(cls, value: Any) -> Any:
        """An empty text would be the working directory, which nobody means."""
        if value is not None and (not str(value).strip() or "\0" in str(value)):
            raise ValueError("no path")
        return value

    @field_validator("kafka", "spark", "broker", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Let a TOML file say `true` or 5: properties are text."""
        if not isinstance(value, dict):
            return value
        flat = dict(_flatten(value))
        return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in flat.items()}

    @field_validator("tenant_attributes", mode="before")
    @classmethod
    def _are_attributes(cls, value: Any) -> Any:
        """Take tenant.attribute as well as what TOML makes of it."""
        if not isinstance(value, dict):
            return value
        flat = dict(_flatten(value))
        if not all(_ATTRIBUTE.fullmatch(name) for name in flat):
            raise ValueError("no attribute of a tenant")
        return flat

    @field_validator("tenants")
    @classmethod
    def _are_hashes(cls, value: dict[str, str]) -> dict[str, str]:
        """A token itself does not belong into a file."""
        if not all(are_hashes(text) for text in value.values()):
            raise ValueError("no hash")
        return value

    @field_validator("http_names", "http_advertised")
    @classmethod
    def _are_addresses(cls, value: str | list[str]) -> str | list[str]:
        for text in [value] if isinstance(value, str) and value else value:
            parse_address(text)
        return value

    @field_validator("http_origins")
    @classmethod
    def _are_origins(cls, value: list[str]) -> list[str]:
        """A browser writes none that ends with a slash, or has a path."""
        if not all(text in ("*", "null") or _ORIGIN.fullmatch(text) for text in value):
            raise ValueError("no origin")
        return value

    @property
    def embedded(self) -> bool:
        """Whether `tidewire up` runs an own broker."""
        return self.bootstrap is None

    @property
    def address(self) -> str:
        """The address of the Kafka cluster: `bootstrap`, or where the embedded broker listens."""
        return self.bootstrap or f"127.0.0.1:{self.broker_port}"

    @property
    def http_rules(self) -> HttpRules:
        """Who may ask the edges for what over HTTP."""
        from connectors.http.rules import HttpRules  # with a web framework, which most commands do without

        served = ServedAddresses(self.http_host, tuple(map(parse_address, self.http_names)), self.advertised())
        return HttpRules(
            self.tenants,
            self.http_origins,
            self.http_connections,
            self.http_stream_subscriptions,
            address_connections=self.http_address_connections,
            tenant_streams=self.http_tenant_streams,
            request_seconds=self.http_request_seconds,
            served=served,
            attributes=self._attributes(),
        )

    def _attributes(self) -> dict[str, dict[str, object]]:
        """Return what is known of each tenant's subscribers."""
        found: dict[str, dict[str, object]] = {}
        for name, value in self.tenant_attributes.items():
            tenant, _, attribute = name.rpartition(".")
            found.setdefault(tenant, {})[attribute] = value
        return found

    def advertised(self, number: int | None = None) -> HttpAddress | None:
        """Return the address that an edge advertises, None where it is the one where it listens.

        `number` is the edge's among those of one `tidewire up`; None: it runs alone.

        Raises:
            SettingError: there is no address for that edge, or it is not certain which is its own.
        """
        said = self.http_advertised
        listed = [said] if isinstance(said, str) else said
        if not any(listed):
            return None
        if number is None and len(listed) > 1:
            raise SettingError(
                f"setting `http_advertised`: expected the address of this edge, got {said!r}. "
                "Say by `--advertised` which of them it is."
            )
        if number is not None and number >= len(listed):
            raise SettingError(
                f"setting `http_advertised`: expected a list of one address for each of the {self.edges} edges, got "
                f"{said!r}. Correct it there."
            )
        return parse_address(listed[number or 0])

    @property
    def schema_registry(self) -> Registry | None:
        """The schema registry of the tables that say so."""
        return Registry(self.registry, self.registry_credentials or "") if self.registry else None

    @property
    def bounds(self) -> Bounds:
        """The most that subscriptions may make one shard hold, what it tells of rows at once, and what edges keep."""
        from operators.answer_quota import AnswerQuota
        from operators.row_window import WindowBounds
        from shard.bounds import Bounds  # with numpy, which most commands do without

        whole = AnswerQuota(self.answer_rows, self.answer_bytes)
        window = WindowBounds(self.join_window, self.join_window_mb * 1_000_000)
        state = self.shard_state_mb * 1_000_000
        return Bounds(self.shard_channels, self.shard_orderings, state, whole=whole, window=window)

    @property
    def checkpoint_location(self) -> str:
        """Where the engine keeps its checkpoint: `checkpoint`, or a folder of the data directory."""
        return self.checkpoint or str(self.data_dir / "checkpoint")

    @property
    def log_location(self) -> str:
        """Where the Delta table of all publications is: `log_table`, or a folder of the data directory."""
        return self.log_table or str(self.data_dir / "log" / "publications")

    def as_environment(self) -> dict[str, str]:
        """Return the variables with which a child process gets the same settings."""
        named = self.model_dump(mode="json", exclude_none=True)
        return {
            ENV_PREFIX + n.upper(): json.dumps(v) if isinstance(v, dict | list) else str(v) for n, v in named.items()
        }


def _flatten(table: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Undo what TOML makes of an unquoted `security.protocol = ...`: nested tables."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _flatten(value, f"{above}{key}.") if isinstance(value, dict) else [(above + key, value)]
    return found


def load_settings(config: Path | None = None, **overrides: object) -> Settings:
    """Return the settings; `overrides` are options of a command, None where an option was not given.

    Raises:
        SettingError: the configuration file cannot be read, or a setting is unknown or wrong; or more edges are
            to run than there are virtual edges to share.
    """
    named = os.environ.get(ENV_PREFIX + "CONFIG")
    config = config or (Path(named) if named else None)
    layers: list[tuple[str, Mapping[str, Any]]] = [
        ("the defaults", tomllib.loads((files("conf") / "settings.toml").read_text()))
    ]
    if config is not None:
        layers.append((f"`{config}`", _read_file(config)))
    layers.append(("the environment", _read_environment()))
    layers.append((_COMMAND_LINE, {name: value for name, value in overrides.items() if value is not None}))
    values, origins = _merge(layers)
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise SettingError(_explain(error, origins)) from None
    if settings.edges > settings.virtual_edges:
        raise SettingError(
            f"setting `edges`: expected at most as many as `virtual_edges` ({settings.virtual_edges}), got "
            f"{settings.edges}, set in {origins['edges']}. Correct it there."
        )
    try:
        return settings.model_copy(update=_absolute_paths(settings))
    except FileNotFoundError:
        raise SettingError("the working directory is no longer there. Change to another one.") from None
    except RuntimeError as error:
        raise SettingError(f"a path of the settings begins with `~`, and: {error} Write the whole path.") from None


def _absolute_paths(settings: Settings) -> dict[str, object]:
    """Return every path as one that holds in any working directory: the stack's processes have others."""
    fixed: dict[str, object] = {}
    for name in _PATHS:
        path = getattr(settings, name)
        fixed[name] = None if path is None else path.expanduser().absolute()
    for name in _PLACES:
        place = getattr(settings, name)
        if place and "://" not in place:
            fixed[name] = str(Path(place).expanduser().absolute())
    fixed["kafka"] = {n: str(Path(v).absolute()) if n.endswith(".location") else v for n, v in settings.kafka.items()}
    return fixed


def _merge(layers: list[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for name, value in layer.items():
            if isinstance(value, dict) and isinstance(values.get(name), dict):
                value = dict(_flatten(values[name])) | dict(_flatten(value))
            values[name] = value
            origins[name] = f"{origin} ({ENV_PREFIX}{name.upper()})" if origin == "the environment" else origin
    return values, origins


def _read_file(config: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(
            f"the configuration file `{config}` cannot be read: {error.strerror}. Name another one."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"the configuration file `{config}` is not TOML: {error}. Correct it there.") from error
    return _relative_to(config.absolute().parent, values)


def _relative_to(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Resolve the paths of a configuration file, also those of certificates among the Kafka properties."""
    for name in (*_PATHS, *_PLACES):
        value = values.get(name)
        if isinstance(value, str) and value.strip() and "://" not in value:
            values[name] = str(folder / Path(value).expanduser())
    if isinstance(values.get("kafka"), dict):
        kafka = dict(_flatten(values["kafka"]))
        is_path = {name for name, value in kafka.items() if name.endswith(".location") and isinstance(value, str)}
        values["kafka"] = {name: str(folder / value) if name in is_path else value for name, value in kafka.items()}
    return values


def _read_environment() -> dict[str, Any]:
    try:
        return dict(EnvSettingsSource(Settings, env_prefix=ENV_PREFIX)())
    except SettingsError as error:
        reason = error.__cause__ or error
        raise SettingError(f"a table in the environment is not JSON: {error}: {reason}. Correct it there.") from error


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the variables that begin with TIDEWIRE_ and set nothing, most likely for a typing mistake."""
    environment = os.environ if environment is None else environment
    known = {ENV_PREFIX + name.upper() for name in Settings.model_fields} | {
        ENV_PREFIX + n for n in ("CONFIG", "DEBUG")
    }
    return sorted(name for name in environment if name.startswith(ENV_PREFIX) and name not in known)


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0])
    inner = ".".join(str(part) for part in first["loc"])
    origin = origins.get(name, "the defaults")
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, Settings.model_fields, n=1)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known are {', '.join(sorted(Settings.model_fields))}."
        return f"unknown setting `{name}` in {origin}. {hint}"
    expected = Settings.model_fields[name].description
    got = "something else" if name in _SECRET else repr(first["input"])
    what = option_of(name) if origin == _COMMAND_LINE else f"setting `{inner}`"
    return f"{what}: expected {expected}, got {got}, set in {origin}. Correct it there."
