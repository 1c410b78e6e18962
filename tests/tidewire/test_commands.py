"""The commands that talk to Kafka, run as a user does, against a real broker; engine and edge are records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress, encode_control
from tests.conftest import TEST_VIRTUAL_EDGES
from tidewire.cli import run

DDL = "CREATE TABLE {table} (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))"
Run = Callable[..., tuple[int, list[dict[str, Any]], str]]


@pytest.fixture
def tidewire(broker: str, topics: Topics, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command with --json; return exit code, what it printed, and its remarks."""

    def call(*arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        code = run([*arguments, "--json", "--bootstrap", broker, "--prefix", topics.prefix])
        out, err = capfd.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err

    return call


@pytest.fixture
def table(topics: Topics, kafka: KafkaProperties, tidewire: Run, tmp_path: Path) -> Iterator[str]:
    """A table that is applied, and whose catalog version is announced."""
    name = topics.prefix.replace(".", "_") + "stock"
    file = tmp_path / "catalog.sql"
    file.write_text(DDL.format(table=name))
    progress = Progress(1, 0, 0, "t", {name: {"0": 0}}, {name: {"0": 0}})
    write(kafka, OutRecord(topics.batches, 0, None, encode_control(progress)))
    told = encode_control(progress)
    write(kafka, *(OutRecord(topics.deliveries, edge, b"@progress", told) for edge in range(TEST_VIRTUAL_EDGES)))
    assert tidewire("apply", str(file))[0] == 0
    yield name
    Admin(kafka).delete_topics([name])


def write(kafka: KafkaProperties, *records: OutRecord) -> None:
    producer = Producer(kafka)
    for record in records:
        producer.send(record)
    producer.flush()


@pytest.mark.broker
def test_apply_publish_and_tail(tidewire: Run, table: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"symbol":"A","price":1.5}\n{"symbol":"B","price":2}\n')
    code, [said], _ = tidewire("publish", table, str(rows))
    assert (code, said["rows"], said["skipped"]) == (0, 2, 0)
    rows.write_text('{"symbol":"C","price":1}\n{"symbol":"D","price":1.555}\n')
    code, said_nothing, remark = tidewire("publish", table, str(rows))
    assert code == 2 and not said_nothing
    assert "line 2" in remark and "1 row(s) before it were published" in remark
    assert tidewire("publish", table, str(rows), "--skip-bad")[1][0]["skipped"] == 1
    rows.write_text('"A"\n')
    assert tidewire("publish", table, str(rows), "--delete")[1][0]["rows"] == 1
    code, records, _ = tidewire("tail", table, "--from-beginning", "--no-follow")
    assert code == 0 and len(records) == 5
    assert {json.dumps(record["key"]) for record in records if record["value"] is None} == {'{"symbol": "A"}'}
    assert len(tidewire("tail", "catalog", "--from-beginning", "--limit", "1")[1]) == 1
    code, _, remark = tidewire("tail", "nothing")
    assert code == 2 and "there is no topic or table `nothing`" in remark


@pytest.mark.broker
def test_a_topic_of_debezium_gets_one_partition_or_is_told_of(
    tidewire: Run, table: str, topics: Topics, kafka: KafkaProperties, tmp_path: Path
) -> None:
    made, found = topics.prefix + "made", topics.prefix + "found"
    Admin(kafka).create_topic(found, 3)
    file = tmp_path / "more.sql"
    ddl = "CREATE TABLE {} (id BIGINT PRIMARY KEY) WITH ('topic'='{}','format'='debezium-json');"
    file.write_text(ddl.format("made", made) + ddl.format("found", found))
    code, [said], remark = tidewire("apply", str(file), "--timeout", "0")
    assert code == 0 and Admin(kafka).partitions(made) == 1
    [warning] = said["warnings"]
    assert "`found`" in warning and "3 partitions" in warning and "one partition" in warning
    assert warning in remark
    Admin(kafka).delete_topics([made, found])


@pytest.mark.broker
def test_tables_that_are_joined_are_applied_and_refusals_told(
    tidewire: Run, table: str, topics: Topics, kafka: KafkaProperties, tmp_path: Path
) -> None:
    file = tmp_path / "joins.sql"
    file.write_text(f"CREATE JOIN {table}")
    code, [said], _ = tidewire("apply", str(file), "--timeout", "0")
    assert (code, said["joins"], said["state"], said["warnings"]) == (0, [[table]], "written", [])
    assert tidewire("apply", str(file), "--timeout", "0")[1][0]["version"] == said["version"], "it changes nothing"
    write(kafka, OutRecord(topics.catalog, 0, None, f"REFUSE JOIN {table} BECAUSE 'it is too large'".encode()))
    file.write_text(DDL.format(table=table))
    code, [said], remark = tidewire("apply", str(file), "--timeout", "0")
    assert (code, said["joins"]) == (0, [])
    assert said["warnings"] == [f"joins of `{table}` are not served: it is too large."] and "too large" in remark
    file.write_text(f"DROP JOIN {table}")
    assert tidewire("apply", str(file), "--timeout", "0")[1][0]["warnings"] == []


@pytest.mark.broker
def test_captured_records_are_played_again_as_they_were(tidewire: Run, table: str, tmp_path: Path) -> None:
    lines = tmp_path / "captured.jsonl"
    captured = [
        {"topic": table, "key": '{"symbol":"A"}', "value": '{"symbol": "A", "price": 1}'},
        {"topic": table, "partition": 0, "key": "A", "value": {"base64": "/g=="}},
        {"topic": table, "key": '{"symbol":"A"}', "value": None},
    ]
    lines.write_text("\n".join(map(json.dumps, captured)))
    code, [said], _ = tidewire("publish", "--raw", str(lines))
    assert (code, said["rows"], said["table"]) == (0, 3, None)
    records = tidewire("tail", table, "--from-beginning", "--no-follow")[1]
    assert [record["value"] for record in records] == [{"symbol": "A", "price": 1}, "0xfe", None]
    for wrong, why in (("topic", "does not have that topic"), ("partition", "partition(s)")):
        lines.write_text(
            json.dumps(captured[0] | {"topic": "no-such-topic"} if wrong == "topic" else captured[0] | {wrong: 9})
        )
        code, nothing, remark = tidewire("publish", "--raw", str(lines))
        assert code == 2 and not nothing and "line 1" in remark and why in remark
    assert tidewire("publish", "--raw", str(lines), "--skip-bad")[1][0]["skipped"] == 1
    assert tidewire("publish")[0] == tidewire("publish", table, "--raw", str(lines))[0] == 2


@pytest.mark.broker
def test_subscriptions_are_listed_with_what_became_of_them(
    tidewire: Run, table: str, topics: Topics, kafka: KafkaProperties
) -> None:
    code, _, remark = tidewire("subscribe", "s", f"SELECT MIN(price) FROM {table}", "--timeout", "1")
    assert code == 1 and "no edge has answered" in remark
    tidewire(
        "subscribe",
        "t",
        "--template",
        f"SELECT MIN(price) FROM {table} WHERE price > ?",
        "--params",
        "[1]",
        "--timeout",
        "1",
    )
    edge = home_partition(b"s", TEST_VIRTUAL_EDGES)
    live = {
        "id": "s",
        "version": 0,
        "status": "live",
        "at": {"epoch": 1, "batch": 0},
        "sql": "x",
        "shape": "y",
        "cost": "z",
    }
    told = {
        "id": "s",
        "kind": "snapshot",
        "version": 0,
        "n": 1,
        "old": None,
        "new": "1.50",
        "at": {"epoch": 1, "batch": 0},
    }
    for topic, body in ((topics.acks, live), (topics.deliveries, told)):
        write(kafka, OutRecord(topic, edge, b"s", json.dumps(body).encode()))
    code, found, _ = tidewire("subscriptions")
    assert code == 0
    assert sorted((one["id"], one["status"], one["answer"]) for one in found) == [
        ("s", "live", "1.50"),
        ("t", "unanswered", None),
    ]
    assert [one["id"] for one in tidewire("subscriptions", "--limit", "1")[1]] == ["s"]
    assert [one["id"] for one in tidewire("subscriptions", "--search", "WHERE PRICE")[1]] == ["t"]
    assert tidewire("unsubscribe", "t")[0] == 0
    for id in ("t", "nothere"):
        code, nothing, remark = tidewire("unsubscribe", id)
        assert (code, nothing) == (2, []) and f"there is no such subscription: `{id}`" in remark
    assert [one["id"] for one in tidewire("subscriptions", "--no-answers")[1]] == ["s"]


@pytest.mark.broker
def test_a_file_of_subscriptions_is_registered(
    tidewire: Run, table: str, topics: Topics, kafka: KafkaProperties, tmp_path: Path
) -> None:
    file = tmp_path / "subs.csv"
    file.write_text("a,1\nb\nc,2.5\n")
    template = f"SELECT MIN(price) FROM {table} WHERE price > ?"
    code, [said], remark = tidewire("subscribe", "--file", str(file), "--template", template, "--timeout", "1")
    assert (code, said["done"], said["sent"], said["waiting"]) == (1, False, 3, 3)
    assert "3 subscriptions have no answer" in remark and (tmp_path / "subs.csv.resume").exists()
    for id, status in (("a", "live"), ("b", "refused"), ("c", "live")):
        edge = home_partition(id.encode(), TEST_VIRTUAL_EDGES)
        ack = {"id": id, "version": 2, "status": status, "code": "malformed", "message": "one `?`"}
        write(kafka, OutRecord(topics.acks, edge, id.encode(), json.dumps(ack).encode()))
    code, [said], _ = tidewire("subscribe", "--file", str(file), "--template", template, "--timeout", "20")
    assert (code, said["done"], said["earlier"], said["live"], said["refused"]) == (0, True, 3, 2, 1)
    assert said["troubles"] == [{"id": "b", "code": "malformed", "message": "one `?`"}]
    assert not (tmp_path / "subs.csv.resume").exists()
    assert sorted(one["id"] for one in tidewire("subscriptions", "--no-answers")[1]) == ["a", "b", "c"]
    code, [said], _ = tidewire("subscribe", "--file", str(file), "--template", template, "--no-wait")
    assert (code, said["sent"], said["waited"]) == (0, 3, False)
    assert tidewire("subscribe", "a", "--file", str(file))[0] == 2
    assert tidewire("subscribe")[0] == 2


@pytest.mark.broker
def test_explain_reads_the_catalog_in_force(tidewire: Run, table: str) -> None:
    code, [said], _ = tidewire("explain", f"SELECT MAX(price) FROM {table} WHERE price >= 1.005", "--id", "s")
    assert code == 0
    assert (said["low"], said["high"], said["outputs"]) == ("1.01", None, ["MAX(price)"])
    code, [refused], _ = tidewire("explain", f"SELECT MAX(prize) FROM {table}")
    assert code == 2 and "^" in refused["message"] and "`price`" in refused["hint"]


@pytest.mark.broker
def test_verify_says_what_is_wrong(tidewire: Run, table: str, topics: Topics, kafka: KafkaProperties) -> None:
    code, [report], _ = tidewire("verify", "--wait", "0")
    assert (code, report["clean"], report["horizon"]) == (0, True, [1, 0])
    edge = home_partition(b"s", TEST_VIRTUAL_EDGES)
    sql = f"SELECT MIN(price) FROM {table}"
    told = {
        "id": "s",
        "kind": "snapshot",
        "version": 0,
        "n": 1,
        "old": None,
        "new": "1.50",
        "at": {"epoch": 1, "batch": -1},
    }
    write(
        kafka,
        OutRecord(topics.subscriptions, edge, b"s", json.dumps({"sql": sql}).encode()),
        OutRecord(topics.deliveries, edge, b"s", json.dumps(told | {"sql": sql}).encode()),
    )
    code, [report], _ = tidewire("verify", "--wait", "0")
    assert (code, report["clean"], report["wrong"]) == (1, False, 1)
    assert report["faults"][0]["expected"]["new"] is None
