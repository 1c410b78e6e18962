"""Bad input to a running stack: the stream goes on where it can, nothing is silently wrong, everything is counted.

One stack serves the whole module; the tests build on each other's tables and run in the order in which they stand.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from connectors.kafka.admin import Admin
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from state.order_code import INT64_MAX, INT64_MIN
from tests.stack import odd_input
from tests.stack.live_stack import PATIENCE, LiveStack, eventually
from tidewire import cli
from tidewire.client.client import Client
from tidewire.client.records import Delivery, Refused
from tidewire.stack.failure import ChildFailedError
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
THING = """CREATE TABLE thing (id BIGINT PRIMARY KEY, name VARCHAR, size DOUBLE, price DECIMAL(6,2), big BIGINT,
  day DATE, flag BOOLEAN)"""
BAD: list[tuple[bytes | None, bytes | None, str]] = [
    (b'{"id":1}', b"{", "malformed_json"),
    (b'{"id":1}', b"", "malformed_json"),
    (b'{"id":1}', b'{"id":1,}', "malformed_json"),
    (b'{"id":1}', b"{'id':1}", "malformed_json"),
    (b'{"id":1}', b'{"id":1} and more', "malformed_json"),
    (b'{"id":1}', b'{"id":1}{"id":1}', "malformed_json"),
    (b'{"id":1}', b'{"id":1,"size":NaN}', "malformed_json"),
    (b'{"id":1}', b'{"id":1,"size":Infinity}', "malformed_json"),
    (b'{"id":1}', b'{"id":1,"size":-Infinity}', "malformed_json"),
    (b'{"id":1}', b'{"id":1,"size":1e400}', "out_of_range"),
    (b'{"id":1}', b'{"id":1,"price":"NaN"}', "malformed_value"),
    (b'{"id":1}', b'{"id":1,"price":"1e400"}', "out_of_range"),
    (b'{"id":1}', b'{"id":1,"price":1.005}', "out_of_scale"),
    (b'{"id":1}', b'{"id":1,"price":"1.001"}', "out_of_scale"),
    (b'{"id":1}', b'{"id":1,"price":12345.6}', "out_of_range"),
    (b'{"id":1}', b'{"id":1,"big":9223372036854775808}', "out_of_range"),
    (b'{"id":1}', b'{"id":1,"big":-9223372036854775809}', "out_of_range"),
    (b'{"id":1}', b'{"id":1,"big":1.0}', "wrong_type"),
    (b'{"id":1}', b'{"id":1,"big":"1"}', "wrong_type"),
    (b'{"id":1}', b'{"id":1,"flag":0}', "wrong_type"),
    (b'{"id":1}', b'{"id":1,"day":"2026-02-30"}', "malformed_value"),
    (b'{"id":1}', b'{"id":1,"name":{}}', "wrong_type"),
    (b'{"id":1}', b"[1]", "not_an_object"),
    (b'{"id":1}', b"null", "not_an_object"),
    (b'{"id":1}', b'{"id":1,"name":"\xff"}', "invalid_utf8"),
    (b'{"id":1}', b'{"id":1,"name":"\xc0\x80"}', "invalid_utf8"),
    (b'{"id":1}', b'{"id":1,"name":"\\ud800"}', "lone_surrogate"),
    (b'{"id":1}', b'\xef\xbb\xbf{"id":1}', "byte_order_mark"),
    (b'{"id":1}', b'{"id":1,"x":' + b"[" * 100_000, "too_large"),
    (b'{"id":1}', b'{"id":1,"x":' + b"[" * 70 + b"]" * 70 + b"}", "too_deep"),
    (b'{"id":1}', b'{"name":"no id"}', "missing_column"),
    (b'{"id":1}', b'{"id":null}', "null_not_allowed"),
    (b'{"id":1}', b'{"id":2}', "key_disagrees"),
    (b'{"id":1}', b'{"id":1,"id":2}', "key_disagrees"),
    (b'{"id":9223372036854775808}', None, "malformed_key"),
    (b"one", b'{"id":1}', "malformed_key"),
    (b"", b'{"id":1}', "malformed_key"),
    (b"\xff", None, "malformed_key"),
    (None, b'{"id":1}', "missing_key"),
    (None, None, "missing_key"),
]  # fmt: skip
ASKED = {
    "least": "SELECT MIN(big) FROM thing",
    "most": "SELECT MAX(big) FROM thing",
    "dear": "SELECT MAX(price) FROM thing WHERE size BETWEEN 0 AND 1e300",
    "at the top": "SELECT MIN(id) FROM thing WHERE big >= 9223372036854775807",
    "beyond": "SELECT MIN(id) FROM thing WHERE big > 9223372036854775807",
    "far beyond": "SELECT MAX(id) FROM thing WHERE big < 1e100",
    "yes": "SELECT MAX(day) FROM thing WHERE flag = TRUE",
}
Status = Callable[[], dict[str, Any]]


class World:
    """The running stack, and what is sent to it."""

    def __init__(self, stack: LiveStack) -> None:
        self.stack = stack
        self.admin = Admin(stack.kafka)
        self.client = Client(stack.settings.address)
        self._producer = Producer(stack.kafka)

    def send(self, topic: str, *pairs: tuple[bytes | None, bytes | None], partition: int | None = 0) -> list[int]:
        """Write records and return their offsets."""
        written: list[int] = []
        for key, value in pairs:
            self._producer.send(OutRecord(topic, partition, key, value), lambda _, offset: written.append(offset))
        self._producer.flush()
        return written

    def meet_new_partitions(self) -> None:
        """Go on with a producer that knows them: the old one would, too, but only after minutes."""
        self._producer = Producer(self.stack.kafka)

    def answer(self, id: str) -> Any:
        found = self.client.answer(id)
        assert isinstance(found, Delivery)
        return found.new

    def await_answer(self, id: str, value: object) -> None:
        eventually(lambda: self.answer(id) == value, f"`{id}` to be {value}, it is {self.answer(id)}")

    def dead_letters(self) -> dict[tuple[str, int, int], dict[str, Any]]:
        records = Reader(self.stack.kafka).read_to_end(self.stack.topics.dead_letters)
        bodies = [json.loads(record.value or b"") for record in records]
        return {(body["topic"], body["partition"], body["offset"]): body for body in bodies}

    def acks(self) -> list[dict[str, Any]]:
        records = Reader(self.stack.kafka).read_to_end(self.stack.topics.acks)
        return [json.loads(record.value) for record in records if record.value is not None]

    def assert_verified(self) -> None:
        report = verify_kafka(self.stack.kafka, self.stack.topics, PATIENCE)
        assert report.clean and report.unjudged == 0, (report, report.faults)
        assert report.dead_letters == len(self.dead_letters())

    def close(self) -> None:
        self.client.close()
        with contextlib.suppress(ChildFailedError):
            self.stack.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    stack = LiveStack(tmp_path_factory.mktemp("bad") / "data", edges=1, virtual_edges=2)
    stack.start()
    made = World(stack)
    made.client.apply(THING, PATIENCE, partitions=2)
    made.client.subscribe_all(ASKED, PATIENCE)
    yield made
    made.close()


@pytest.fixture
def status(world: World, capsys: pytest.CaptureFixture[str]) -> Status:
    """`tidewire status --json` once everything is read."""

    def ask() -> dict[str, Any]:
        world.stack.await_all_read()
        capsys.readouterr()
        assert cli.run(["status", "--json", "--bootstrap", world.stack.settings.address]) == 0
        seen: dict[str, Any] = json.loads(capsys.readouterr().out)
        return seen

    return ask


def counters(seen: dict[str, Any], table: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one["counters"] for one in seen["tables"] if one["name"] == table)
    return found


def test_what_cannot_be_read_is_a_dead_letter_and_what_stands_around_it_is_taken(world: World, status: Status) -> None:
    before = b'{"id":1,"size":2,"price":"9999.99","big":5,"day":"2026-03-01","flag":true}'
    world.send("thing", (b'{"id":1}', before))
    offsets = world.send("thing", *[(key, value) for key, value, _ in BAD])
    world.send("thing", (b'{"id":2}', b'{"id":7,"size":1,"size":3,"price":8.5,"id":2,"colour":"red"}'))
    seen = status()
    codes = {offset: letter["code"] for (_, _, offset), letter in world.dead_letters().items()}
    assert codes == {offset: code for offset, (_, _, code) in zip(offsets, BAD, strict=True)}
    counted = counters(seen, "thing")
    assert (counted["dead"], counted["decoded"], counted["rows"]) == (len(BAD), 2, 2)
    assert counted["unknown_members"] == ["colour"]
    assert seen["dead_letters"] == len(BAD)
    assert any(f"`thing`: {len(BAD)} records did not decode" in warning for warning in seen["warnings"])
    world.await_answer("dear", "9999.99")
    world.await_answer("yes", "2026-03-01")


def test_a_record_of_10_mb_is_counted_and_passed_over(world: World, status: Status) -> None:
    huge = b'{"id":3,"price":"1.00","name":"' + b"x" * 10_000_000 + b'"}'
    [offset] = world.send("thing", (b'{"id":3}', huge), partition=1)
    world.send("thing", (b'{"id":4}', b'{"id":4,"big":4}'), partition=1)
    assert counters(status(), "thing")["dead"] == len(BAD) + 1
    letter = world.dead_letters()["thing", 1, offset]
    assert (letter["code"], letter["length"]) == ("too_large", len(huge))
    assert len(letter["value"]) < 400_000
    world.await_answer("least", 4)


def test_bigint_is_exact_over_its_whole_range(world: World) -> None:
    for id, big in ((5, INT64_MIN), (6, INT64_MAX), (7, INT64_MAX - 1)):
        world.send("thing", (b'{"id":%d}' % id, b'{"id":%d,"big":%d}' % (id, big)))
    expected = {"least": INT64_MIN, "most": INT64_MAX, "at the top": 6, "beyond": None, "far beyond": 7}
    for id, value in expected.items():
        world.await_answer(id, value)
    world.send("thing", (b'{"id":6}', None), (b'{"id":5}', None))
    for id, value in {"least": 4, "most": INT64_MAX - 1, "at the top": None}.items():
        world.await_answer(id, value)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT MIN(price) FROM nothing", "unknown_table"),
        ("SELECT MIN(prize) FROM thing", "unknown_column"),
        ("SELECT MIN(price) FROM thing WHERE weight > 1", "unknown_column"),
        ("SELECT MIN(price FROM thing", "syntax"),
        ("SELECT MEDIAN(price) FROM thing", "unsupported"),
        ("SELECT SUM(name) FROM thing", "unsupported_type"),
        ("SELECT MIN(price) FROM thing WHERE day > 'tomorrow'", "type_mismatch"),
    ],
)
def test_a_bad_subscription_is_refused_with_a_reason(world: World, sql: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        world.client.subscribe("bad", sql)
    assert refused.value.ack.code == code
    assert refused.value.ack.message


def test_subscription_records_that_are_none_are_refused_or_passed_over(world: World, status: Status) -> None:
    id = b"some"
    home, topic = home_partition(id, 2), world.stack.topics.subscriptions
    good = json.dumps({"sql": "SELECT MIN(price) FROM thing"}).encode()
    bad = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"sql":7}',
        b'{"template":"SELECT MIN(price) FROM thing WHERE id = ?"}',
    ]
    world.send(topic, *[(id, value) for value in bad], (b"\xff\xfe", good), partition=home)
    world.send(topic, (id, good), partition=1 - home)
    world.send(topic, (id, good), partition=home)
    eventually(lambda: any((a["id"], a["status"]) == ("some", "live") for a in world.acks()), "`some` to be live")
    codes = [ack["code"] for ack in world.acks() if ack["id"] == "some" and ack["status"] == "refused"]
    assert sorted(codes) == ["malformed"] * len(bad) + ["wrong_partition"]
    assert status()["edges"][0]["health"]["state"] == "running"


def test_a_catalog_text_and_registrations_that_are_none_are_passed_over(world: World, status: Status) -> None:
    topics = world.stack.topics
    world.send(topics.catalog, (None, b"CREATE NONSENSE"), (None, b"\xff"), (None, None), (None, b""))
    world.send(topics.registrations, (b"thing/0", b"garbage"), (b"thing/0", None), (b"nothing/0", b"x"), (None, b"x"))
    world.client.apply("CREATE TABLE late (id INTEGER PRIMARY KEY, v REAL)", create_topics=False)
    world.client.subscribe("late", "SELECT MAX(v) FROM late")
    assert world.answer("late") is None
    eventually(lambda: counters(status(), "thing")["ignored_registrations"] >= 1, "garbage to be counted")


def test_a_topic_may_come_after_its_table_and_be_empty(world: World, status: Status) -> None:
    seen = status()
    assert next(table["lag"] for table in seen["tables"] if table["name"] == "late") is None
    assert any("the topic `late` of table `late` does not exist" in warning for warning in seen["warnings"])
    world.admin.create_topic("late", 2)
    eventually(lambda: not any("`late`" in warning for warning in status()["warnings"]), "the topic to be seen")
    assert world.answer("late") is None
    world.send("late", (b'{"id":1}', b'{"id":1,"v":0.5}'), partition=1)
    world.await_answer("late", 0.5)
    world.client.apply("CREATE TABLE empty (id INTEGER PRIMARY KEY, v BIGINT)")
    world.client.subscribe("none", "SELECT MIN(v) FROM empty")
    assert world.answer("none") is None


def test_partitions_may_be_added_and_rows_that_move_are_counted(world: World, status: Status) -> None:
    client = AdminClient({"bootstrap.servers": world.stack.settings.address})
    for future in client.create_partitions([NewPartitions("thing", 4)]).values():
        future.result(20)
    eventually(lambda: world.admin.partitions("thing") == 4, "the partitions", 20)
    world.meet_new_partitions()
    world.send("thing", (b'{"id":8}', b'{"id":8,"big":-8}'), (b'{"id":4}', b'{"id":4,"big":-4}'), partition=3)
    world.await_answer("least", -8)
    world.send("thing", (b'{"id":8}', None), (b'{"id":1}', b"{"), partition=3)
    world.await_answer("least", -4)
    seen = status()
    assert counters(seen, "thing")["moved_partitions"] == 1
    assert counters(seen, "thing")["dead"] == len(BAD) + 2
    assert any("1 rows came from another partition than before" in warning for warning in seen["warnings"])


def test_odd_things_at_every_door_end_nothing_and_an_honest_answer_comes_after_them(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, topics = world.stack.settings.address, world.stack.topics
    world.client.apply(odd_input.TABLES, PATIENCE, partitions=1)
    for table in ("odd", "odd_csv", "odd_bin", "odd_cdc"):
        world.send(table, *odd_input.rows())
    world.send(topics.catalog, *[(None, text) for text in odd_input.CATALOG_TEXTS])
    homes = [(f"odd {i}".encode(), body) for i, body in enumerate(odd_input.requests())]
    homes += [(key, odd_input.requests()[0]) for key in odd_input.KEYS]
    for home in range(2):
        world.send(
            topics.subscriptions, *[pair for pair in homes if home_partition(pair[0], 2) == home], partition=home
        )
    assert not {status for status in over_http(world) if not 200 <= status < 500}
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(odd_input.LINES))
    assert cli.run(["publish", "odd", str(lines), "--skip-bad", "--bootstrap", address]) == 0
    asked = tmp_path / "asked.jsonl"
    asked.write_text("\n".join(odd_input.SUBSCRIPTION_LINES))
    assert cli.run(["subscribe", "--file", str(asked), "--bootstrap", address, "--timeout", "120"]) == 0
    world.client.subscribe("honest", "SELECT MAX(price) FROM odd WHERE id = 77")
    world.client.publish("odd", [{"id": 77, "name": "good", "size": 1, "price": "7.25"}])
    world.await_answer("honest", "7.25")
    capsys.readouterr()
    assert_nothing_unforeseen(world)


def over_http(world: World) -> Iterator[int]:
    """Send every odd body, and some odd targets, to the edge; yield the status of each answer."""
    running = world.stack.directory.read_status()
    assert running is not None
    with httpx.Client(base_url=running["http"][0], timeout=60) as client:
        for body in odd_input.requests():
            yield client.post("/subscriptions", content=body, headers={"content-type": "application/json"}).status_code
        for key in odd_input.KEYS:
            path = "".join(f"%{byte:02x}" for byte in key[:900])
            yield client.get(f"/subscriptions/{path}").status_code
            yield client.delete(f"/subscriptions/{path or '%00'}").status_code
        assert client.get("/health").status_code == 200


def assert_nothing_unforeseen(world: World) -> None:
    """No process has died, and no log tells of an error that was not foreseen."""
    running = world.stack.directory.read_status()
    assert running is not None and not [child for child in running["children"] if child["restarts"]]
    for log in world.stack.directory.logs.glob("*.log"):
        text = log.read_text(errors="replace")
        for sign in ("Traceback", "unforeseen", "not one of the errors", "the compiler failed"):
            assert sign not in text, f"{log.name} says {sign!r}: {text[max(0, text.index(sign) - 500) :][:3000]}"


def test_a_notification_that_cannot_be_read_is_made_up_for(world: World, status: Status) -> None:
    """What tidewire itself wrote is never passed over: each virtual edge registers all again, and misses nothing."""
    for number in range(2):
        world.send(world.stack.topics.notifications, (b"thing/0", b"\xff\xff\xff\xffdamaged"), partition=number)
    eventually(lambda: any("could not read" in warning for warning in status()["warnings"]), "the loss to be told")
    world.send("thing", (b'{"id":9}', b'{"id":9,"big":-9}'), partition=1)
    world.await_answer("least", -9)


def test_all_of_it_is_verified(world: World) -> None:
    world.assert_verified()


def test_a_topic_that_was_created_again_stops_the_engine_which_names_the_remedies(world: World) -> None:
    """Last, as the stack ends with it."""
    world.admin.delete_topics(["thing"])
    world.admin.create_topic("thing", 2)
    world.send("thing", (b'{"id":1}', b'{"id":1,"big":1}'))
    eventually(lambda: world.stack.directory.read_status() is None, "the stack to end")
    # `up` says why once all else has ended.
    again = "the topic `thing` was deleted and created again"
    said = eventually(lambda: (said := world.stack.said()) and again in said and said, "the reason", 60)
    assert "DROP TABLE thing" in said and "a new checkpoint" in said
    world.stack.stop()
    shutil.rmtree(world.stack.settings.checkpoint_location)
    world.stack.start()
    world.await_answer("least", 1)
    world.await_answer("late", 0.5)
