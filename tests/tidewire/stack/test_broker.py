"""The embedded broker: formatted once, stopped, killed and started again with everything it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.properties import KafkaProperties
from tidewire.stack.broker import Broker, _escape
from tidewire.stack.failure import ChildFailedError, PortInUseError
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return require_jars(read_jar_sets()["broker"], jar_directories(tmp_path_factory.mktemp("jars")))


@pytest.mark.parametrize(
    ("text", "written"), [("a\\b", "a\\\\b"), ("ä", "\\u00e4"), ("🌊", "\\ud83c\\udf0a"), ("a\nb", "a\\nb")]
)
def test_properties_are_written_as_java_reads_them(text: str, written: str) -> None:
    assert _escape(text) == written


@pytest.mark.broker
def test_data_outlives_a_stop_and_a_kill_in_a_path_with_a_blank(tmp_path: Path, jars: list[Path]) -> None:
    broker = Broker(tmp_path / "dä ta,1", 0, jars)
    broker.start()
    try:
        admin = Admin(KafkaProperties(broker.bootstrap))
        admin.create_topic("kept")
        ids = admin.topic_ids(["kept"])
        with pytest.raises(PortInUseError, match="`broker_port`"):
            Broker(tmp_path / "other", broker.port, jars).start()
        broker.stop()
        assert not broker.alive
        broker.start()
        broker.kill()
        assert not broker.answers()
        broker.start()
        assert admin.topic_ids(["kept"]) == ids
    finally:
        broker.kill()


@pytest.mark.broker
def test_a_broker_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path, jars: list[Path]) -> None:
    with pytest.raises(ChildFailedError, match=r"(?s)broker.*num\.io\.threads"):
        Broker(tmp_path, 0, jars, {"num.io.threads": "none"}).start()
