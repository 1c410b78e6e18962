"""A topic of a view as its reader reads it: repeats are dropped by shard, and nobody else's records count."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.effort import examples
from tidewire.verification.records.batches import Position
from tidewire.verification.records.journal import Record, TopicLog
from tidewire.verification.records.written import read_written

AT = {"topic": "q", "partition": 4, "offset": 5}
HEAD: dict[str, Any] = {"shard": "Low/0", "epoch": 1, "batch": 2, "n": 3, "at": AT}


def log(*heads: Any, partitions: int = 1) -> TopicLog:
    headers = [head if isinstance(head, bytes) or head is None else json.dumps(head).encode() for head in heads]
    places = [(n % partitions, n // partitions) for n in range(len(heads))]
    return TopicLog.of(
        "t", [Record(*place, 0, b"k", b"v", header) for place, header in zip(places, headers, strict=True)], partitions
    )


def test_a_record_says_who_wrote_it_where_and_why() -> None:
    [told] = read_written(log(HEAD)).kept
    assert (told.shard, told.view, told.at, told.n, told.cause) == ("Low/0", "low", Position(1, 2), 3, ("q", 4, 5))
    assert told.number == (1, 2, 3) and told.record.value == b"v"
    [told] = read_written(log({**HEAD, "at": None, "shard": "a/b/1"})).kept
    assert told.cause is None and told.view == "a/b"


@pytest.mark.parametrize(
    "head",
    [
        None, b"", b"{", b"[]", b"5", b"null", {**HEAD, "epoch": "1"}, {**HEAD, "batch": 1.5}, {**HEAD, "n": None},
        {**HEAD, "n": True},
        {**HEAD, "shard": 7}, {**HEAD, "at": {"topic": "q", "partition": 4}}, {**HEAD, "at": {**AT, "offset": "5"}},
        {**HEAD, "at": 5}, {name: value for name, value in HEAD.items() if name != "shard"}, b"\xff",
    ],
)  # fmt: skip
def test_what_has_no_such_header_is_somebody_elses(head: Any) -> None:
    made = read_written(log(HEAD, head, HEAD))
    assert (len(made.kept), len(made.repeats), made.foreign) == (1, 1, [made.foreign[0]])
    assert made.foreign[0].offset == 1


def test_a_repeat_stands_beside_the_record_of_its_number_if_there_is_one() -> None:
    later = {**HEAD, "n": 9}
    made = read_written(log(HEAD, later, HEAD, {**HEAD, "n": 4}, later))
    assert [told.n for told in made.kept] == [3, 9]
    found = [(told.record.offset, first and first.record.offset) for told, first in made.repeats]
    assert found == [(2, 0), (3, None), (4, 1)]


def test_repeats_are_those_of_a_shard_and_a_partition() -> None:
    assert len(read_written(log(HEAD, {**HEAD, "shard": "Low/1"})).kept) == 2
    assert len(read_written(log(HEAD, HEAD, partitions=2)).kept) == 2


def test_what_ascends_is_kept() -> None:
    choose = random.Random(2)
    for _ in range(examples(1_000)):
        drawn = [(choose.choice("ab"), *(choose.randrange(n) for n in (2, 2, 3))) for _ in range(8)]
        made = read_written(log(*(dict(zip(("shard", "epoch", "batch", "n"), one, strict=True)) for one in drawn)))
        before = [[one for one in drawn[:place] if one[0] == shard] for place, (shard, *_) in enumerate(drawn)]
        ascending = [place for place, one in enumerate(drawn) if all(one > other for other in before[place])]
        assert [told.record.offset for told in made.kept] == ascending
        assert len(made.kept) + len(made.repeats) == len(drawn) and not made.foreign
