"""Says that a stream is silent up to a time: no row from before it will come any more (`tidewire silence`).

An engine that has taken all that is in the stream's topic counts a silence as a row of that time which nobody sees, so
that windows which wait for rows from before can close. It is said only once a committed batch has reached what the
topic held when it was asked for: rows that are there already are never late by it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing

from catalog.schema.relation import Relation
from connectors.kafka.light import LightKafka
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from operators.control import Progress, Silence, control_at, encode_control
from state.errors import UserError
from tidewire.client.failures import NotAnswered


class NoStream(UserError):
    """What is to be silent is a table or a view."""

    code = "no_stream"

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` is no stream: expected one that CREATE STREAM declares, which alone has horizons.")


def say_silence(kafka: LightKafka, topics: Topics, relation: Relation, upto: int, timeout: float) -> dict[int, int]:
    """Say that a stream has no more rows before `upto`, in microseconds since 1970.

    Returns by partition behind which offset. Raises NoStream, KafkaFailure, and NotAnswered where no engine has reached
    the topic's end in time: then nothing was said.
    """
    if relation.stream is None:
        raise NoStream(relation.name)
    with closing(kafka.reader()) as reader:
        reader.assign(relation.topic)
        ends = {partition: end for (_, partition), end in reader.end_offsets().items()}
    epoch = _await_reached(kafka, topics, relation.topic, ends, timeout)
    said = [
        Silence(relation.name, partition, end, upto, epoch=epoch, born=relation.born)
        for partition, end in sorted(ends.items())
    ]
    kafka.send(topics.registrations, [(relation.shard.encode(), encode_control(one)) for one in said])
    return ends


def _await_reached(kafka: LightKafka, topics: Topics, topic: str, ends: Mapping[int, int], timeout: float) -> int:
    """Wait until a committed batch has reached `ends`; return its epoch."""
    until = time.monotonic() + timeout
    with closing(kafka.reader()) as reader:
        reader.assign(topics.batches)
        newest = reader.newest(lambda record: _reached(record, topic) is not None)
        records = [] if newest is None else [newest]
        while True:
            for told in map(_told, records):
                if told is not None and _passed(ends, told.end.get(topic)):
                    return told.epoch
            if time.monotonic() >= until:
                raise NotAnswered(
                    f"no engine has taken all that `{topic}` holds within {timeout:g} s, so nothing was said. "
                    "Start `tidewire engine` (or `tidewire up`), or wait longer with a timeout."
                )
            records = reader.poll()


def _told(record: KafkaRecord) -> Progress | None:
    progress = control_at(record.topic, record.partition, record.offset, record.value)
    return progress if isinstance(progress, Progress) else None


def _reached(record: KafkaRecord, topic: str) -> Mapping[str, int] | None:
    """Return where a batch ended in `topic`; None where it has not read it, or the record tells of no batch."""
    told = _told(record)
    return None if told is None else told.end.get(topic)


def _passed(ends: Mapping[int, int], reached: Mapping[str, int] | None) -> bool:
    return reached is not None and all(reached.get(str(partition), 0) >= end for partition, end in ends.items())
