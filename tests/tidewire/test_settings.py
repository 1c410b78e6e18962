"""Settings: four layers, paths that hold anywhere, and one message for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from operators.answer_quota import AnswerQuota
from operators.row_window import WindowBounds
from shard.bounds import Bounds
from tidewire.settings import SettingError, load_settings, unknown_variables
from tidewire.stack.data_directory import DEFAULT_DIRECTORY


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("TIDEWIRE_"):
            monkeypatch.delenv(name)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_are_complete_and_address_the_embedded_broker() -> None:
    settings = load_settings()
    assert settings.embedded
    assert settings.address == "127.0.0.1:19092"
    assert settings.virtual_edges == 16
    assert settings.data_dir == DEFAULT_DIRECTORY.absolute()
    assert settings.checkpoint_location == str(settings.data_dir / "checkpoint")


def test_the_bounds_of_a_shard_are_set_and_those_of_the_pure_pipeline_by_default() -> None:
    assert load_settings().bounds == Bounds(window=WindowBounds(64))
    few = load_settings(shard_channels=7, shard_orderings=6, shard_state_mb=5, join_window=0, join_window_mb=3)
    assert few.bounds == Bounds(7, 6, 5_000_000, window=WindowBounds(0, 3_000_000))
    assert load_settings(answer_rows=9, answer_bytes=8_000).bounds.whole == AnswerQuota(9, 8_000)


def test_each_layer_goes_before_the_one_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write(tmp_path / "t.toml", 'edges = 2\nhttp_port = 1\nprefix = "a."\n')
    monkeypatch.setenv("TIDEWIRE_HTTP_PORT", "2")
    monkeypatch.setenv("TIDEWIRE_PREFIX", "b.")
    settings = load_settings(config, prefix="c.", edges=None)
    assert (settings.edges, settings.http_port, settings.prefix) == (2, 2, "c.")


def test_the_file_can_be_named_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEWIRE_CONFIG", str(write(tmp_path / "t.toml", "edges = 5")))
    assert load_settings().edges == 5


def test_tables_are_merged_and_both_ways_to_write_a_dotted_name_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write(tmp_path / "t.toml", '[kafka]\nsecurity.protocol = "SSL"\n"linger.ms" = 5\nenable.x = true\n')
    monkeypatch.setenv("TIDEWIRE_KAFKA", '{"linger.ms": "7"}')
    assert load_settings(config).kafka == {"security.protocol": "SSL", "linger.ms": "7", "enable.x": "true"}


def test_paths_in_a_file_are_relative_to_it_and_options_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ä b"
    folder.mkdir()
    text = 'data_dir = "d"\ncheckpoint = "c"\n[kafka]\n"ssl.ca.location" = "ca.pem"\n'
    config = write(folder / "t.toml", text)
    monkeypatch.chdir(tmp_path)
    settings = load_settings(config)
    assert settings.data_dir == folder / "d"
    assert settings.checkpoint == str(folder / "c")
    assert settings.kafka["ssl.ca.location"] == str(folder / "ca.pem")
    assert load_settings(config, data_dir=Path("e")).data_dir == tmp_path / "e"


def test_a_checkpoint_may_be_a_uri(tmp_path: Path) -> None:
    config = write(tmp_path / "t.toml", 'checkpoint = "s3a://bucket/c"\n')
    assert load_settings(config).checkpoint_location == "s3a://bucket/c"


def test_a_child_gets_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(write(tmp_path / "t.toml", 'edges = 3\n[spark]\n"spark.x" = "y"\n'), broker_port=5)
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir("/")
    assert load_settings() == settings


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ({"edges": "many"}, ["`edges`", "whole number from 0 to 64", "'many'", "the command line"]),
        ({"edges": 65}, ["`edges`", "65"]),
        ({"broker_port": 70000}, ["`broker_port`", "a port number", "70000"]),
        ({"bootstrap": "nowhere"}, ["`bootstrap`", "host:port", "'nowhere'"]),
        ({"prefix": "a b"}, ["`prefix`", "'a b'"]),
        ({"log_level": "loud"}, ["`log_level`", "debug, info, warning or error", "'loud'"]),
        ({"shard_channels": 0}, ["`shard_channels`", "a whole number from 1 to 1000000", "0"]),
        ({"shard_orderings": "all"}, ["`shard_orderings`", "a whole number from 1 to 1000000", "'all'"]),
        ({"shard_state_mb": 0.5}, ["`shard_state_mb`", "a whole number of megabytes from 1 to 2000", "0.5"]),
        ({"answer_rows": 0}, ["`answer_rows`", "a whole number from 1 to 1000000", "0"]),
        ({"answer_bytes": "16 MB"}, ["`answer_bytes`", "a whole number from 1000 to 256000000", "'16 MB'"]),
        ({"kafka": "x=y"}, ["`kafka`", "a table of Kafka client properties", "'x=y'"]),
    ],
)
def test_a_wrong_value_is_one_readable_message(overrides: dict[str, object], parts: list[str]) -> None:
    with pytest.raises(SettingError) as caught:
        load_settings(None, **overrides)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts), message


def test_more_edges_than_virtual_edges_are_refused() -> None:
    with pytest.raises(SettingError, match=r"`edges`: expected at most .* \(2\), got 3, set in the command line"):
        load_settings(edges=3, virtual_edges=2)


def test_messages_say_where_a_value_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write(tmp_path / "t.toml", 'master = ""\n')
    with pytest.raises(SettingError, match=r"`master`.*t\.toml"):
        load_settings(config)
    monkeypatch.setenv("TIDEWIRE_EDGES", "x")
    with pytest.raises(SettingError, match="TIDEWIRE_EDGES"):
        load_settings()


def test_an_unknown_setting_names_a_near_one(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"unknown setting `egdes` in .*Did you mean `edges`"):
        load_settings(write(tmp_path / "t.toml", "egdes = 2"))


def test_a_file_that_is_missing_or_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"nope\.toml.* cannot be read: No such file"):
        load_settings(tmp_path / "nope.toml")
    with pytest.raises(SettingError, match=r"is not TOML: .*line 1"):
        load_settings(write(tmp_path / "t.toml", "= 3"))


def test_a_table_in_the_environment_that_is_no_json_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEWIRE_KAFKA", "{")
    with pytest.raises(SettingError, match="kafka"):
        load_settings()


def test_variables_that_set_nothing_are_found() -> None:
    environment = {"TIDEWIRE_EDGES": "1", "TIDEWIRE_BOOTSRAP": "x", "TIDEWIRE_DEBUG": "1", "OTHER": "1"}
    assert unknown_variables(environment) == ["TIDEWIRE_BOOTSRAP"]


def test_a_registry_has_its_credentials_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().schema_registry is None
    monkeypatch.setenv("TIDEWIRE_REGISTRY_CREDENTIALS", "reader:s3cret")
    settings = load_settings(registry="https://registry:8081/apis/ccompat/v7")
    found = settings.schema_registry
    assert found is not None
    assert (found.url, found.credentials) == ("https://registry:8081/apis/ccompat/v7", "reader:s3cret")
    assert "s3cret" not in f"{settings!r}{settings}{found}"
    for wrong in ({"registry": "https://a:s3cret@registry"}, {"registry_credentials": "s3cret"}):
        with pytest.raises(SettingError, match="got something else") as refused:
            load_settings(**wrong)
        assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('http_names = ["edge.example", "https://edge.example:8443"]', "http_names"),
        ('http_advertised = "https://edge.example/base"', "http_advertised"),
        ('http_advertised = ["a:1", "b:1"]', "http_advertised"),
        ('http_origins = ["https://a", "*", "null", "chrome-extension://abc"]', "http_origins"),
    ],
)
def test_addresses_are_taken(tmp_path: Path, line: str, names: str) -> None:
    assert getattr(load_settings(write(tmp_path / "t.toml", line)), names)


@pytest.mark.parametrize(
    "line",
    [
        'http_names = ["a b"]', 'http_names = ["*"]', 'http_names = ["ftp://a"]', 'http_names = [""]',
        'http_advertised = "a/b?c"', 'http_advertised = ["a:1", "x y"]', 'http_advertised = "a:0"',
        'http_origins = ["https://a/"]', 'http_origins = ["a.example"]', 'http_origins = ["https://a b"]',
    ],
)  # fmt: skip
def test_what_is_no_address_is_named(tmp_path: Path, line: str) -> None:
    name = line.partition(" ")[0]
    with pytest.raises(SettingError, match=f"setting `{name}.*expected .*https://.*got .*Correct it there"):
        load_settings(write(tmp_path / "t.toml", line))


def test_each_edge_advertises_its_own_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().advertised() is load_settings().advertised(5) is None
    settings = load_settings(write(tmp_path / "t.toml", 'edges = 3\nhttp_advertised = ["a:1", "https://b"]'))
    assert [str(one and one.url) for one in map(settings.advertised, (0, 1))] == ["http://a:1", "https://b"]
    with pytest.raises(SettingError, match="one address for each of the 3 edges"):
        settings.advertised(2)
    with pytest.raises(SettingError, match="--advertised"):
        settings.advertised()
    monkeypatch.setenv("TIDEWIRE_HTTP_ADVERTISED", "https://c")
    served = load_settings().http_rules.served
    assert served.advertised is not None and served.advertised.url == "https://c"
    monkeypatch.setenv("TIDEWIRE_HTTP_ADVERTISED", '["https://c", "https://d"]')
    assert load_settings(http_advertised="https://d").http_rules.served.base == "https://d"


def test_attributes_of_tenants_are_lines_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write(tmp_path / "t.toml", '[tenant_attributes]\nacme.region = "north"\n"a.b".age = 31\n')
    monkeypatch.setenv("TIDEWIRE_TENANT_ATTRIBUTES", '{"acme.fan": true}')
    settings = load_settings(config)
    assert settings.http_rules.attributes == {"acme": {"region": "north", "fan": True}, "a.b": {"age": 31}}
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings().http_rules.attributes == settings.http_rules.attributes
    for wrong in ({"acme": "x"}, {"acme.Region": "x"}, {"acme.a": [1]}):
        with pytest.raises(SettingError, match="tenant_attributes"):
            load_settings(tenant_attributes=wrong)
